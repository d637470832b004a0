#pragma once

#include <cctype>
#include <cstdint>
#include <string>
#include <string_view>

namespace normscope {

// Writes a word for the command line of Windows, in UTF-8 or in the system's UTF-16: unchanged without special
// characters, else in double quotes, with backslashes before the quotes in it.
template <class Letter>
std::basic_string<Letter> windows_quoted(const std::basic_string<Letter>& text) {
  const auto plain = [](Letter letter) {
    const auto code = static_cast<uint32_t>(letter);
    return code < 0x80 &&
           (std::isalnum(static_cast<int>(code)) ||
            std::string_view("_-+=:./\\,@*").find(static_cast<char>(code)) != std::string_view::npos);
  };
  bool special = text.empty();
  std::basic_string<Letter> out(1, '"');
  size_t slashes = 0;  // they count only before a quote
  for (const Letter letter : text) {
    special = special || !plain(letter);
    if (letter == '"') out.append(slashes + 1, '\\');
    slashes = letter == '\\' ? slashes + 1 : 0;
    out += letter;
  }
  out.append(slashes, '\\') += '"';
  return special ? out : text;
}

}  // namespace normscope
