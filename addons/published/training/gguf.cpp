#include "addons/published/training/gguf.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <numbers>

#include "addons/published/training/input_kinds.h"
#include "addons/published/training/tokenizer/component.h"
#include "addons/published/training/tokenizer/unicode.h"
#include "engine/core/error.h"

namespace normscope::published {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kMagic = "GGUF", kArchitecture = "general.architecture",
                           kTokens = "tokenizer.ggml.tokens";
constexpr uint32_t kMaxRank = 4, kMaxAlignment = 1 << 16;
constexpr uint64_t kMaxItems = 4'000'000;  // of a list: as many merges as a tokenizer may have
constexpr std::string_view kLayer = "blk.", kFirstLayer = "blk.0.";
enum ValueType : uint32_t { kText = 8, kList = 9 };

/// The tensor of Llama 3's rotary scaling: a divisor of the rate for each pair of a head's numbers. Only its factor
/// differs between the published models.
constexpr const char* kRotaryFactors = "rope_freqs.weight";
constexpr int kTrained = 8192, kLow = 1, kHigh = 4;

void add_llama3(Json& config, const WeightTensor& tensor, const Message& where) {
  std::vector<float> room;
  const std::span<const float> given = tensor.numbers(0, tensor.size(), room);
  const Json stated = config.value("rope.freq_base", Json(10000));
  const double base = stated.is_number() ? stated.get<double>() : 0,
               factor = given.empty() ? 0 : given.back();
  for (size_t i = 0; i < given.size(); ++i) {
    const double rate = std::pow(base, -static_cast<double>(i) / static_cast<double>(given.size()));
    const double kept =
        std::clamp((kTrained * rate / (2 * std::numbers::pi) - kLow) / (kHigh - kLow), 0.0, 1.0);
    if (const double expected = 1 / (kept + (1 - kept) / factor);
        !(std::abs(given[i] - expected) < 1e-4 * expected))
      fail(where, "tensor {}: number {} is {}: expected {}, as Llama 3 has it", kRotaryFactors, i, given[i],
           expected);
  }
  config["rope.scaling.type"] = "llama3";
  config["rope.scaling.factor"] = factor;
  config["rope.scaling.original_context_length"] = kTrained;
  config["rope.scaling.low_freq_factor"] = kLow;
  config["rope.scaling.high_freq_factor"] = kHigh;
}

}  // namespace

std::span<const uint8_t> Cursor::bytes(uint64_t count) {
  if (at > all.size() || count > all.size() - at)
    fail(where, "is truncated or damaged: {} bytes, and {} are expected from byte {} on", all.size(), count,
         at);
  at += count;
  return all.subspan(at - count, count);
}

std::string_view Cursor::text(uint64_t count) {
  const auto found = bytes(count);
  return {reinterpret_cast<const char*>(found.data()), found.size()};
}

/// Reads from the file's first byte on.
struct GgufFile::Reader : Cursor {
  uint64_t listed = 0;  ///< items of all lists so far

  std::string text() { return tokenizer::well_formed(Cursor::text(number<uint64_t>())); }
  /// The number of following items, each of at least `least` bytes.
  uint64_t count(uint64_t least, uint64_t most = std::numeric_limits<uint64_t>::max()) {
    const auto value = number<uint64_t>();
    if (value > (all.size() - at) / least || value > most)
      fail(where, "is truncated or damaged: {} items from byte {} on, in a file of {} bytes", value, at,
           all.size());
    return value;
  }

  Json value(uint32_t type, const std::string& key) {
    switch (type) {
      case 0:
        return number<uint8_t>();
      case 1:
        return number<int8_t>();
      case 2:
        return number<uint16_t>();
      case 3:
        return number<int16_t>();
      case 4:
        return number<uint32_t>();
      case 5:
        return number<int32_t>();
      case 6:
        return number<float>();
      case 7:
        return number<uint8_t>() != 0;
      case kText:
        return text();
      case 10:
        return number<uint64_t>();
      case 11:
        return number<int64_t>();
      case 12:
        return number<double>();
      case kList:
        return list(key);
      default:
        fail(where, "key {}: type {} of a value: expected 0 to 12", shown_text(key), type);
    }
  }
  Json list(const std::string& key) {
    const auto type = number<uint32_t>();
    if (type == kList) fail(where, "key {}: a list of lists: expected a list", shown_text(key));
    const uint64_t items = count(1, kMaxItems - listed);
    listed += items;
    Json values = Json::array();
    for (uint64_t i = 0; i < items; ++i) values.push_back(value(type, key));
    return values;
  }

  Json metadata(uint64_t keys) {
    Json values = Json::object();
    for (uint64_t i = 0; i < keys; ++i) {
      std::string key = text();
      if (values.contains(key)) fail(where, "key {}: named twice", shown_text(key));
      Json read = value(number<uint32_t>(), key);
      values[std::move(key)] = std::move(read);
    }
    return values;
  }

  /// The entry of a tensor; the address of its data is not yet known.
  struct TensorEntry {
    std::string name;
    WeightTensor tensor;
    uint64_t offset, size;
  };
  TensorEntry tensor() {
    TensorEntry read{.name = text(), .tensor = {}, .offset = 0, .size = 1};
    const auto refuse = [&](const Message& what) {
      fail(where, "tensor {}: {}", shown_text(read.name), what);
    };
    const auto rank = number<uint32_t>();
    if (rank < 1 || rank > kMaxRank) refuse({"{} dimensions: expected 1 to {}", rank, kMaxRank});
    for (uint32_t i = 0; i < rank; ++i) {
      const auto length = number<uint64_t>();
      if (length < 1 || length > (uint64_t{1} << 40) / read.size)
        refuse({"dimension {} is {}: expected fewer numbers", i, length});
      read.size *= length;
      read.tensor.shape.insert(read.tensor.shape.begin(), static_cast<int64_t>(length));
    }
    const auto type = number<uint32_t>();
    read.tensor.type = gguf_type(type);
    if (!read.tensor.type) refuse({"{}: expected {}", gguf_type_name(type), gguf_types()});
    if (const auto row = static_cast<size_t>(read.tensor.shape.back()); row % read.tensor.type->numbers != 0)
      refuse({"rows of {} numbers: expected a multiple of the {} in a block of {}", row,
              read.tensor.type->numbers, read.tensor.type->name});
    read.offset = number<uint64_t>();
    return read;
  }

  void read(GgufFile& file) {
    if (all.size() < kMagic.size() || Cursor::text(kMagic.size()) != kMagic)
      fail(where, "is no GGUF file: expected one that begins with {}", kMagic);
    if (const auto version = number<uint32_t>(); version != 2 && version != 3)
      fail(where, "version {}: expected 2 or 3, with the lowest byte of a number first", version);
    const uint64_t tensors = count(1), keys = count(1);
    auto metadata = std::make_shared<const Json>(this->metadata(keys));
    const auto whole = [&](const char* key, uint64_t otherwise) {
      const auto found = metadata->find(key);
      if (found == metadata->end()) return otherwise;
      if (!found->is_number_unsigned()) fail(where, "key {}: expected a whole number", key);
      return found->get<uint64_t>();
    };
    if (const uint64_t parts = whole("split.count", 1); parts > 1)
      fail(where, "is one of {} parts: expected one file, which llama-gguf-split --merge writes", parts);
    const uint64_t alignment = whole("general.alignment", 32);
    if (!std::has_single_bit(alignment) || alignment > kMaxAlignment)
      fail(where, "general.alignment is {}: expected a power of 2, at most {}", alignment, kMaxAlignment);
    std::vector<TensorEntry> found;
    for (uint64_t i = 0; i < tensors; ++i) found.push_back(tensor());
    const uint64_t begin = (at + alignment - 1) / alignment * alignment;
    for (TensorEntry& named : found) {
      const uint64_t size = named.size / named.tensor.type->numbers * named.tensor.type->bytes;
      if (begin > all.size() || named.offset > all.size() - begin || size > all.size() - begin - named.offset)
        fail(where,
             "tensor {}: {} bytes from byte {} of the data on, beyond the file's end (is it truncated?)",
             shown_text(named.name), size, named.offset);
      named.tensor.file = file.path_;
      named.tensor.bytes = all.subspan(begin + named.offset, size);
      if (!file.tensors_.emplace(named.name, std::move(named.tensor)).second)
        fail(where, "tensor {}: named twice", shown_text(named.name));
    }
    file.metadata_ = std::move(metadata);
  }
};

bool is_gguf_file(const std::string& path) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return false;
  InputFile file(path, input::kGguf);
  std::string head(kMagic.size(), '\0');
  head.resize(file.read_some(head.data(), head.size()));
  return head == kMagic;
}

GgufFile GgufFile::parse(std::span<const uint8_t> bytes, const std::string& name) {
  GgufFile file;
  file.path_ = name;
  Reader{{bytes, file.where()}}.read(file);
  return file;
}

GgufFile GgufFile::map(const std::string& path) {
  const auto pages = InputFile(path, input::kGguf).map();
  GgufFile file = parse(*pages, path);
  file.pages_ = pages;
  return file;
}

InputValue GgufFile::config() const {
  Json config = Json::object();
  const Json name = metadata_->value(kArchitecture, Json());
  const std::string prefix = name.is_string() ? name.get<std::string>() + "." : "";
  // JSON would write null for a number that is not finite, which means that the file does not say it. As a text it is
  // refused where it is read, and what nobody reads may be infinite.
  for (const auto& [key, value] : metadata_->items())
    if (!prefix.empty() && key.starts_with(prefix)) {
      const bool finite = !value.is_number_float() || std::isfinite(value.get<double>());
      config[key.substr(prefix.size())] = finite ? value : Json(fmt::format("{}", value.get<double>()));
    }
  config[kArchitecture] = name;
  config["has"] = Json::object();
  for (const auto& [tensor, unused] : tensors_)
    if (!tensor.starts_with(kLayer) || tensor.starts_with(kFirstLayer)) config["has"][tensor] = "there";
  if (const auto table = tensors_.find("token_embd.weight"); table != tensors_.end())
    config["vocab_size"] = table->second.shape[0];
  if (const auto factors = tensors_.find(kRotaryFactors); factors != tensors_.end())
    add_llama3(config, factors->second, where());
  return InputValue::parse(config.dump(), where());
}

bool GgufFile::has_tokens() const { return metadata_->contains(kTokens); }

std::string GgufFile::tokenizer() const {
  if (!has_tokens())
    fail({"tokenizer {}", path_}, "the file has no tokens ({}): expected the text as numbers, by --ids",
         kTokens);
  Json words = Json::object();
  for (const auto& [key, value] : metadata_->items())
    if (key.starts_with("tokenizer.ggml.")) words[key] = value;
  return tokenizer::from_gguf(InputValue::parse(words.dump(), {"tokenizer {}", path_}));
}

}  // namespace normscope::published
