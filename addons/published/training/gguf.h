// GGUF, the file in which llama.cpp and its kin keep a model: metadata with the content of a config.json and a
// tokenizer.json, then tensors.
//
//   "GGUF", version 2 or 3, number of tensors, number of keys
//   KEY, type, value     for each key; a list has the type of its items and their number before them
//   NAME, dimensions from the last on, type, offset     for each tensor
//   from the next multiple of general.alignment: the data
//
// Promises: a file that is truncated, foreign or inconsistent is refused in one line; nothing that it can contain makes
// the reader crash, read outside of it, or take memory out of proportion to it.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "addons/published/training/weights.h"
#include "training/io/input_value.h"

namespace normscope::published {

using WeightTensors = std::map<std::string, WeightTensor, std::less<>>;

/// Reads little-endian numbers and ranges of bytes; throws Error for a read beyond the end.
struct Cursor {
  std::span<const uint8_t> all;
  const Message& where;  ///< begins the errors
  uint64_t at = 0;

  std::span<const uint8_t> bytes(uint64_t count);
  std::string_view text(uint64_t count);
  template <typename T>
  T number() {
    static_assert(std::endian::native == std::endian::little);
    T value;
    std::memcpy(&value, bytes(sizeof value).data(), sizeof value);
    return value;
  }
};

/// Whether this is a regular file that begins as GGUF does.
bool is_gguf_file(const std::string& path);

class GgufFile {
 public:
  /// Maps the file: the system loads its pages on access. Throws Error.
  static GgufFile map(const std::string& path);
  /// Reads the same from memory, which must last; `name` stands for the path.
  static GgufFile parse(std::span<const uint8_t> bytes, const std::string& name);

  /// The counterpart of a config.json: "general.architecture", and the keys of that architecture without its name, so
  /// "block_count"; "vocab_size" is always there. "has" names the tensors of the first layer and around the layers, each as
  /// "there", since some settings are told by these alone. A tensor of rotary factors becomes the settings of Llama 3.
  InputValue config() const;
  bool has_tokens() const;
  /// The tokenizer as a tokenizer.json; empty where the file has no tokens. Throws Error.
  std::string tokenizer() const;
  const WeightTensors& tensors() const { return tensors_; }
  const std::shared_ptr<const void>& pages() const { return pages_; }

 private:
  struct Reader;
  Message where() const { return {"gguf {}", path_}; }

  std::string path_;
  std::shared_ptr<const nlohmann::json> metadata_;
  WeightTensors tensors_;
  std::shared_ptr<const void> pages_;
};

}  // namespace normscope::published
