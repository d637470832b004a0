#include "engine/core/real_text.h"

#include <locale.h>
#include <stdlib.h>

#include <cctype>
#include <cmath>
#include <string>
#include <type_traits>

namespace normscope {
namespace {

bool is_word(const char* at, const char* end, const char* word) {
  for (; *word != 0; ++word, ++at)
    if (at == end || std::tolower(static_cast<unsigned char>(*at)) != *word) return false;
  return true;
}

// Finds the end of the longest text that std::from_chars would read: digits with a point and an exponent, inf or nan.
// strtod alone would also take blanks, a plus sign and hexadecimal digits.
const char* end_of_real(const char* at, const char* end) {
  const auto digits = [&](const char* from) {
    while (from != end && *from >= '0' && *from <= '9') ++from;
    return from;
  };
  const char* const begin = at;
  if (at != end && *at == '-') ++at;
  for (const char* word : {"infinity", "inf", "nan"})
    if (is_word(at, end, word)) return at + std::char_traits<char>::length(word);
  const char* const whole = digits(at);
  const char* stop = whole != end && *whole == '.' ? digits(whole + 1) : whole;
  if (whole == at && stop <= whole + 1) return begin;  // no digit
  if (stop == end || (*stop != 'e' && *stop != 'E')) return stop;
  const char* exponent = stop + 1;
  if (exponent != end && (*exponent == '+' || *exponent == '-')) ++exponent;
  return exponent != end && digits(exponent) != exponent ? digits(exponent) : stop;
}

template <typename Real>
std::from_chars_result by_c(const char* begin, const char* end, Real& value) {
  const char* const stop = end_of_real(begin, end);
  if (stop == begin) return {begin, std::errc::invalid_argument};
  static const locale_t c = newlocale(LC_ALL_MASK, "C", nullptr);
  const std::string text(begin, stop);  // strtod needs a zero behind it
  const Real read = std::is_same_v<Real, float> ? static_cast<Real>(strtof_l(text.c_str(), nullptr, c))
                                                : static_cast<Real>(strtod_l(text.c_str(), nullptr, c));
  const bool word = text.find_first_of("nN") != text.npos;
  const std::string digits = text.substr(0, text.find_first_of("eE"));
  const bool lost = read == 0 && digits.find_first_of("123456789") != digits.npos;
  if (!word && (std::isinf(read) || lost)) return {stop, std::errc::result_out_of_range};
  value = read;
  return {stop, std::errc{}};
}

}  // namespace

std::from_chars_result read_real_by_c(const char* begin, const char* end, float& value) {
  return by_c(begin, end, value);
}
std::from_chars_result read_real_by_c(const char* begin, const char* end, double& value) {
  return by_c(begin, end, value);
}

#ifdef __cpp_lib_to_chars
std::from_chars_result read_real(const char* begin, const char* end, float& value) {
  return std::from_chars(begin, end, value);
}
std::from_chars_result read_real(const char* begin, const char* end, double& value) {
  return std::from_chars(begin, end, value);
}
#else
std::from_chars_result read_real(const char* begin, const char* end, float& value) {
  return by_c(begin, end, value);
}
std::from_chars_result read_real(const char* begin, const char* end, double& value) {
  return by_c(begin, end, value);
}
#endif

}  // namespace normscope
