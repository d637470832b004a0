// The tensors of a published folder: one file, or the shards that an index names. They are mapped, not
// read: nothing of them takes memory of our own until it is converted.
//
// Promises: every shard is there, its header is sound, and the index agrees with it, or there is one line that says what
// is wrong. A checkpoint in another format (pickled Python objects above all, which run code when read) is not opened.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/message.h"
#include "training/io/safetensors.h"

namespace normscope::published {

/// Reads an index of shards: which file beside it has which tensor. `where` begins its errors.
std::map<std::string, std::string> shards_of(std::string_view json, const Message& where);

class Weights {
 public:
  /// Maps the files of a folder. Throws Error.
  static Weights open(const std::string& folder);
  bool contains(std::string_view name) const { return place_.find(name) != place_.end(); }
  /// The shard that holds a tensor. Throws Error if none does.
  const SafetensorsFile& file(std::string_view name) const;
  std::vector<std::string> names() const;  ///< sorted
  int64_t bytes() const;                   ///< of all tensors
  /// Whether two tensors are of the same type, shape and numbers.
  bool same(std::string_view one, std::string_view other) const;

 private:
  std::vector<SafetensorsFile> shards_;
  std::map<std::string, size_t, std::less<>> place_;  ///< which shard has a tensor
};

}  // namespace normscope::published
