// The tensors of a published model: of a folder with one file, or the shards that an index names, in safetensors or
// else pytorch_model.bin, or of a GGUF file. They are mapped, not read: a tensor takes no memory of ours until it is
// converted.
//
// Promises: every shard is there, its header is sound, and the index agrees with it, or an error of one line says what
// is wrong. A checkpoint in another format is not opened, and a pickle is read without running it (torch_file.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/error.h"
#include "engine/io/safetensors.h"

namespace normscope::published {

// A tensor of a published model's files: single numbers, as in safetensors, or blocks of numbers of few bits that
// share a scale, as in GGUF. Numbers become floats part by part: a whole tensor never takes memory of its own.

struct NumberType {
  std::string_view name;
  size_t numbers, bytes;                                        ///< of a block
  void (*read)(const uint8_t* from, size_t blocks, float* to);  ///< null: not floats
};

const NumberType& number_type(TensorType type);
/// The type with this number in GGUF; null: it is not read here.
const NumberType* gguf_type(uint32_t number);
Message gguf_types();                     ///< "F32, F16, …"
Message gguf_type_name(uint32_t number);  ///< "Q8_1", of a type that is not read too; else "type 99"

struct WeightTensor {
  std::string file;
  const NumberType* type = nullptr;
  TensorShape shape;
  std::span<const uint8_t> bytes;
  std::shared_ptr<const std::vector<uint8_t>>
      own{};  ///< has `bytes`, where the file has them in another order

  size_t size() const { return bytes.size() / type->bytes * type->numbers; }
  /// `count` numbers from number `first` on, as floats in `room`.
  std::span<const float> numbers(size_t first, size_t count, std::vector<float>& room) const;
};

/// Reads an index of shards: tensor -> file next to the index. `where` begins its errors.
std::map<std::string, std::string> shards_of(std::string_view json, const Message& where);

class Weights {
 public:
  /// Maps the files of a folder, a GGUF file, or a checkpoint of PyTorch. Throws Error.
  static Weights open(const std::string& place);
  bool contains(std::string_view name) const { return tensors_.find(name) != tensors_.end(); }
  const WeightTensor& tensor(std::string_view name) const;  ///< throws Error if there is none
  std::vector<std::string> names() const;                   ///< sorted
  int64_t bytes() const;                                    ///< of all tensors
  /// Whether two tensors are of the same type, shape and numbers.
  bool same(std::string_view one, std::string_view other) const;
  /// Takes the name of the module around the model, "model." or "_orig_mod.", from the names.
  void unwrap(std::string_view module);

 private:
  static Weights of_torch(const std::filesystem::path& root);
  void add(const SafetensorsFile& shard, const std::string& name);
  void add_torch(const std::vector<std::string>& paths);

  std::map<std::string, WeightTensor, std::less<>> tensors_;
  std::vector<SafetensorsFile> shards_;
  std::shared_ptr<const void> pages_;  ///< the mapped pages of a GGUF file or of PyTorch's files
};

}  // namespace normscope::published
