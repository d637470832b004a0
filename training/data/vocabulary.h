// `Vocabulary` is the distinct Unicode code points of a UTF-8 text, in code point order, numbered from 0.
//
// Promises: strict UTF-8 (no overlong forms, no surrogates, nothing above U+10FFFF, nothing cut off), errors that
// name the byte offset, two linear passes over the text (50 MB in well under a second). Called by TextSource.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace normscope {

/// A code point read from UTF-8; bytes == 0 where the text is not valid there (or has ended).
struct CodePoint {
  char32_t value = 0;
  int32_t bytes = 0;
};
CodePoint read_code_point(std::string_view text, size_t offset);
void append_utf8(char32_t code_point, std::string& out);

class Vocabulary {
 public:
  static constexpr int32_t kMaxSymbols = 4096;  // more than this and the embedding outweighs the model

  /// Throws Error on invalid UTF-8 (with the byte offset) and on more than kMaxSymbols distinct code
  /// points.
  static Vocabulary from_text(std::string_view text);

  int32_t size() const { return static_cast<int32_t>(symbols_.size()); }
  const std::vector<char32_t>& symbols() const { return symbols_; }

  /// Throws Error on invalid UTF-8 and on a code point outside the vocabulary, with its byte offset.
  std::vector<uint16_t> encode(std::string_view text) const;
  /// Returns text in UTF-8; a number outside the vocabulary becomes U+FFFD.
  std::string decode(std::span<const int32_t> tokens) const;

 private:
  std::vector<char32_t> symbols_;   // token -> code point, ascending
  std::vector<uint16_t> token_of_;  // code point -> token, kAbsent where none
};

}  // namespace normscope
