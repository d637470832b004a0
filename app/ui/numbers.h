// Numbers as text for people. Window, lessons, sheets and pictures format their numbers here, with the decimal sign of
// the window's language. Data files and the command line have a point in every language.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace normscope::ui {

/// Writes 16000 as "16 000" (thin spaces); for counters, factors, axes.
std::string grouped(long long n);
/// Rounds to `digits` significant digits, but never a whole part below 10⁹: 0.003, 1.2, 16 000, 3.1×10⁻⁷.
std::string number(double v, int digits = 3);
/// Writes exactly `digits` digits after the decimal sign: 1.20; from a million on four digits and a power: 3.2×10³⁸.
std::string decimals(double v, int digits);
/// Writes at most `digits` significant digits, with an exponent as in C: 0.25, 1e-05.
std::string significant(double v, int digits);
/// Replaces the hyphen of a formatted number by a minus sign, or drops it where all digits are zero.
std::string with_minus(std::string text);
/// A number as a person types it: with comma or point, digits in groups of three, a real minus.
struct Typed {
  enum class Kind : uint8_t { Number, Nonsense, Fraction, TwoMeanings };
  Kind kind = Kind::Nonsense;
  double value = 0;  ///< of a fraction where a whole number is asked for, too; of two meanings the greater
};
/// Reads it. Comma and point both set off decimals, and both group digits where nothing else can be meant: "1,000" is
/// 1000 in a field for whole numbers. In any other field it has two meanings, unless the sign is the decimal sign of the
/// window's language.
Typed typed_number(std::string_view text, bool whole);
/// "10⁻⁴"
std::string power_of_ten(int exponent);

}  // namespace normscope::ui
