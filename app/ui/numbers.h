// Numbers as text for people. Window, lessons, sheets and pictures format their numbers here, with the decimal sign of
// the window's language. Data files and the command line have a point in every language.
#pragma once

#include <string>

namespace normscope::ui {

/// Writes 16000 as "16 000" (thin spaces); for counters, factors, axes.
std::string grouped(long long n);
/// Rounds to `digits` significant digits, but never a whole part below 10⁹: 0.003, 1.2, 16 000, 3.1×10⁻⁷.
std::string number(double v, int digits = 3);
/// Writes exactly `digits` digits after the decimal sign: 1.20.
std::string decimals(double v, int digits);
/// Writes at most `digits` significant digits, with an exponent as in C: 0.25, 1e-05.
std::string significant(double v, int digits);
/// Replaces the hyphen of a formatted number by a minus sign, or drops it where all digits are zero.
std::string with_minus(std::string text);
/// Reads a number as a person types it: any kind of space between digits, a comma for the point, a real minus.
bool parse_number(std::string text, double& value);
/// "10⁻⁴"
std::string power_of_ten(int exponent);

}  // namespace normscope::ui
