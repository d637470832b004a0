// The limits say how far a lesson's effect reaches: its measures at other widths, depths, budgets and on another text.
// They are kept line by line in a file, so that an interrupted measurement goes on, and shown as a small table beside
// the lesson.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "app/course/check/check.h"
#include "training/spec/backend_choice.h"

namespace normscope::course {

/// `LimitSetting` is one way to change all runs of a lesson.
struct LimitSetting {
  enum class Kind : uint8_t { Width, Depth, Steps, Text } kind = Kind::Width;
  double by = 1;             ///< the width itself, or the factor of Depth and Steps
  std::string text;          ///< Text: the file
  std::string name() const;  ///< "width 32", "depth × 0.5", "steps × 5", "another text"
};

/// `limit_settings` returns two other widths, two other depths, five times the steps and, with a file, another text. It
/// leaves out settings that cannot affect what the lesson measures. The lesson itself lies in the middle.
std::vector<LimitSetting> limit_settings(const Lesson& lesson, const std::string& text);

/// `in_setting` is the lesson in that setting: its effect's measures and what they need, and nothing else. Feed-forward
/// networks keep their ratio to the width, heads their width. Depths of a curve, layers named by measures and probes,
/// and windows at the end of training move along. Throws Error where the setting cannot be built.
Lesson in_setting(const Lesson& lesson, const LimitSetting& setting);

/// `LimitLine` is one seed of one setting.
struct LimitLine {
  std::string lesson, setting, definition;  ///< definition(in_setting(...)); a new text is a new experiment
  std::string numbers;                      ///< numbers_of() and the hash of the data
  uint64_t seed = 1;
  std::map<std::string, double> values;
};
/// `read_limits` reads the lines of a file; none where there is no file. A line that cannot be read counts as absent.
std::vector<LimitLine> read_limits(const std::string& path);

struct LimitOptions {
  std::string results;         ///< the file of lines
  std::string text;            ///< the file of another text; empty: that setting is left out
  int32_t seeds = kFullSeeds;  ///< at most
  BackendChoice backend{};     ///< where the runs train
};
/// `limit_runs` returns the runs of the lines that the file lacks (all of them without a file), as measure_limits()
/// trains them. It includes further seeds where the existing lines call for them. Throws Error.
std::vector<experiments::Experiment> limit_runs(const Lesson& lesson, experiments::RunStore& store,
                                                const LimitOptions& options);
/// `measure_limits` measures what the file lacks: one seed per setting, five where a check's verdict differs from the
/// lesson's own. It calls `told` after every line. Throws Error and Cancelled; what was measured is in the file.
std::vector<LimitLine> measure_limits(const Lesson& lesson, experiments::RunStore& store,
                                      const LimitOptions& options,
                                      const std::function<void(const LimitLine&)>& told,
                                      const experiments::OnStep& on_step = {});

/// `effect_holds` says whether a value of one of its effect's measures lies in the band of its check.
bool effect_holds(const Lesson& lesson, const std::string& measure, double value);

/// `limits_table` writes a Markdown table: one row per setting, one column per measure, values that break the check in
/// bold; where there are five seeds it says how many of them hold.
std::string limits_table(const Lesson& lesson, const std::vector<LimitLine>& lines);

/// `licence_text` joins the text files of a folder (the system's licences), each once. Empty when there are none.
std::string licence_text(const std::string& folder);

}  // namespace normscope::course
