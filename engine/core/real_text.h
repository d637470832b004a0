// Reads a floating-point number from text as std::from_chars does, also where the standard library has
// that for whole numbers only (libc++ before version 20, which the build for browsers uses).
#pragma once

#include <charconv>

namespace normscope {

/// Reads as std::from_chars(begin, end, value): the same in every locale; no blanks, plus or hexadecimal
/// digits. A number that does not fit leaves `value` as it was.
std::from_chars_result read_real(const char* begin, const char* end, float& value);
std::from_chars_result read_real(const char* begin, const char* end, double& value);

/// Does the same without std::from_chars: read_real uses it where that is missing, and tests compare both.
std::from_chars_result read_real_by_c(const char* begin, const char* end, float& value);
std::from_chars_result read_real_by_c(const char* begin, const char* end, double& value);

}  // namespace normscope
