// A sentence with a gap at the end of a lesson, and the words that are offered for it: what the learner should now be
// able to say. Read by reading/exercise_tables.h, asked by the player, printed by worksheet and report.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace normscope::course {

struct Say {
  struct Wrong {
    std::string word, why;  ///< one line
  };
  std::string text;  ///< with kGap in it, once
  std::string word;  ///< the right one
  std::vector<Wrong> others;
};

inline constexpr std::string_view kGap = "___";
inline constexpr size_t kSays = 3;

/// Whether the text has its gap, and no other.
bool has_one_gap(const Say& say);
/// All words of a sentence in the order of the alphabet, which tells nothing.
std::vector<std::string> offered(const Say& say);
/// The sentence with that in its gap.
std::string filled(const Say& say, std::string_view word);
/// Why a word is wrong; empty for the right one, and for one that is not offered.
std::string why_not(const Say& say, std::string_view word);
/// How many of the answers, one a sentence, are right.
size_t said_right(const std::vector<Say>& says, const std::vector<std::string>& answers);

}  // namespace normscope::course
