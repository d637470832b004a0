// `Say` is a sentence with a gap at the end of a lesson, and the words that are offered for it: what the learner should
// now be able to say. reading/exercise_tables.h reads it, the player asks it, the report prints it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace normscope::course {

struct Say {
  struct Wrong {
    std::string word, why;  ///< one line
    std::string kept{};     ///< the word in English, by which an answer is kept in every language
  };
  std::string text;  ///< holds kGap exactly once
  std::string word;  ///< the right one
  std::vector<Wrong> others;
  std::string kept{};  ///< the right one in English
};

inline constexpr std::string_view kGap = "___";
inline constexpr size_t kSays = 3;

/// Whether the text holds the gap exactly once.
bool has_one_gap(const Say& say);
/// All words of a sentence in alphabetical order, which gives nothing away.
std::vector<std::string> offered(const Say& say);
/// Puts `word` into the gap.
std::string filled(const Say& say, std::string_view word);
/// Why a word is wrong; it is empty for the right word and for one that is not offered.
std::string why_not(const Say& say, std::string_view word);
/// The English word for one that is offered, and `shown_word` the one that is offered for what was kept; it
/// is empty where that is of another version of the lesson.
std::string kept_word(const Say& say, std::string_view word);
std::string shown_word(const Say& say, std::string_view kept);
/// Counts the right answers, as they are kept, given one per sentence.
size_t said_right(const std::vector<Say>& says, const std::vector<std::string>& answers);

}  // namespace normscope::course
