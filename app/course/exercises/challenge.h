// A challenge is a task for the learner's own run: from settings that are stuck to a loss below a line, by changing
// what is offered. Some ways there are measured with the lesson, as runs whose checks say that they end below the line;
// no learner's run waits for them. reading/exercise_tables.h reads it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/words/words.h"

namespace normscope::course {

/// The language of a course.
using Words = words::Language;

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
  int minutes = 0;              ///< beside those of the lesson
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

}  // namespace normscope::course
