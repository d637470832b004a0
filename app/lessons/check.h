// Measures a lesson, judges its checks, and keeps what five seeds came to in the lesson's measured.json.
// The same code runs on the command line, in the tests and, with the learner's own run, in the player.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/lessons/measures.h"

namespace normscope::lessons {

enum class Tier : uint8_t { Fast, Full };
inline constexpr int32_t kFullSeeds = 5;

struct Measured {
  std::vector<double> values;  ///< by seed, from 1
  Spread spread;
};

struct CurveBand {
  std::vector<double> x, mean, low, high;
};

/// What a lesson came to: from a check, or from measured.json.
struct Results {
  int32_t seeds = 0;
  std::map<std::string, Measured> measures;
  std::map<std::string, CurveBand> curves;
  std::map<std::string, std::string> texts;                      ///< what each run's model writes, seed 1
  std::map<std::string, std::vector<std::vector<double>>> maps;  ///< beta^2 of seed 1: "A start", "A end"
  double level = 0;                                              ///< letter frequencies, nats
};

struct Verdict {
  const Check* check = nullptr;
  const Measure* measure = nullptr;
  Measured measured;
  bool holds = false;
};

struct LessonReport {
  const Lesson* lesson = nullptr;
  Results results;
  std::vector<Verdict> verdicts;
  std::string stale;  ///< why measured.json is not of this lesson and engine; empty when it is
  double seconds = 0;
  bool passed() const;
};

/// Every seed of every check must lie in its band. Throws Error.
LessonReport check_lesson(const Lesson& lesson, RunStore& store, Tier tier, const OnStep& on_step = {});

/// A line a check; for each that fails: values, spread, and the sentence they contradict.
std::string to_text(const LessonReport& report);
std::string band_text(const Check& check);

/// measured.json of the lesson's folder; written atomically.
void save_results(const Lesson& lesson, const Results& results);
/// Nothing when there is none, or when it is of another definition. Throws Error for a file that cannot be
/// read.
std::optional<Results> load_results(const Lesson& lesson);
/// Empty, or why the numbers in measured.json cannot be those of `fresh`: missing, another definition, values
/// outside.
std::string staleness(const Lesson& lesson, const Results& fresh);

}  // namespace normscope::lessons
