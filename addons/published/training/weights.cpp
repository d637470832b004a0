#include "addons/published/training/weights.h"

#include <algorithm>
#include <set>

#include "addons/published/training/gguf.h"
#include "addons/published/training/input_kinds.h"
#include "addons/published/training/model_folder.h"
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

/// The files of weights with names that are neither the one nor the index: model.fp16.safetensors, shards without an index,
/// consolidated.safetensors. Saved runs of ours are none.
std::vector<fs::path> safetensors_in(const fs::path& root) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(root, error)) {
    const std::string name = entry.path().filename().string();
    const bool named = name.starts_with("model") || name.starts_with("consolidated");
    if (named && name.ends_with(".safetensors") && !is_saved_run(entry.path())) files.push_back(entry.path());
  }
  std::ranges::sort(files);
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
  if (is_torch_file(place)) {
    weights.add_torch({place});
    return weights;
  }
  if (there(root / kOneFile)) {
    weights.shards_.push_back(SafetensorsFile::map((root / kOneFile).string()));
    for (const std::string& name : weights.shards_[0].names()) weights.add(weights.shards_[0], name);
    return weights;
  }
  if (!there(root / kIndex)) {
    for (const fs::path& file : safetensors_in(root)) {
      const SafetensorsFile& part = weights.shards_.emplace_back(SafetensorsFile::map(file.string()));
      for (const std::string& name : part.names()) {
        if (weights.tensors_.contains(name))
          fail({"published {}", file.string()}, "tensor {} is in another file too", shown_text(name));
        weights.add(part, name);
      }
    }
    return weights.shards_.empty() ? of_torch(root) : std::move(weights);
  }
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
  std::vector<std::string> paths;
  for (const std::string& file : files) paths.push_back((root / file).string());
  weights.add_torch(paths);
  if (!index.empty()) require_index(weights.tensors_, index, index_path);
  return weights;
}

void Weights::add_torch(const std::vector<std::string>& paths) {
  auto pages = std::make_shared<std::vector<std::shared_ptr<const std::span<const uint8_t>>>>();
  for (const std::string& path : paths) {
    pages->push_back(InputFile(path, input::kTorch).map());
    for (auto& [name, tensor] : tensors_of_torch(*pages->back(), path))
      if (!tensors_.emplace(name, tensor).second)
        fail({"published {}", path}, "tensor {} is in another file too", shown_text(name));
  }
  pages_ = pages;
}

void Weights::unwrap(std::string_view module) {
  std::map<std::string, WeightTensor, std::less<>> renamed;
  for (auto& [name, tensor] : tensors_)
    renamed.emplace(name.starts_with(module) ? name.substr(module.size()) : name, std::move(tensor));
  tensors_ = std::move(renamed);
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

std::span<const float> WeightTensor::numbers(size_t first, size_t count, std::vector<float>& room) const {
  const size_t block = type->numbers, begin = first / block, end = (first + count + block - 1) / block;
  room.resize((end - begin) * block);
  type->read(bytes.data() + begin * type->bytes, end - begin, room.data());
  return std::span(room).subspan(first - begin * block, count);
}

}  // namespace normscope::published
