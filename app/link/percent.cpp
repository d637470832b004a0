#include "app/link/percent.h"

#include <cctype>
#include <optional>

#include "engine/core/error.h"
#include "training/io/input_value.h"

namespace normscope::link {
namespace {

// Signs that a fragment may hold and that neither a shell within quotes nor a page interprets.
constexpr std::string_view kPlain = "-._:=,/@";

std::optional<int> hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return {};
}

}  // namespace

std::string percent_encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 && (std::isalnum(byte) || kPlain.find(c) != kPlain.npos))
      out += c;
    else if (c == ' ')
      out += '+';
    else
      out += fmt::format("%{:02X}", byte);
  }
  return out;
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i] == '+' ? ' ' : text[i];
      continue;
    }
    const std::string_view digits = text.substr(i + 1, 2);
    const std::optional<int> first = digits.size() == 2 ? hex_digit(digits[0]) : std::nullopt,
                             second = digits.size() == 2 ? hex_digit(digits[1]) : std::nullopt;
    if (!first || !second)
      fail(kPlace, "{}: expected two hexadecimal digits behind %", shown_text(text.substr(i, 3)));
    out += static_cast<char>(*first * 16 + *second);
    i += 2;
  }
  return out;
}

}  // namespace normscope::link
