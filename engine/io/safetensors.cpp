#include "engine/io/safetensors.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "engine/core/error.h"
#include "engine/core/machine.h"
#include "engine/core/text.h"
#include "engine/io/file_signature.h"
#include "engine/io/input_file.h"
#include "engine/io/json_string.h"
#include "engine/io/output_file.h"
#include "engine/io/safetensors_header.h"

namespace normscope {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors data is little-endian");

constexpr uint64_t kMaxHeader = 100'000'000;  // the limit of the format's own library
constexpr const char* kRealNames = "F32, F64, F16 or BF16";
constexpr const char* kMetadata = "__metadata__";

constexpr struct {
  TensorType type;
  std::string_view name;
  size_t bytes;
} kTypes[] = {
    {TensorType::F32, "F32", 4},   {TensorType::F64, "F64", 8},         {TensorType::I32, "I32", 4},
    {TensorType::I64, "I64", 8},   {TensorType::U8, "U8", 1},           {TensorType::F16, "F16", 2},
    {TensorType::BF16, "BF16", 2}, {TensorType::BOOL, "BOOL", 1},       {TensorType::I8, "I8", 1},
    {TensorType::I16, "I16", 2},   {TensorType::U16, "U16", 2},         {TensorType::U32, "U32", 4},
    {TensorType::U64, "U64", 8},   {TensorType::F8_E4M3, "F8_E4M3", 1}, {TensorType::F8_E5M2, "F8_E5M2", 1}};

Message where(const std::string& path) { return {"safetensors {}", path}; }

std::optional<TensorType> type_named(std::string_view name) {
  for (const auto& entry : kTypes) {
    if (entry.name == name) return entry.type;
  }
  return std::nullopt;
}

// The length of the header, from the file's first eight bytes.
uint64_t header_length(const std::string& path, uint64_t size, const auto& read) {
  if (size < 8)
    fail(where(path), "is truncated or not a safetensors file: {} bytes, expected at least 8", size);
  uint64_t length = 0;
  read(&length, 8);
  if (length > size - 8 || length > kMaxHeader) {
    const char* head = reinterpret_cast<const char*>(&length);
    if (const Message other = signature_words({head, sizeof length}); !other.empty())
      fail(where(path), other);
    fail(where(path), "is truncated or not a safetensors file: a header of {} bytes, {} bytes follow", length,
         size - 8);
  }
  return length;
}

template <typename T>
constexpr TensorType type_of() {
  if constexpr (std::is_same_v<T, float>) return TensorType::F32;
  if constexpr (std::is_same_v<T, double>) return TensorType::F64;
  if constexpr (std::is_same_v<T, int32_t>) return TensorType::I32;
  if constexpr (std::is_same_v<T, int64_t>) return TensorType::I64;
  if constexpr (std::is_same_v<T, F16>) return TensorType::F16;
  if constexpr (std::is_same_v<T, BF16>) return TensorType::BF16;
  return TensorType::U8;
}

// Appends the elements of `bytes`; false at the first one that To cannot hold. (A double that is not a float rounds.)
template <typename From, typename To>
bool append_as(std::span<const uint8_t> bytes, std::vector<To>& to) {
  to.reserve(bytes.size() / sizeof(From));
  for (size_t at = 0; at < bytes.size(); at += sizeof(From)) {
    From value;
    std::memcpy(&value, bytes.data() + at, sizeof value);  // the data need not be aligned
    if constexpr (std::is_integral_v<From>) {
      if (!std::in_range<To>(value)) return false;
    }
    if constexpr (std::is_same_v<From, F16> || std::is_same_v<From, BF16>)
      to.push_back(value.to_float());
    else
      to.push_back(static_cast<To>(value));
  }
  return true;
}

}  // namespace

std::string_view name_of(TensorType type) { return kTypes[static_cast<size_t>(type)].name; }
size_t bytes_of(TensorType type) { return kTypes[static_cast<size_t>(type)].bytes; }
std::string shape_text(const TensorShape& shape) { return fmt::format("({})", fmt::join(shape, ",")); }

// Turns one entry of the header into a Tensor, or throws.
struct SafetensorsFile::HeaderReader {
  const std::string& path;
  const std::string& name;
  const HeaderValue& entry;
  size_t data_size;

  [[noreturn]] void refuse(const Message& what) const {
    fail(where(path), "tensor {}: {}", shown_text(name), what);
  }

  const HeaderValue& field(const char* key) const {
    const auto found = entry.members.find(key);
    if (found == entry.members.end()) refuse({"{} is missing", key});
    return found->second;
  }

  TensorType type() const {
    const HeaderValue& value = field("dtype");
    if (value.kind != HeaderValue::Kind::Text) refuse("dtype is not a string");
    const auto type = type_named(value.text);
    if (!type) {
      std::vector<std::string_view> known;
      for (const auto& row : kTypes) known.push_back(row.name);
      refuse({"dtype {}: expected {}", shown_text(value.text), one_of(known)});
    }
    return *type;
  }

  const std::vector<uint64_t>& numbers(const char* key) const {
    const HeaderValue& list = field(key);
    if (list.kind != HeaderValue::Kind::List) refuse({"{} is not a list", key});
    if (list.size > kMaxRank) refuse({"{} has {} numbers: expected at most {}", key, list.size, kMaxRank});
    if (list.wholes.size() < list.size) refuse({"{} holds something else than whole numbers from 0", key});
    return list.wholes;
  }

  // The size of the tensor; the data bound the dimensions, so nothing overflows.
  uint64_t bytes(const TensorShape& shape, TensorType type) const {
    uint64_t bytes = bytes_of(type);
    if (std::ranges::find(shape, 0) != shape.end()) return 0;
    for (int64_t dimension : shape) {
      const auto size = static_cast<uint64_t>(dimension);
      if (size > data_size / bytes)
        refuse({"shape {} needs more than the {} bytes of data", shape_text(shape), data_size});
      bytes *= size;
    }
    return bytes;
  }

  Tensor read() const {
    if (entry.kind != HeaderValue::Kind::Object) refuse("its entry is not an object");
    Tensor tensor;
    tensor.name = name;
    tensor.type = type();
    for (uint64_t dimension : numbers("shape")) {
      if (dimension > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
        refuse("a dimension is too large");
      tensor.shape.push_back(static_cast<int64_t>(dimension));
    }
    const std::vector<uint64_t>& offsets = numbers("data_offsets");
    if (offsets.size() != 2) refuse({"data_offsets holds {} numbers, expected 2", offsets.size()});
    if (offsets[0] > offsets[1] || offsets[1] > data_size) {
      refuse({"data_offsets [{},{}] lie outside the {} bytes of data (is the file truncated?)", offsets[0],
              offsets[1], data_size});
    }
    tensor.begin = offsets[0];
    tensor.end = offsets[1];
    const uint64_t needed = bytes(tensor.shape, tensor.type);
    if (tensor.end - tensor.begin != needed) {
      refuse({"shape {} of {} needs {} bytes, its data_offsets give {}", shape_text(tensor.shape),
              name_of(tensor.type), needed, tensor.end - tensor.begin});
    }
    return tensor;
  }
};

// Reads as far as the header reaches.
SafetensorsFile SafetensorsFile::open(InputFile& in, const std::string& path) {
  SafetensorsFile file;
  file.path_ = path;
  const uint64_t length = header_length(path, in.size(), [&](void* to, size_t n) { in.read(to, n); });
  std::string header(length, '\0');
  in.read(header.data(), length);
  file.read_header(header, in.size() - 8 - length);
  return file;
}

SafetensorsFile SafetensorsFile::load_header(const std::string& path) {
  InputFile in(path, input::kSafetensors);
  return open(in, path);
}

SafetensorsFile SafetensorsFile::load(const std::string& path) {
  InputFile in(path, input::kSafetensors);
  SafetensorsFile file = open(in, path);
  const uint64_t data = file.data_size_, machine = machine_memory();
  if (machine > 0 && data > machine)
    fail(where(path), "does not fit into memory: {} bytes of data, this machine has {}", data, machine);
  auto held = std::make_shared<std::vector<uint8_t>>();
  try {
    held->resize(data);
  } catch (const std::exception&) {  // no memory, or a length that no vector has
    fail(where(path), "does not fit into memory: {} bytes", data);
  }
  in.read(held->data(), data);
  file.data_ = *held;
  file.held_ = std::move(held);
  return file;
}

SafetensorsFile SafetensorsFile::map(const std::string& path) {
  InputFile in(path, input::kSafetensors);
  SafetensorsFile file = open(in, path);
  const auto pages = in.map();
  file.data_ = pages->subspan(in.size() - file.data_size_);
  file.held_ = pages;
  return file;
}

SafetensorsFile SafetensorsFile::parse(std::span<const uint8_t> bytes, const std::string& name) {
  SafetensorsFile file;
  file.path_ = name;
  const uint64_t length =
      header_length(name, bytes.size(), [&](void* to, size_t n) { std::memcpy(to, bytes.data(), n); });
  const std::span<const uint8_t> data = bytes.subspan(8 + length);
  file.read_header(std::string(reinterpret_cast<const char*>(bytes.data()) + 8, length), data.size());
  auto held = std::make_shared<const std::vector<uint8_t>>(data.begin(), data.end());
  file.data_ = *held;
  file.held_ = std::move(held);
  return file;
}

void SafetensorsFile::read_header(const std::string& text, size_t data_size) {
  data_size_ = data_size;
  const HeaderValue header = read_safetensors_header(path_, text);
  for (const auto& [name, entry] : header.members) {
    if (name != kMetadata) {
      tensors_.push_back(HeaderReader{path_, name, entry, data_size}.read());
      continue;
    }
    if (entry.kind == HeaderValue::Kind::Null) continue;  // as the format's own library reads it
    if (entry.kind != HeaderValue::Kind::Object) fail(where(path_), "the metadata is not an object");
    for (const auto& [key, value] : entry.members) {
      if (value.kind != HeaderValue::Kind::Text)
        fail(where(path_), "the metadata's {} is not a string", shown_text(key));
      metadata_[key] = value.text;
    }
  }
  if (const auto format = metadata_.find("format"); format != metadata_.end() && format->second == kOurRun) {
    // Runs that were saved earlier call "L03.attn.stream" "L03.attn.trunk".
    constexpr std::string_view kBefore = ".trunk", kNow = ".stream";
    for (Tensor& tensor : tensors_) replace_each(tensor.name, kBefore, kNow);
    if (const auto stats = metadata_.find("stats"); stats != metadata_.end())
      replace_each(stats->second, kBefore, kNow);
  }
  std::ranges::stable_sort(tensors_, [](const Tensor& a, const Tensor& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  size_t end = 0;
  for (const Tensor& tensor : tensors_) {
    if (tensor.begin != end) {
      fail(where(path_), "tensor {}: its data begins at {}, the data before it ends at {}: {}",
           shown_text(tensor.name), tensor.begin, end,
           tensor.begin < end ? "they overlap" : "there is a gap");
    }
    end = tensor.end;
    index_.emplace(tensor.name, index_.size());
  }
  if (end != data_size) {
    fail(where(path_), "{} bytes of data belong to no tensor: {} in the file, {} in its header",
         data_size - end, data_size, end);
  }
}

const std::string& SafetensorsFile::metadata(const std::string& key) const {
  const auto found = metadata_.find(key);
  if (found == metadata_.end()) fail(where(path_), "the metadata has no {}", shown_text(key));
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
  if (found == index_.end()) fail(where(path_), "tensor {}: not in the file", shown_text(name));
  return tensors_[found->second];
}

const TensorShape& SafetensorsFile::shape(std::string_view name) const { return find(name).shape; }
TensorType SafetensorsFile::type(std::string_view name) const { return find(name).type; }

std::span<const uint8_t> SafetensorsFile::bytes(std::string_view name) const {
  const Tensor& tensor = find(name);
  if (data_.size() < data_size_) fail(where(path_), "tensor {}: only the header was read", shown_text(name));
  return data_.subspan(tensor.begin, tensor.end - tensor.begin);
}

void SafetensorsFile::require_shape(std::string_view name, const TensorShape& expected) const {
  const Tensor& tensor = find(name);
  if (tensor.shape != expected) {
    fail(where(path_), "tensor {}: shape {} in the file, expected {}", shown_text(name),
         shape_text(tensor.shape), shape_text(expected));
  }
}

void SafetensorsFile::require_floats(std::string_view name) const {
  constexpr TensorType kReals[] = {TensorType::F32, TensorType::F64, TensorType::F16, TensorType::BF16};
  if (std::ranges::find(kReals, type(name)) == std::end(kReals))
    fail(where(path_), "tensor {}: dtype {}, expected {}", shown_text(name), name_of(type(name)), kRealNames);
}

template <typename To, typename... From>
std::vector<To> SafetensorsFile::convert(std::string_view name, std::string_view expected) const {
  const TensorType stored = type(name);
  std::vector<To> values;
  bool fits = true;
  const auto read = [&](auto element) {
    using Element = decltype(element);
    if (stored != type_of<Element>()) return false;
    fits = append_as<Element>(bytes(name), values);
    return true;
  };
  if (!(read(From{}) || ...)) {
    fail({"safetensors {}", path_}, "tensor {}: dtype {}, expected {}", shown_text(name), name_of(stored),
         expected);
  }
  if (!fits)
    fail({"safetensors {}", path_}, "tensor {}: element {} does not fit into 32 bits", shown_text(name),
         values.size());
  return values;
}

std::vector<double> SafetensorsFile::doubles(std::string_view name) const {
  return convert<double, float, double, F16, BF16>(name, kRealNames);
}
std::vector<float> SafetensorsFile::floats(std::string_view name) const {
  return convert<float, float, double, F16, BF16>(name, kRealNames);
}
std::vector<int32_t> SafetensorsFile::int32s(std::string_view name) const {
  return convert<int32_t, int32_t, int64_t, uint8_t>(name, "I32, I64 or U8");
}
std::vector<int64_t> SafetensorsFile::int64s(std::string_view name) const {
  return convert<int64_t, int32_t, int64_t, uint8_t>(name, "I32, I64 or U8");
}

void SafetensorsWriter::add_bytes(const std::string& name, const TensorShape& shape, TensorType type,
                                  const void* data, size_t count) {
  size_t elements = 1;
  for (int64_t dimension : shape) {
    if (dimension < 0)
      fail("safetensors", "tensor {}: shape {} has a negative dimension", name, shape_text(shape));
    elements *= static_cast<size_t>(dimension);
  }
  if (elements != count) {
    fail("safetensors", "tensor {}: shape {} does not match {} elements", name, shape_text(shape), count);
  }
  if (name == kMetadata) fail("safetensors", "tensor {}: the name is reserved", name);
  const bool taken = std::ranges::any_of(tensors_, [&](const Tensor& t) { return t.name == name; });
  if (taken) fail("safetensors", "tensor {}: added twice", name);
  tensors_.push_back({name, type, shape, data, count * bytes_of(type)});
}

void SafetensorsWriter::add(const std::string& name, const TensorShape& shape, std::span<const float> data) {
  add_bytes(name, shape, TensorType::F32, data.data(), data.size());
}
void SafetensorsWriter::add(const std::string& name, const TensorShape& shape, std::span<const double> data) {
  add_bytes(name, shape, TensorType::F64, data.data(), data.size());
}
void SafetensorsWriter::add(const std::string& name, const TensorShape& shape,
                            std::span<const int32_t> data) {
  add_bytes(name, shape, TensorType::I32, data.data(), data.size());
}
void SafetensorsWriter::add(const std::string& name, const TensorShape& shape,
                            std::span<const int64_t> data) {
  add_bytes(name, shape, TensorType::I64, data.data(), data.size());
}
void SafetensorsWriter::add(const std::string& name, const TensorShape& shape,
                            std::span<const uint8_t> data) {
  add_bytes(name, shape, TensorType::U8, data.data(), data.size());
}

// Puts wide elements first, so that every tensor is aligned for readers that map the file.
std::vector<const SafetensorsWriter::Tensor*> SafetensorsWriter::in_file_order() const {
  std::vector<const Tensor*> order;
  for (const Tensor& tensor : tensors_) order.push_back(&tensor);
  std::ranges::stable_sort(
      order, [](const Tensor* a, const Tensor* b) { return bytes_of(a->type) > bytes_of(b->type); });
  return order;
}

std::string SafetensorsWriter::header(const std::vector<const Tensor*>& order) const {
  std::string text = "{";
  const auto quote = [&](std::string_view what) {
    if (!append_json_string(text, what)) fail("safetensors", "a name or the metadata is not valid UTF-8");
  };
  const auto member = [&](std::string_view name) {
    if (text.back() != '{') text += ',';
    quote(name);
    text += ':';
  };
  if (!metadata_.empty()) {
    member(kMetadata);
    text += '{';
    for (const auto& [key, value] : metadata_) {
      member(key);
      quote(value);
    }
    text += '}';
  }
  size_t begin = 0;
  for (const Tensor* tensor : order) {
    member(tensor->name);
    text += fmt::format(R"({{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", name_of(tensor->type),
                        fmt::join(tensor->shape, ","), begin, begin + tensor->bytes);
    begin += tensor->bytes;
  }
  text += '}';
  text.append((8 - text.size() % 8) % 8, ' ');  // the data begins at a multiple of 8
  return text;
}

void SafetensorsWriter::write(const std::string& path) const {
  const std::vector<const Tensor*> order = in_file_order();
  const std::string text = header(order);
  const uint64_t length = text.size();
  AtomicFile file(path, "safetensors", Access::Own);
  file.write(&length, sizeof length);
  file.write(text.data(), text.size());
  for (const Tensor* tensor : order) file.write(tensor->data, tensor->bytes);
  file.commit();
}

}  // namespace normscope
