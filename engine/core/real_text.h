// Reads a floating-point number from text as std::from_chars does, also where the standard library has from_chars for
// integers only (libc++ before version 20, which the build for browsers uses).
#pragma once

#include <charconv>

namespace normscope {

/// Reads as std::from_chars(begin, end, value): the same in every locale; no leading blanks, no plus sign, no
/// hexadecimal digits. A number out of range leaves `value` as it was.
std::from_chars_result read_real(const char* begin, const char* end, float& value);
std::from_chars_result read_real(const char* begin, const char* end, double& value);

/// Does the same through strtod. read_real() calls it where std::from_chars reads no reals, and tests compare both.
std::from_chars_result read_real_by_c(const char* begin, const char* end, float& value);
std::from_chars_result read_real_by_c(const char* begin, const char* end, double& value);

}  // namespace normscope
