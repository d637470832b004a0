#include "addons/published/training/weights.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "addons/published/training/gguf.h"
#include "addons/published/training/input_kinds.h"
#include "addons/published/training/torch_file.h"
#include "engine/core/error.h"
#include "training/io/input_value.h"

namespace normscope::published {
namespace {
namespace fs = std::filesystem;

constexpr const char* kOneFile = "model.safetensors";
constexpr const char* kIndex = "model.safetensors.index.json";
constexpr const char* kTorchFile = "pytorch_model.bin";
constexpr const char* kTorchIndex = "pytorch_model.bin.index.json";
constexpr size_t kMostTensors = 100'000, kLongestName = 500;

bool there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

}  // namespace

std::map<std::string, std::string> shards_of(std::string_view json, const Message& where) {
  const InputValue index = InputValue::parse(json, where);
  std::map<std::string, std::string> files;
  for (const auto& [name, value] : index.at("weight_map").members(kMostTensors)) {
    const std::string file = value.text(kLongestName);
    // A shard lies beside its index: nothing else of the machine is read because a file says so.
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
  std::map<std::string, size_t> shard_of;
  for (const auto& [name, file] : index) {
    const auto [at, is_new] = shard_of.emplace(file, weights.shards_.size());
    if (is_new) weights.shards_.push_back(SafetensorsFile::map((root / file).string()));
    if (!weights.shards_[at->second].contains(name))
      fail({"published {}", (root / kIndex).string()},
           "tensor {} is said to be in {}, which has none of that name", shown_text(name), file);
    weights.add(weights.shards_[at->second], name);
  }
  for (const SafetensorsFile& shard : weights.shards_)
    for (const std::string& name : shard.names())
      if (!weights.contains(name))
        fail({"published {}", (root / kIndex).string()}, "it does not name tensor {} of {}", shown_text(name),
             shard.path());
  return weights;
}

Weights Weights::of_torch(const std::filesystem::path& root) {
  std::set<std::string> files;
  if (there(root / kTorchFile)) {
    files.insert(kTorchFile);
  } else if (there(root / kTorchIndex)) {
    const std::string index = (root / kTorchIndex).string();
    for (const auto& [name, file] :
         shards_of(read_input_file(index, input::kPublishedIndex), {"published {}", index}))
      files.insert(file);
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
    weights.tensors_.merge(tensors_of_torch(*pages->back(), path));
  }
  weights.pages_ = pages;
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

}  // namespace normscope::published
