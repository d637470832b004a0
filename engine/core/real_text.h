// A floating-point number read from text: std::from_chars, also where the standard library has it for whole numbers
// only (libc++ before version 20, which the build for browsers uses).
#pragma once

#include <charconv>

namespace normscope {

/// As std::from_chars(begin, end, value) reads it: the same in every locale; neither blanks, nor a plus, nor
/// hexadecimal digits. A value that cannot be held is left as it was.
std::from_chars_result read_real(const char* begin, const char* end, float& value);
std::from_chars_result read_real(const char* begin, const char* end, double& value);

/// The same without std::from_chars: what read_real is where that lacks, and what tests hold beside it.
std::from_chars_result read_real_by_c(const char* begin, const char* end, float& value);
std::from_chars_result read_real_by_c(const char* begin, const char* end, double& value);

}  // namespace normscope
