#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace normscope {

/// `in_words` writes "A and B", "a, b or c": `last` precedes the last word.
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
