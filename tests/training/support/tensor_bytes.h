// A safetensors file in memory, for tests of its reader.
#pragma once

#include <cstring>
#include <string>

namespace normscope::test {

inline std::string with_header(const std::string& header, const std::string& data) {
  const uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + data;
}

}  // namespace normscope::test
