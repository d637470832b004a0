// Functions on short texts, as messages need them: words in a row, and the name nearest to an unknown word.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/error.h"

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

inline void replace_each(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
    text.replace(at, from.size(), to);
}

// Guesses what a person may have meant: the name nearest to an unknown word.

/// The first name with the fewest letters to change, add or leave out (Levenshtein), in any case of
/// letters; empty where there are no names.
std::string_view nearest(std::string_view word, std::span<const std::string_view> names);

/// The same, but empty where more than a third of the word would have to change: such a guess only confuses.
std::string_view likely(std::string_view word, std::span<const std::string_view> names);

/// Says "did you mean post? expected post, pre" after "'psot' is unknown: "; without the question where no
/// name is likely.
Message expected(std::string_view word, std::span<const std::string_view> names);

}  // namespace normscope
