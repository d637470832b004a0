#include "engine/core/utf8.h"

namespace normscope {
namespace {

bool is_continuation(unsigned char byte) { return (byte & 0xc0) == 0x80; }

}  // namespace

// Reads two to four bytes; table 3-7 of the Unicode standard has the ranges of the second byte.
CodePoint read_longer_code_point(std::string_view text, size_t offset) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[offset + i]); };
  const size_t left = text.size() - offset;
  const unsigned char lead = byte(0);
  const int32_t bytes = lead >= 0xc2 && lead <= 0xdf   ? 2
                        : lead >= 0xe0 && lead <= 0xef ? 3
                        : lead >= 0xf0 && lead <= 0xf4 ? 4
                                                       : 0;
  if (bytes == 0 || left < static_cast<size_t>(bytes)) return {};
  const unsigned char second = byte(1);
  const bool overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
  const bool surrogate = lead == 0xed && second > 0x9f;
  const bool too_high = lead == 0xf4 && second > 0x8f;
  if (overlong || surrogate || too_high) return {};
  char32_t value = lead & (0xff >> (bytes + 1));
  for (int32_t i = 1; i < bytes; ++i) {
    if (!is_continuation(byte(static_cast<size_t>(i)))) return {};
    value = (value << 6) | (byte(static_cast<size_t>(i)) & 0x3f);
  }
  return {value, bytes};
}

void append_utf8(char32_t c, std::string& out) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | ((c >> shift) & 0x3f)); };
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xc0 | (c >> 6));
    tail(0);
  } else if (c < 0x10000) {
    out += static_cast<char>(0xe0 | (c >> 12));
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xf0 | (c >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

}  // namespace normscope
