// Reads and writes UTF-8, strictly: no overlong forms, no surrogates, nothing above U+10FFFF, nothing cut off.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace normscope {

/// A code point read from UTF-8; bytes == 0 where the text is not valid there (or has ended).
struct CodePoint {
  char32_t value = 0;
  int32_t bytes = 0;
};
CodePoint read_longer_code_point(std::string_view text, size_t offset);  ///< of two to four bytes
inline CodePoint read_code_point(std::string_view text, size_t offset) {
  if (offset >= text.size()) return {};
  const auto lead = static_cast<unsigned char>(text[offset]);
  return lead < 0x80 ? CodePoint{lead, 1} : read_longer_code_point(text, offset);
}
void append_utf8(char32_t code_point, std::string& out);

}  // namespace normscope
