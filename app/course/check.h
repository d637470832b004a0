// The check measures a lesson, judges its checks, and keeps the results of five seeds in the lesson's measured.json.
// The same code runs on the command line, in the tests and, with the learner's own run, in the player.
#pragma once

#include <nlohmann/json.hpp>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/course/curves.h"
#include "app/words/words.h"

namespace normscope::course {

// A measure is a number taken from the curves of a lesson, with its summary over several seeds.

/// True for "x" and "log x".
bool is_scale(std::string_view against);

/// True for "line", "root" and "log": laws that a curve may follow, y in proportion to x, to its root, to
/// log(1 + x/offset).
bool is_law(std::string_view law);
/// The law at each x, up to its factor. NaN for an unknown law.
std::vector<double> law_values(std::string_view law, const std::vector<double>& x, double offset);
/// How far the best multiple of a law is from a curve: the root of the sum of squared distances over the
/// sum of squares. 0: y is in proportion to the law.
double misfit(const std::vector<double>& law, const std::vector<double>& y);

/// True for a curve whose values are searched for between two bounds: a critical rate, the border of a
/// map. A value at a bound says no more than "at least" or "at most", so the mean of such values is unknown. Their
/// median and their number are exact as long as fewer than half of them lie at a bound.
bool may_be_censored(const Curve& curve);
/// Whether a measure may be such a value, or be computed from one.
bool may_be_censored(const Lesson& lesson, const Measure& measure);

/// The measure of one seed. NaN where the curve gives no value; +inf for a first_below that never happens.
double evaluate(const Lesson& lesson, const Measure& measure, const CurveSet& curves);

/// The mean over seeds, as `Mean` computes it, and the range.
struct Spread {
  double mean = 0, low = 0, high = 0;
  size_t seeds = 0;
};
Spread spread_of(const std::vector<double>& values, Mean mean);

/// Writes a number with its unit: "2 steps", "8 200×", and for exactly one "1 step". It is the only
/// function that writes units.
std::string with_unit(const std::string& number, const std::string& unit);
/// The value as shown: "0.00015", "8 200×"; "at least 64" for a value at a bound of its measurement.
std::string shown(double value, const Measure& measure, const Words& words = words::language("en"));
/// Writes lowest to highest: "7 100 to 50 000×"; one number where both are shown alike; "3 of 5" for a count.
std::string range_text(const Spread& spread, const Measure& measure,
                       const Words& words = words::language("en"));

enum class Tier : uint8_t { Fast, Full };
inline constexpr int32_t kFullSeeds = 5;

struct SeedValues {
  std::vector<double> values;  ///< by seed, from 1
  Spread spread;
  std::vector<int32_t> seeds{};  ///< the seed of each value, where some are missing
};

struct CurveBand {
  std::vector<double> x, mean, low, high;
};

CurveBand band_of(const Curve& curve, const std::vector<CurveSet>& seeds);

/// Everything measured of a lesson, from a check or from measured.json.
struct Results {
  int32_t seeds = 0;
  std::map<std::string, SeedValues> measures;
  std::map<std::string, CurveBand> curves;
  std::map<std::string, std::string> texts;                      ///< what each run's model writes, seed 1
  std::map<std::string, std::vector<std::vector<double>>> maps;  ///< beta^2 of seed 1: "A start", "A end"
  double level = 0;                                              ///< loss of letter frequencies, nats
};

/// The results of these curves, one set for each seed from 1 on; a seed lacks a measure whose curves it lacks.
Results results_of(const Lesson& lesson, const std::vector<CurveSet>& seeds);

struct CheckOutcome {
  const Check* check = nullptr;
  const Measure* measure = nullptr;
  SeedValues measured;
  bool holds = false;
};

/// Whether every seed lies in the band, and there is at least one.
bool holds(const Check& check, const SeedValues& measured);

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

/// Measures a lesson and judges its checks; a failed check is an outcome. Throws Error if a run cannot be trained.
LessonReport check_lesson(const Lesson& lesson, experiments::RunStore& store, Tier tier,
                          const experiments::OnStep& on_step = {});

/// Writes the rows under `table_head`: claim, measured, spread, verdict. For each failed check it adds the values of
/// all seeds and the sentence that they contradict.
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
nlohmann::json to_json(const Measure& measure, const SeedValues& measured);
/// Writes "normscope lessons 1": for each lesson its measures by seed and its checks.
nlohmann::json to_json(const std::vector<LessonReport>& reports);
std::string to_csv(const std::vector<LessonReport>& reports);  ///< one line per measure and seed
/// Draws a figure over the measured seeds, in the light theme.
std::string to_svg(const LessonReport& report, const Figure& figure);
/// Writes a page; `command` says how it was made.
std::string to_markdown(const std::vector<LessonReport>& reports, const std::string& command);

}  // namespace normscope::course
