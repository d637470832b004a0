// Numbers as people read and type them: window, lessons, sheets and pictures have theirs from here, so that the
// language decides about the decimal sign. What a file or a command line holds has a point everywhere.
#pragma once

#include <string>

namespace normscope::ui {

/// Writes 16000 as "16 000" (thin spaces); for counters, factors, axes.
std::string grouped(long long n);
/// Writes a number as a person does: 0.003, 1.20, 16 000, 3.1×10⁻⁷; `digits` are significant.
std::string number(double v, int digits = 3);
/// Writes always as many digits behind the decimal sign: 1.20.
std::string decimals(double v, int digits);
/// Writes at most so many digits, and no powers of ten in superscripts: 0.25, 1e-05.
std::string significant(double v, int digits);
/// Gives a formatted number a real minus, and none where the digits shown are all zero.
std::string with_minus(std::string text);
/// Reads a number as a person types it: any kind of space between digits, a comma for the point, a real minus.
bool parse_number(std::string text, double& value);
/// "10⁻⁴"
std::string power_of_ten(int exponent);

}  // namespace normscope::ui
