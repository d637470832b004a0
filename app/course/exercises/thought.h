// `Thought` is what a reader may have had in mind who predicted something else than happened. The reveal says it, so that
// she can tell the step of her reasoning that led there. reading/exercise_tables.h reads it, the player shows it.
#pragma once

#include <string>
#include <vector>

namespace normscope::course {

struct Lesson;
struct Prediction;

struct Thought {
  std::string when;  ///< the fault of an answer that it leads to: "other sign", or "post12 before pre36"
  std::string text;
};

/// `kFarTooLow` and `kFarTooHigh` have another order of magnitude than the measurement; a drawing goes in the other direction
/// where it rises and the measurement falls.
inline constexpr const char *kTooLow = "too low", *kTooHigh = "too high", *kFarTooLow = "far too low",
                            *kFarTooHigh = "far too high", *kOtherSign = "other sign",
                            *kOtherDirection = "other direction";

/// Says whether an answer may lie on both sides of zero.
bool has_either_sign(const Prediction& prediction);

/// Names a pair of cards, by their ids, that an answer has in the wrong order.
std::string fault_of_order(const std::string& first, const std::string& second);
/// Lists what can be wrong with an answer to this prediction.
std::vector<std::string> possible_faults(const Prediction& prediction);
/// The lesson's first thought that leads to one of the faults; empty: none does.
std::string thought_behind(const Lesson& lesson, const std::vector<std::string>& faults);

}  // namespace normscope::course
