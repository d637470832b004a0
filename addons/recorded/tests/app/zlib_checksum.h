// The checksum that Weights & Biases puts before each part of a record, for tests and fuzzing that make or reseal one.
#pragma once

#include <cstdint>
#include <string_view>

namespace normscope::records {

/// CRC-32 as zlib has it.
inline uint32_t zlib_checksum(std::string_view bytes) {
  uint32_t sum = ~0u;
  for (const char c : bytes) {
    sum ^= static_cast<uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ (sum & 1 ? 0xedb88320u : 0);
  }
  return ~sum;
}

}  // namespace normscope::records
