// Reading safetensors: the bytes are checked once, in load(). See safetensors.h.
#include "engine/io/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <system_error>
#include <type_traits>
#include <utility>

#include "engine/core/error.h"

namespace normscope {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors data is little-endian");

using Json = nlohmann::json;

constexpr uint64_t kMaxHeader = 100'000'000;  // the limit of the format's own library
constexpr int kMaxDepth = 4;                  // header, tensor, shape, number
constexpr const char* kMetadata = "__metadata__";

constexpr struct {
  TensorType type;
  std::string_view name;
  size_t bytes;
} kTypes[] = {{TensorType::F32, "F32", 4},
              {TensorType::F64, "F64", 8},
              {TensorType::I32, "I32", 4},
              {TensorType::I64, "I64", 8},
              {TensorType::U8, "U8", 1}};

// A name from a file, safe to print in one line.
std::string escaped(std::string_view name) {
  const std::string_view shown = name.substr(0, 120);
  return Json(shown).dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::string where(const std::string& path) { return "safetensors " + path; }

std::optional<TensorType> type_named(std::string_view name) {
  for (const auto& entry : kTypes) {
    if (entry.name == name) return entry.type;
  }
  return std::nullopt;
}

struct Parts {
  std::string header;
  std::vector<uint8_t> data;
};

uintmax_t regular_file_size(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) fail(where(path), "no such file: check the path");
  if (!fs::is_regular_file(status)) fail(where(path), "is not a regular file: expected a safetensors file");
  const uintmax_t size = fs::file_size(path, error);
  if (error) fail(where(path), "cannot be read: {}", error.message());
  return size;
}

Parts read_parts(const std::string& path) {
  const uintmax_t size = regular_file_size(path);
  std::ifstream file(path, std::ios::binary);
  const auto read = [&](void* to, uint64_t count) {
    if (!file.read(static_cast<char*>(to), static_cast<std::streamsize>(count)))
      fail(where(path), "cannot be read");
  };
  if (!file) fail(where(path), "cannot be opened: check its permissions");
  if (size < 8)
    fail(where(path), "is truncated or not a safetensors file: {} bytes, expected at least 8", size);
  uint64_t length = 0;
  read(&length, 8);
  if (length > size - 8 || length > kMaxHeader) {
    fail(where(path), "is truncated or not a safetensors file: a header of {} bytes, {} bytes follow", length,
         size - 8);
  }
  try {
    Parts parts{std::string(length, '\0'), std::vector<uint8_t>(size - 8 - length)};
    read(parts.header.data(), length);
    read(parts.data.data(), parts.data.size());
    return parts;
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  fail(where(path), "does not fit into memory: {} bytes", size);
}

// Parses the header; JSON itself allows doubled keys and any nesting, this format neither.
Json parse_header(const std::string& path, const std::string& header) {
  std::set<std::string> names;
  const auto check = [&](int depth, Json::parse_event_t event, Json& value) {
    if (depth > kMaxDepth) fail(where(path), "the header is nested too deeply");
    if (event == Json::parse_event_t::key && depth == 1) {
      const std::string& name = value.get_ref<const std::string&>();
      if (!names.insert(name).second) fail(where(path), "tensor {}: named twice", escaped(name));
    }
    return true;
  };
  Json json = Json::parse(header, check, false);
  if (json.is_discarded() || !json.is_object()) {
    fail(where(path), "is damaged or not a safetensors file: the header is not a JSON object");
  }
  return json;
}

}  // namespace

std::string_view name_of(TensorType type) { return kTypes[static_cast<size_t>(type)].name; }
size_t bytes_of(TensorType type) { return kTypes[static_cast<size_t>(type)].bytes; }
std::string shape_text(const TensorShape& shape) { return fmt::format("({})", fmt::join(shape, ",")); }

// Turns one entry of the header into a Tensor, or throws.
struct SafetensorsFile::HeaderReader {
  const std::string& path;
  const std::string& name;
  const Json& entry;
  size_t data_size;

  template <typename... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    fail(where(path), "tensor {}: {}", escaped(name), fmt::format(format, std::forward<Args>(args)...));
  }

  const Json& field(const char* key) const {
    const auto found = entry.find(key);
    if (found == entry.end()) refuse("{} is missing", key);
    return *found;
  }

  TensorType type() const {
    const Json& value = field("dtype");
    if (!value.is_string()) refuse("dtype is not a string");
    const std::string& text = value.get_ref<const std::string&>();
    const auto type = type_named(text);
    if (!type) refuse("dtype {}: expected F32, F64, I32, I64 or U8", escaped(text));
    return *type;
  }

  std::vector<uint64_t> numbers(const char* key) const {
    const Json& list = field(key);
    if (!list.is_array()) refuse("{} is not a list", key);
    std::vector<uint64_t> values;
    for (const Json& value : list) {
      if (!value.is_number_unsigned()) refuse("{} holds something else than whole numbers from 0", key);
      values.push_back(value.get<uint64_t>());
    }
    return values;
  }

  // Bytes of the tensor; dimensions are bounded by the data, so nothing overflows.
  uint64_t bytes(const TensorShape& shape, TensorType type) const {
    uint64_t bytes = bytes_of(type);
    if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
    for (int64_t dimension : shape) {
      const auto size = static_cast<uint64_t>(dimension);
      if (size > data_size / bytes)
        refuse("shape {} needs more than the {} bytes of data", shape_text(shape), data_size);
      bytes *= size;
    }
    return bytes;
  }

  Tensor read() const {
    if (!entry.is_object()) refuse("its entry is not an object");
    Tensor tensor;
    tensor.name = name;
    tensor.type = type();
    for (uint64_t dimension : numbers("shape")) {
      if (dimension > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
        refuse("a dimension is too large");
      tensor.shape.push_back(static_cast<int64_t>(dimension));
    }
    const std::vector<uint64_t> offsets = numbers("data_offsets");
    if (offsets.size() != 2) refuse("data_offsets holds {} numbers, expected 2", offsets.size());
    if (offsets[0] > offsets[1] || offsets[1] > data_size) {
      refuse("data_offsets [{},{}] lie outside the {} bytes of data (is the file truncated?)", offsets[0],
             offsets[1], data_size);
    }
    tensor.begin = offsets[0];
    tensor.end = offsets[1];
    const uint64_t needed = bytes(tensor.shape, tensor.type);
    if (tensor.end - tensor.begin != needed) {
      refuse("shape {} of {} needs {} bytes, its data_offsets give {}", shape_text(tensor.shape),
             name_of(tensor.type), needed, tensor.end - tensor.begin);
    }
    return tensor;
  }
};

SafetensorsFile SafetensorsFile::load(const std::string& path) {
  Parts parts = read_parts(path);
  const Json header = parse_header(path, parts.header);
  SafetensorsFile file;
  file.path_ = path;
  for (const auto& [name, entry] : header.items()) {
    if (name != kMetadata) {
      file.tensors_.push_back(HeaderReader{path, name, entry, parts.data.size()}.read());
      continue;
    }
    if (!entry.is_object()) fail(where(path), "the metadata is not an object");
    for (const auto& [key, value] : entry.items()) {
      if (!value.is_string()) fail(where(path), "the metadata's {} is not a string", escaped(key));
      file.metadata_[key] = value.get<std::string>();
    }
  }
  std::stable_sort(file.tensors_.begin(), file.tensors_.end(), [](const Tensor& a, const Tensor& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  size_t end = 0;
  for (const Tensor& tensor : file.tensors_) {
    if (tensor.begin != end) {
      fail(where(path), "tensor {}: its data begins at {}, the data before it ends at {}: {}",
           escaped(tensor.name), tensor.begin, end, tensor.begin < end ? "they overlap" : "there is a gap");
    }
    end = tensor.end;
    file.index_.emplace(tensor.name, file.index_.size());
  }
  if (end != parts.data.size()) {
    fail(where(path), "{} bytes of data belong to no tensor: {} in the file, {} in its header",
         parts.data.size() - end, parts.data.size(), end);
  }
  file.data_ = std::move(parts.data);
  return file;
}

const std::string& SafetensorsFile::metadata(const std::string& key) const {
  const auto found = metadata_.find(key);
  if (found == metadata_.end()) fail(where(path_), "the metadata has no {}", escaped(key));
  return found->second;
}

std::vector<std::string> SafetensorsFile::names() const {
  std::vector<std::string> names;
  for (const Tensor& tensor : tensors_) names.push_back(tensor.name);
  return names;
}

bool SafetensorsFile::contains(std::string_view name) const { return index_.find(name) != index_.end(); }

const SafetensorsFile::Tensor& SafetensorsFile::find(std::string_view name) const {
  const auto found = index_.find(name);
  if (found == index_.end()) fail(where(path_), "tensor {}: not in the file", escaped(name));
  return tensors_[found->second];
}

const TensorShape& SafetensorsFile::shape(std::string_view name) const { return find(name).shape; }
TensorType SafetensorsFile::type(std::string_view name) const { return find(name).type; }

std::span<const uint8_t> SafetensorsFile::bytes(std::string_view name) const {
  const Tensor& tensor = find(name);
  return std::span(data_).subspan(tensor.begin, tensor.end - tensor.begin);
}

void SafetensorsFile::require_shape(std::string_view name, const TensorShape& expected) const {
  const Tensor& tensor = find(name);
  if (tensor.shape != expected) {
    fail(where(path_), "tensor {}: shape {} in the file, expected {}", escaped(name),
         shape_text(tensor.shape), shape_text(expected));
  }
}

namespace {

template <typename T>
constexpr TensorType type_of() {
  if constexpr (std::is_same_v<T, float>) return TensorType::F32;
  if constexpr (std::is_same_v<T, double>) return TensorType::F64;
  if constexpr (std::is_same_v<T, int32_t>) return TensorType::I32;
  if constexpr (std::is_same_v<T, int64_t>) return TensorType::I64;
  return TensorType::U8;
}

// Appends the elements of `bytes`; false at the first one that To cannot hold. (A double that is no float
// rounds.)
template <typename From, typename To>
bool append_as(std::span<const uint8_t> bytes, std::vector<To>& to) {
  to.reserve(bytes.size() / sizeof(From));
  for (size_t at = 0; at < bytes.size(); at += sizeof(From)) {
    From value;
    std::memcpy(&value, bytes.data() + at, sizeof value);  // the data need not be aligned
    if constexpr (std::is_integral_v<From>) {
      if (!std::in_range<To>(value)) return false;
    }
    to.push_back(static_cast<To>(value));
  }
  return true;
}

}  // namespace

template <typename To, typename... From>
std::vector<To> SafetensorsFile::convert(std::string_view name, std::string_view expected) const {
  const TensorType stored = type(name);
  std::vector<To> values;
  bool fits = true;
  const bool known =
      ((stored == type_of<From>() && ((fits = append_as<From>(bytes(name), values)), true)) || ...);
  if (!known) {
    fail(where(path_), "tensor {}: dtype {}, expected {}", escaped(name), name_of(stored), expected);
  }
  if (!fits)
    fail(where(path_), "tensor {}: element {} does not fit into 32 bits", escaped(name), values.size());
  return values;
}

std::vector<double> SafetensorsFile::doubles(std::string_view name) const {
  return convert<double, float, double>(name, "F32 or F64");
}
std::vector<float> SafetensorsFile::floats(std::string_view name) const {
  return convert<float, float, double>(name, "F32 or F64");
}
std::vector<int32_t> SafetensorsFile::int32s(std::string_view name) const {
  return convert<int32_t, int32_t, int64_t, uint8_t>(name, "I32, I64 or U8");
}
std::vector<int64_t> SafetensorsFile::int64s(std::string_view name) const {
  return convert<int64_t, int32_t, int64_t, uint8_t>(name, "I32, I64 or U8");
}

}  // namespace normscope
