#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace normscope {

/// "A and B", "a, b or c": the last one after a word of its own.
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

}  // namespace normscope
