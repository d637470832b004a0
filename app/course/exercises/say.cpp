#include "app/course/exercises/say.h"

#include <algorithm>

namespace normscope::course {

bool has_one_gap(const Say& say) {
  const size_t gap = say.text.find(kGap);
  return gap != std::string::npos && say.text.find(kGap, gap + 1) == std::string::npos;
}

std::vector<std::string> offered(const Say& say) {
  std::vector<std::string> words{say.word};
  for (const Say::Wrong& other : say.others) words.push_back(other.word);
  std::sort(words.begin(), words.end());
  return words;
}

std::string filled(const Say& say, std::string_view word) {
  std::string text = say.text;
  const size_t at = text.find(kGap);
  return at == std::string::npos ? text : text.replace(at, kGap.size(), word);
}

std::string why_not(const Say& say, std::string_view word) {
  for (const Say::Wrong& other : say.others)
    if (other.word == word) return other.why;
  return "";
}

std::string kept_word(const Say& say, std::string_view word) {
  for (const Say::Wrong& other : say.others)
    if (other.word == word) return other.kept;
  return say.kept;
}

std::string shown_word(const Say& say, std::string_view kept) {
  if (kept.empty()) return "";
  if (kept == say.kept) return say.word;
  for (const Say::Wrong& other : say.others)
    if (kept == other.kept) return other.word;
  return "";
}

size_t said_right(const std::vector<Say>& says, const std::vector<std::string>& answers) {
  size_t right = 0;
  for (size_t i = 0; i < std::min(says.size(), answers.size()); ++i)
    right += shown_word(says[i], answers[i]) == says[i].word;
  return right;
}

}  // namespace normscope::course
