// The words of an IDX file: its magic number and its sizes, which tests put together.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

namespace normscope::test {

/// Four bytes of each number, the largest first.
inline std::string idx_words(std::initializer_list<uint32_t> values) {
  std::string bytes;
  for (uint32_t v : values)
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(v >> shift & 255);
  return bytes;
}

}  // namespace normscope::test
