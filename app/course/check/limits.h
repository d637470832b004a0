// How far a lesson's effect reaches: its measures at other widths, depths, budgets and on another text. Kept line
// by line in a file, so that an interrupted measurement goes on; shown as a small table beside the lesson.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "app/course/check/check.h"
#include "training/spec/backend_choice.h"

namespace normscope::course {

/// One way to change all runs of a lesson.
struct LimitSetting {
  enum class Kind : uint8_t { Width, Depth, Steps, Text } kind = Kind::Width;
  double by = 1;             ///< Width: the width; Depth and Steps: times as many
  std::string text;          ///< Text: the file
  std::string name() const;  ///< "width 32", "depth × 0.5", "steps × 5", "another text"
};

/// Two other widths, two other depths, five times the steps and, with a file, another text: those that can
/// make a difference to what the lesson measures. The lesson itself is the middle one of each.
std::vector<LimitSetting> limit_settings(const Lesson& lesson, const std::string& text);

/// The lesson in that setting: its effect's measures and what they need, and nothing else. Feed-forward networks
/// keep their ratio to the width, heads their width; depths of a curve, the layers that measures and probes
/// name, and windows at the end of training move along. Throws Error where the setting cannot be built.
Lesson in_setting(const Lesson& lesson, const LimitSetting& setting);

/// One seed of one setting.
struct LimitLine {
  std::string lesson, setting, definition;  ///< definition(in_setting(...)): another one, another experiment
  std::string numbers;                      ///< numbers_of() and the hash of the data
  uint64_t seed = 1;
  std::map<std::string, double> values;
};
/// The lines of a file; empty when there is none. A line that cannot be read counts as absent.
std::vector<LimitLine> read_limits(const std::string& path);

struct LimitOptions {
  std::string results;         ///< the file of lines
  std::string text;            ///< another text; empty: that setting is left out
  int32_t seeds = kFullSeeds;  ///< at most
  BackendChoice backend{};     ///< that the runs train on
};
/// The runs of the lines that the file lacks (all of them without a file), as measure_limits() takes them: of more seeds
/// than one where those that it has say so. Throws Error.
std::vector<experiments::Experiment> limit_runs(const Lesson& lesson, experiments::RunStore& store,
                                                const LimitOptions& options);
/// Measures what the file lacks: one seed a setting, five where a check's verdict differs from the lesson's
/// own. `told` is called after every line. Throws Error and Cancelled; what was measured is in the file.
std::vector<LimitLine> measure_limits(const Lesson& lesson, experiments::RunStore& store,
                                      const LimitOptions& options,
                                      const std::function<void(const LimitLine&)>& told,
                                      const experiments::OnStep& on_step = {});

/// Whether a value of one of its effect's measures lies in the band of its check.
bool effect_holds(const Lesson& lesson, const std::string& measure, double value);

/// A Markdown table: a row a setting, a column a measure, values that break the check in bold; beside five
/// seeds how many of them hold.
std::string limits_table(const Lesson& lesson, const std::vector<LimitLine>& lines);

/// The text files of a folder (the system's licences), each once, as one text. Empty when there are none.
std::string licence_text(const std::string& folder);

}  // namespace normscope::course
