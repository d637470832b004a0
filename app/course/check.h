// The check measures a lesson, judges its checks, and keeps the results of five seeds in the lesson's measured.json.
// The same code runs on the command line, in the tests and, with the learner's own run, in the player.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/course/measures.h"

namespace normscope::course {

enum class Tier : uint8_t { Fast, Full };
inline constexpr int32_t kFullSeeds = 5;

struct Measured {
  std::vector<double> values;  ///< by seed, from 1
  Spread spread;
  std::vector<int32_t> seeds{};  ///< the seed of each value, where some are missing
};

struct CurveBand {
  std::vector<double> x, mean, low, high;
};

CurveBand band_of(const Curve& curve, const std::vector<CurveSet>& seeds);

/// What a lesson came to: from a check, or from measured.json.
struct Results {
  int32_t seeds = 0;
  std::map<std::string, Measured> measures;
  std::map<std::string, CurveBand> curves;
  std::map<std::string, std::string> texts;                      ///< what each run's model writes, seed 1
  std::map<std::string, std::vector<std::vector<double>>> maps;  ///< beta^2 of seed 1: "A start", "A end"
  double level = 0;                                              ///< letter frequencies, nats
};

/// The results of these curves, one set for each seed from 1 on; a seed lacks a measure whose curves it lacks.
Results results_of(const Lesson& lesson, const std::vector<CurveSet>& seeds);

struct CheckOutcome {
  const Check* check = nullptr;
  const Measure* measure = nullptr;
  Measured measured;
  bool holds = false;
};

/// Whether every seed lies in the band, and there is at least one.
bool holds(const Check& check, const Measured& measured);

/// What the check's measure would be if the neighbour were true, from five seeds' results. The
/// check tells the two apart when none of these values lies in its band.
std::vector<double> values_of(const Lesson& lesson, const Check& check, const Neighbour& neighbour,
                              const Results& results);

struct LessonReport {
  const Lesson* lesson = nullptr;
  Results results{};
  std::vector<CheckOutcome> outcomes{};
  std::string stale{};  ///< why measured.json is not of this lesson and engine; empty when it is
  double seconds = 0;
  bool passed() const;
};

/// Returns every run that these lessons need, each once, seed by seed.
std::vector<experiments::StudyRun> runs_of(const std::vector<const Lesson*>& lessons, Tier tier);

/// Requires every seed of every check to lie in its band. Throws Error.
LessonReport check_lesson(const Lesson& lesson, experiments::RunStore& store, Tier tier,
                          const experiments::OnStep& on_step = {});

/// Writes rows of a table claim, measured, spread, verdict, under `table_head`. For each check that fails it
/// adds the values of all seeds and the sentence that they contradict.
std::string table_head();
std::string to_text(const LessonReport& report);
std::string spread_text(const CheckOutcome& outcome);
std::string band_text(const Check& check);

/// Writes measured.json of the lesson's folder atomically.
void save_results(const Lesson& lesson, const Results& results);
/// Returns nothing when there is no file, or when it is of another definition. Throws Error for a file
/// that cannot be read.
std::optional<Results> load_results(const Lesson& lesson);
/// Does the same from memory; `name` is the file for messages.
std::optional<Results> parse_results(std::string_view text, const std::string& name, const Lesson& lesson);
/// Empty, or says why the numbers in measured.json do not belong to `fresh`: missing, another
/// definition, values outside.
std::string staleness(const Lesson& lesson, const Results& fresh);

// ---- as JSON, CSV and Markdown; docs/log-format.md describes the files

/// What was measured over the seeds, in the JSON of lessons and of claims.
nlohmann::json to_json(const Measure& measure, const Measured& measured);
/// Writes "normscope lessons 1": for each lesson its measures by seed and its checks.
nlohmann::json to_json(const std::vector<LessonReport>& reports);
std::string to_csv(const std::vector<LessonReport>& reports);  ///< one line per measure and seed
/// Draws a figure over the measured seeds, in the light theme.
std::string to_svg(const LessonReport& report, const Figure& figure);
/// Writes a page; `command` says how it was made.
std::string to_markdown(const std::vector<LessonReport>& reports, const std::string& command);

}  // namespace normscope::course
