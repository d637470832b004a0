// What a learner does in a lesson beside predicting: a challenge, sentences to complete, and the thoughts behind wrong
// predictions. tables.h reads them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/words/words.h"

namespace normscope::course {

/// The language of a course.
using Words = words::Language;

/// A task for the learner's own run: from settings that are stuck to a loss below a line, by changing what is offered.
/// Some ways there are measured with the lesson, as runs whose checks say that they end below the line; no learner's run
/// waits for them.
struct Challenge {
  /// A field of the run and the values that it may be set to. Ways count as different where they differ in
  /// the first choice.
  struct Choice {
    struct Value {
      std::string value, text;  ///< "pre", "Pre-LN"
      std::string name{};       ///< the text in English, by which it is called in every language
    };
    std::string field, label;
    std::vector<Value> values;  ///< one of them is the run's own
  };
  /// A run that is only compared, with the measure of it that a check keeps below the line.
  struct Way {
    std::string run, measure;
  };
  struct Hint {
    std::string text;
    int costs = 0;
  };
  std::string text;     ///< what is to be done
  std::string run;      ///< the learner's run: as written it is the start
  std::string measure;  ///< the run's measure that must come below the line; a check keeps the start above it
  double line = 0;
  int budget = 0;               ///< steps of every run here
  int minutes = 0;              ///< beside the lesson's own
  int points = 0, per_run = 0;  ///< won by each way, lost by each training
  std::vector<Choice> choices;
  std::vector<Way> ways;
  std::vector<Hint> hints;
};

/// One training of the learner's: what differs from the start, "model.placement=pre train.warmup=200", and
/// what it came to.
struct Try {
  std::string set;
  double loss = 0;
  bool operator==(const Try&) const = default;
};

/// The changes in the order of their fields. `to_text` writes them as they are kept, and `settings_of`
/// reads them back.
using Settings = std::vector<std::pair<std::string, std::string>>;
std::string to_text(const Settings& settings);
Settings settings_of(const std::string& set);

/// Whether a loss is below the line; a loss that could not be measured is not.
bool below_line(const Challenge& challenge, double loss);
/// The trainings below the line that differ in the first choice, the best of each, in the order in
/// which they were found.
std::vector<Try> ways_found(const Challenge& challenge, const std::vector<Try>& tries);
int score_of(const Challenge& challenge, const std::vector<Try>& tries, int hints);
/// States the rule in a sentence; `score_text` shows the sum so far: "2 ways × 40 − 3 trainings × 5 − 0
/// for hints = 65 points". Both are in the language of `words`.
std::string score_rule(const Challenge& challenge, const Words& words = words::language("en"));
std::string score_text(const Challenge& challenge, const std::vector<Try>& tries, int hints,
                       const Words& words = words::language("en"));

/// A sentence with a gap at the end of a lesson, and the words that are offered for it: what the learner should now be
/// able to say. The player asks it, the report prints it.
struct Say {
  struct Wrong {
    std::string word, why;  ///< one line
    std::string kept{};     ///< the word in English, by which an answer is kept in every language
  };
  std::string text{};  ///< holds kGap exactly once
  std::string word{};  ///< the right one
  std::vector<Wrong> others{};
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

struct Lesson;
struct Prediction;

/// What a reader may have had in mind who predicted something else than happened. The reveal says it, so that she can
/// tell the step of her reasoning that led there.
struct Thought {
  std::string when;  ///< the fault of an answer that it leads to: "other sign", or "post12 before pre36"
  std::string text;
};

/// Far is another order of magnitude; a drawing goes in the other direction where it rises and the measurement falls.
inline constexpr const char *kTooLow = "too low", *kTooHigh = "too high", *kFarTooLow = "far too low",
                            *kFarTooHigh = "far too high", *kOtherSign = "other sign",
                            *kOtherDirection = "other direction";

/// Whether an answer may lie on both sides of zero.
bool has_either_sign(const Prediction& prediction);

/// Names a pair of cards, by their ids, that an answer has in the wrong order.
std::string fault_of_order(const std::string& first, const std::string& second);
/// Lists what can be wrong with an answer to this prediction.
std::vector<std::string> possible_faults(const Prediction& prediction);
/// The lesson's first thought that leads to one of the faults; empty: none does.
std::string thought_behind(const Lesson& lesson, const std::vector<std::string>& faults);

}  // namespace normscope::course
