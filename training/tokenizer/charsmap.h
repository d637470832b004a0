// `Charsmap` is SentencePiece's table of replacements (precompiled_charsmap): a double-array trie over the bytes of what
// is replaced, and the texts that replace it. A file's table is checked where it is read; a walk over it stays inside.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "training/io/input_value.h"

namespace normscope::tokenizer {

class Charsmap {
 public:
  /// Throws Error where `value` is no table in base64.
  explicit Charsmap(const InputValue& value);
  /// `replaced` looks up each grapheme of at most five bytes as a whole, everything else character by character.
  std::string replaced(std::string_view text) const;

 private:
  /// `find` has what replaces the shortest beginning of `part` that the table knows.
  std::optional<std::string_view> find(std::string_view part) const;

  std::vector<uint32_t> units_;
  std::string texts_;  // each ends with a zero byte
};

}  // namespace normscope::tokenizer
