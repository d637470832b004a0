// Numbers as text for people: groups of three, powers with superscripts, decimal sign and separator of the window's
// language. numbers.h declares the functions.
#include <fmt/format.h>

#include <cmath>

#include "app/ui/numbers.h"
#include "app/words/words.h"

namespace normscope::ui {
namespace {

std::string group_digits(const std::string& digits) {
  std::string out;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i && (digits.size() - i) % 3 == 0) out += words::say("format.thousands");
    out += digits[i];
  }
  return out;
}

}  // namespace

std::string grouped(long long n) {
  return (n < 0 ? "−" : "") +
         group_digits(std::to_string(n < 0 ? 0ULL - (unsigned long long)n : (unsigned long long)n));
}

std::string power_of_ten(int exponent) {
  static const char* const superscript[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  if (exponent == 0) return "1";
  std::string out = exponent < 0 ? "10⁻" : "10";
  for (char c : std::to_string(std::abs(exponent))) out += superscript[c - '0'];
  return out;
}

std::string with_minus(std::string text) {
  if (!text.starts_with('-')) return text;
  text.erase(0, 1);
  return text.find_first_not_of("0.,") == text.npos ? text : "−" + text;
}

std::string decimals(double v, int digits) {
  constexpr double kMany = 1e6;
  return std::fabs(v) < kMany ? words::with_decimal(fmt::format("{:.{}f}", v, digits)) : number(v, 4);
}

std::string significant(double v, int digits) {
  return words::with_decimal(fmt::format("{:.{}g}", v, digits));
}

std::string number(double v, int digits) {
  if (std::isnan(v)) return words::say("format.not_a_number");
  if (std::isinf(v)) return v > 0 ? "∞" : "−∞";
  if (v == 0) return "0";
  double size = std::fabs(v);
  int exponent = int(std::floor(std::log10(size)));
  std::string sign = v < 0 ? "−" : "";
  if (exponent < -4 || exponent >= 9) {
    std::string mantissa = fmt::format("{:.{}g}", size / std::pow(10, exponent), std::max(1, digits));
    if (mantissa == "10") {
      mantissa = "1";
      ++exponent;
    }
    return sign + (mantissa == "1" ? "" : words::with_decimal(mantissa) + "×") + power_of_ten(exponent);
  }
  std::string text = fmt::format("{:.{}f}", size, std::max(0, digits - 1 - exponent));
  size_t point = text.find('.');
  if (point != std::string::npos) {
    while (text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
  }
  point = text.find('.');
  return sign + group_digits(text.substr(0, point)) +
         (point == text.npos ? "" : words::say("format.decimal") + text.substr(point + 1));
}

}  // namespace normscope::ui
