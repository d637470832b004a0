// The lesson code ends a teacher's lesson. It is kept as SHA-256 (FIPS 180-4) of salt and code. It keeps honest
// students honest and is no security: anyone who can edit the session's file needs no code. teacher.cpp asks for it.
#pragma once

#include <string>
#include <string_view>

namespace normscope::shell::classroom {

inline constexpr size_t kLongestCode = 100;

struct CodeHash {
  std::string salt, hash;  // hexadecimal, 32 and 64 digits; both empty: no code was set
  friend bool operator==(const CodeHash&, const CodeHash&) = default;
};

// In 64 hexadecimal digits.
std::string sha256(std::string_view text);
// Makes a new salt each time.
CodeHash hash_of(std::string_view code);
bool is_code(const CodeHash&, std::string_view code);

}  // namespace normscope::shell::classroom
