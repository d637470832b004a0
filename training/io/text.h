// Short texts taken apart, put together and changed, by bytes: letters are ASCII's where their case counts.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/message.h"

namespace normscope {

/// Writes "A and B", "a, b or c": `last` precedes the last word.
template <typename Word>
std::string in_words(const std::vector<Word>& words, std::string_view last) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text.append(i + 1 == words.size() ? " " : ", ");
    if (i > 0 && i + 1 == words.size()) text.append(last).append(" ");
    text += words[i];
  }
  return text;
}

/// Says "relu or gelu", "a, b or c".
template <typename Word>
Message one_of(const std::vector<Word>& words) {
  if (words.size() < 2) return in_words(words, "or");
  return {"{} or {}", fmt::join(words.begin(), words.end() - 1, ", "), words.back()};
}

/// The parts between the places of `at`, one at least; they last as long as the text.
inline std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(at, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// Leaves out the blanks around a text.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t from = text.find_first_not_of(kSpace);
  if (from == text.npos) return {};
  return text.substr(from, text.find_last_not_of(kSpace) - from + 1);
}

inline std::string small_letters(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

/// Writes "20 s", "8 min" or "1.5 h".
inline std::string duration_words(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", std::ceil(seconds));
  return seconds < 5400 ? fmt::format("{:.0f} min", seconds / 60) : fmt::format("{:.1f} h", seconds / 3600);
}

inline void replace_each(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
    text.replace(at, from.size(), to);
}

}  // namespace normscope
