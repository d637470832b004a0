#include "addons/published/training/weights.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "addons/published/training/gguf.h"
#include "addons/published/training/input_kinds.h"
#include "addons/published/training/torch_file.h"
#include "training/io/input_value.h"
#include "training/io/text.h"

namespace normscope::published {
namespace {
namespace fs = std::filesystem;

constexpr const char* kOneFile = "model.safetensors";
constexpr const char* kIndex = "model.safetensors.index.json";
constexpr const char* kTorchFile = "pytorch_model.bin";
constexpr const char* kTorchIndex = "pytorch_model.bin.index.json";
constexpr size_t kMaxTensors = 100'000, kLongestName = 500;

bool there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

std::set<std::string> files_of(const std::map<std::string, std::string>& index) {
  std::set<std::string> files;
  for (const auto& [name, file] : index) files.insert(file);
  return files;
}

/// Requires every tensor to be in the index, and in the file that the index names.
void require_index(const WeightTensors& tensors, const std::map<std::string, std::string>& index,
                   const std::string& path) {
  for (const auto& [name, file] : index)
    if (const auto at = tensors.find(name);
        at == tensors.end() || at->second.file != (fs::path(path).parent_path() / file).string())
      fail({"published {}", path}, "tensor {} is said to be in {}, which has none of that name",
           shown_text(name), file);
  for (const auto& [name, tensor] : tensors)
    if (!index.contains(name))
      fail({"published {}", path}, "it does not name tensor {} of {}", shown_text(name), tensor.file);
}

// The blocks have the layout of ggml, the library of llama.cpp.

template <typename From>
From at(const uint8_t* from) {
  From value;
  std::memcpy(&value, from, sizeof value);  // the data need not be aligned
  return value;
}
float half(const uint8_t* from) { return at<F16>(from).to_float(); }

template <typename From>
void plain(const uint8_t* from, float* to) {
  if constexpr (requires(From value) { value.to_float(); })
    *to = at<From>(from).to_float();
  else
    *to = static_cast<float>(at<From>(from));
}

/// 32 numbers: a scale, maybe a minimum, with five bits the fifth bits, then numbers i and i + 16 in a byte.
template <int bits, bool minimum>
void short_block(const uint8_t* from, float* to) {
  const float scale = half(from), least = minimum ? half(from + 2) : 0;
  const uint8_t* packed = from + (minimum ? 4 : 2);
  uint32_t last = 0;
  if constexpr (bits == 5) {
    last = at<uint32_t>(packed);
    packed += sizeof last;
  }
  const auto number = [&](uint32_t low, int i) {
    const auto value = static_cast<int>(low | (last >> i & 1) << 4);
    return minimum ? scale * static_cast<float>(value) + least
                   : scale * static_cast<float>(value - (1 << (bits - 1)));
  };
  for (int i = 0; i < 16; ++i) {
    to[i] = number(packed[i] & 15u, i);
    to[i + 16] = number(packed[i] >> 4u, i + 16);
  }
}

void q8_0(const uint8_t* from, float* to) {
  const float scale = half(from);
  for (int i = 0; i < 32; ++i) to[i] = scale * static_cast<float>(static_cast<int8_t>(from[2 + i]));
}

/// Scale or minimum j of eight, packed in twelve bytes: six bits each, split in two for the last four.
float six_bits(const uint8_t* packed, int j, bool minimum) {
  const int own = minimum ? j + 4 : j;
  if (j < 4) return static_cast<float>(packed[own] & 63);
  return static_cast<float>((packed[j + 4] >> (minimum ? 4 : 0) & 15) | (packed[minimum ? j : j - 4] >> 6)
                                                                            << 4);
}

/// 256 numbers, a scale and a minimum for each 32: two common factors, the scales and minima, with five bits the fifth
/// bits, then numbers i and i + 32 in a byte.
template <int bits>
void long_block(const uint8_t* from, float* to) {
  const float scales = half(from), minima = half(from + 2);
  const uint8_t *packed = from + 4, *last = packed + 12, *low = bits == 5 ? last + 32 : last;
  for (int j = 0; j < 8; ++j) {
    const float scale = scales * six_bits(packed, j, false), least = minima * six_bits(packed, j, true);
    for (int i = 0; i < 32; ++i) {
      int value = low[j / 2 * 32 + i] >> (j % 2 * 4) & 15;
      if constexpr (bits == 5) value |= (last[i] >> j & 1) << 4;
      to[j * 32 + i] = scale * static_cast<float>(value) - least;
    }
  }
}

/// 256 numbers, a scale for each 16: the low four bits of all, the high two bits, the scales, a common factor.
void q6_k(const uint8_t* from, float* to) {
  const float factor = half(from + 208);
  for (int i = 0; i < 256; ++i) {
    const int whole = i / 128, part = i / 32 % 4, in_part = i % 32;
    const int low = from[whole * 64 + part % 2 * 32 + in_part] >> (part / 2 * 4) & 15;
    const int high = from[128 + whole * 32 + in_part] >> (part * 2) & 3;
    const float scale = factor * static_cast<float>(static_cast<int8_t>(from[192 + i / 16]));
    to[i] = scale * static_cast<float>((low | high << 4) - 32);
  }
}

template <auto read, size_t numbers, size_t bytes>
void each(const uint8_t* from, size_t blocks, float* to) {
  for (size_t i = 0; i < blocks; ++i) read(from + i * bytes, to + i * numbers);
}
template <auto read, size_t numbers, size_t bytes>
constexpr NumberType type(std::string_view name) {
  return {name, numbers, bytes, each<read, numbers, bytes>};
}

constexpr NumberType kF32 = type<plain<float>, 1, 4>("F32"), kF64 = type<plain<double>, 1, 8>("F64"),
                     kF16 = type<plain<F16>, 1, 2>("F16"), kBF16 = type<plain<BF16>, 1, 2>("BF16");

constexpr struct {
  uint32_t number;
  NumberType type;
} kInGguf[] = {{0, kF32},
               {1, kF16},
               {2, type<short_block<4, false>, 32, 18>("Q4_0")},
               {3, type<short_block<4, true>, 32, 20>("Q4_1")},
               {6, type<short_block<5, false>, 32, 22>("Q5_0")},
               {7, type<short_block<5, true>, 32, 24>("Q5_1")},
               {8, type<q8_0, 32, 34>("Q8_0")},
               {12, type<long_block<4>, 256, 144>("Q4_K")},
               {13, type<long_block<5>, 256, 176>("Q5_K")},
               {14, type<q6_k, 256, 210>("Q6_K")},
               {30, kBF16}};

}  // namespace

std::map<std::string, std::string> shards_of(std::string_view json, const Message& where) {
  const InputValue index = InputValue::parse(json, where);
  std::map<std::string, std::string> files;
  for (const auto& [name, value] : index.at("weight_map").members(kMaxTensors)) {
    const std::string file = value.text(kLongestName);
    // A shard is next to its index: a file must not make us read other files of the machine.
    if (file.empty() || fs::path(file).filename() != fs::path(file) || file == "." || file == "..")
      value.refuse("the name of a file in the same folder");
    files[name] = file;
  }
  if (files.empty()) index.at("weight_map").refuse("an object with the file of each tensor");
  return files;
}

void Weights::add(const SafetensorsFile& shard, const std::string& name) {
  tensors_[name] = {shard.path(), &number_type(shard.type(name)), shard.shape(name), shard.bytes(name)};
}

Weights Weights::open(const std::string& place) {
  Weights weights;
  const fs::path root(place);
  if (is_gguf_file(place)) {
    const GgufFile file = GgufFile::map(place);
    weights.tensors_ = file.tensors();
    weights.pages_ = file.pages();
    return weights;
  }
  if (there(root / kOneFile)) {
    weights.shards_.push_back(SafetensorsFile::map((root / kOneFile).string()));
    for (const std::string& name : weights.shards_[0].names()) weights.add(weights.shards_[0], name);
    return weights;
  }
  if (!there(root / kIndex)) return of_torch(root);
  const std::string index_path = (root / kIndex).string();
  const std::map<std::string, std::string> index =
      shards_of(read_input_file(index_path, input::kPublishedIndex), {"published {}", index_path});
  for (const std::string& file : files_of(index)) {
    const SafetensorsFile& shard = weights.shards_.emplace_back(SafetensorsFile::map((root / file).string()));
    for (const std::string& name : shard.names())
      if (const auto at = index.find(name); at == index.end() || at->second == file) weights.add(shard, name);
  }
  require_index(weights.tensors_, index, index_path);
  for (const SafetensorsFile& shard : weights.shards_)
    for (const std::string& name : shard.names())
      if (const WeightTensor& taken = weights.tensors_.at(name);
          taken.file != shard.path() && !std::ranges::equal(taken.bytes, shard.bytes(name)))
        fail({"published {}", shard.path()}, "tensor {} has other numbers than in {}, where the index has it",
             shown_text(name), index.at(name));
  return weights;
}

Weights Weights::of_torch(const std::filesystem::path& root) {
  std::set<std::string> files;
  std::map<std::string, std::string> index;
  const std::string index_path = (root / kTorchIndex).string();
  if (there(root / kTorchFile)) {
    files.insert(kTorchFile);
  } else if (there(index_path)) {
    index = shards_of(read_input_file(index_path, input::kPublishedIndex), {"published {}", index_path});
    files = files_of(index);
  } else {
    fail({"published {}", root.string()},
         "there is none of {}, {} and {}: expected the folder of a published model", kOneFile, kIndex,
         kTorchFile);
  }
  Weights weights;
  auto pages = std::make_shared<std::vector<std::shared_ptr<const std::span<const uint8_t>>>>();
  for (const std::string& file : files) {
    const std::string path = (root / file).string();
    pages->push_back(InputFile(path, input::kTorch).map());
    for (auto& [name, tensor] : tensors_of_torch(*pages->back(), path))
      if (!weights.tensors_.emplace(name, tensor).second)
        fail({"published {}", path}, "tensor {} is in another file too", shown_text(name));
  }
  weights.pages_ = pages;
  if (!index.empty()) require_index(weights.tensors_, index, index_path);
  return weights;
}

const WeightTensor& Weights::tensor(std::string_view name) const {
  const auto at = tensors_.find(name);
  if (at == tensors_.end()) fail("published", "there is no tensor {}", shown_text(name));
  return at->second;
}

std::vector<std::string> Weights::names() const {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tensors_) names.push_back(name);
  return names;
}

int64_t Weights::bytes() const {
  int64_t bytes = 0;
  for (const auto& [name, tensor] : tensors_) bytes += static_cast<int64_t>(tensor.bytes.size());
  return bytes;
}

bool Weights::same(std::string_view one, std::string_view other) const {
  const WeightTensor &a = tensor(one), &b = tensor(other);
  return a.type->name == b.type->name && a.shape == b.shape && std::ranges::equal(a.bytes, b.bytes);
}

const NumberType& number_type(TensorType type) {
  static const std::vector<NumberType> all = [] {
    std::vector<NumberType> types;
    for (auto i = TensorType::F32; i <= TensorType::F8_E5M2;
         i = static_cast<TensorType>(static_cast<int>(i) + 1)) {
      types.push_back({name_of(i), 1, bytes_of(i), nullptr});
      for (const NumberType& floats : {kF32, kF64, kF16, kBF16})
        if (floats.name == name_of(i)) types.back() = floats;
    }
    return types;
  }();
  return all[static_cast<size_t>(type)];
}

const NumberType* gguf_type(uint32_t number) {
  for (const auto& row : kInGguf)
    if (row.number == number) return &row.type;
  return nullptr;
}

Message gguf_types() {
  std::vector<std::string_view> names;
  for (const auto& row : kInGguf) names.push_back(row.type.name);
  return one_of(names);
}

std::span<const float> WeightTensor::numbers(size_t first, size_t count, std::vector<float>& room) const {
  const size_t block = type->numbers, begin = first / block, end = (first + count + block - 1) / block;
  room.resize((end - begin) * block);
  type->read(bytes.data() + begin * type->bytes, end - begin, room.data());
  return std::span(room).subspan(first - begin * block, count);
}

}  // namespace normscope::published
