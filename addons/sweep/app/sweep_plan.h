// The sweep plan says which runs a sweep needs: a base run, one or two axes over it, seeds for every cell and more for
// regions; each run is a complete specification. A plan is a value: the command line makes it of its options, the
// screen of its fields, and command_text() writes it as options again. The command, the screen and the tests call it.
#pragma once

#include "app/grid/axis.h"
#include "training/experiments/study.h"

namespace normscope::sweep {

using experiments::StudyRun;
using grid::Axis, grid::axis_from, grid::kMaxValues, grid::order_of, grid::place_of;

/// The largest number of runs in one sweep.
inline constexpr int64_t kMaxRuns = 100'000;

/// A range of places on an axis, both ends included.
struct Span {
  size_t first = 0, last = 0;
  bool holds(size_t place) const { return first <= place && place <= last; }
  bool operator==(const Span&) const = default;
};

/// Adds `count` seeds in a rectangle of cells. Where regions overlap, their counts add up.
struct MoreSeeds {
  int32_t count = 1;
  Span columns, rows;
  bool operator==(const MoreSeeds&) const = default;
};

/// Settings under a name, as a value of an axis.
struct Bundle {
  std::string name;              ///< "pre-rms"
  std::string title, source;     ///< "Pre-LN, RMSNorm"; who proposed it
  std::vector<std::string> set;  ///< KEY=VALUE in order; see assign()
  std::vector<Edit> edits{};     ///< of its runs while they train
  bool operator==(const Bundle&) const = default;
};

/// The number that colours a cell. Measured is the number that a plan names.
enum class Metric : uint8_t {
  Loss,
  Since,
  Gradient,
  Ratio,
  Beta2,
  PredictedCosine,
  PredictedGradient,
  Measured
};

struct Plan {
  std::vector<std::string> set{};  ///< KEY=VALUE on the preset
  std::vector<Axis> axes{};        ///< across, and up where there are two
  int32_t steps = 0;               ///< budget of every run; 0: as the base run has it
  int32_t seeds = 1;               ///< seeds 1..seeds in every cell
  std::vector<MoreSeeds> more{};
  std::string preset = "post";    ///< the run that everything changes
  std::vector<Bundle> bundles{};  ///< the second axis, where its values are their names; see take_bundles()

  // Numbers and titles of a part of a study; a sweep chooses its own.
  std::string name{}, title{};
  std::vector<std::string> numbers{};  ///< shown side by side in a table, instead of one
  std::string score{};                 ///< name and unit of the number "score": "UAS, %"
  Metric metric = Metric::Loss;
  /// A number of the runs' history, shown in addition to `metric`: the largest that matches ("critical_rate",
  /// "L*.attn.*"); empty: none. See experiments::largest.
  std::string measure{};
  std::vector<Metric> metrics() const;  ///< the numbers shown: one table and one picture each
  void take_bundles();                  ///< makes the second axis of `bundles`, where there are some

  size_t columns() const { return axes[0].values.size(); }
  size_t rows() const { return axes.size() > 1 ? axes[1].values.size() : 1; }
  int32_t seeds_of(size_t column, size_t row) const;
  int64_t runs() const;
  bool operator==(const Plan&) const = default;
};

/// The run that the axes change. Throws Error.
RunSpec base_of(const Plan& plan);
/// Sets KEY=VALUE. In addition to the keys of the configuration file it takes
///   layers.cycle=post,pre   one placement a layer, in turn
///   layers.halves=post,pre  in equal parts
/// A stack that ends in a layer without a norm on the residual stream gets a final norm. Throws Error.
void assign(RunSpec& spec, std::string_view assignment);

/// Reads "2@train.lr=0.0014:0.0065,train.warmup=6:50": two seeds more where both values lie in these ranges, ends
/// included. A single value means that row or column, and an axis that is not named counts whole. Throws Error.
MoreSeeds more_seeds_from(std::string_view text, const Plan& plan);
std::string to_text(const MoreSeeds& more, const Plan& plan);

/// The plan with these axes and regions, as a command line and a session write them: --axis, --more-seeds. Throws
/// Error.
Plan plan_from(Plan plan, const std::vector<std::string>& axes,
               const std::vector<std::string>& more_seeds = {});

/// Lists the runs seed by seed, so that a sweep stopped early has results for every cell; within a seed it
/// goes row by row. A cell whose values do not fit together (a width that the heads do not divide) is refused and not
/// trained; the other cells are. Throws Error for an invalid plan: no axis, a setting twice, a setting that no run
/// reads, too many runs.
std::vector<StudyRun> runs_of(const Plan& plan);

/// A sweep that is ready to start: "warmup", "depth", "placement".
struct Preset {
  const char *name, *title;
  std::vector<std::string> axes;
};
const std::vector<Preset>& presets();
/// Throws an Error that names the nearest preset.
Plan preset_plan(std::string_view name);

/// Writes "normscope sweep --axis ... --seeds 3"; `between` goes before each option.
/// `metric`: of the colour; empty: the usual one.
std::string command_text(const Plan& plan, std::string_view metric = {}, std::string_view between = " ");
/// Writes the form with that name, to train the plan elsewhere. Throws Error.
std::string text_for(std::string_view form, const Plan& plan, std::string_view metric);

// The user's changes to a sweep, as functions of values: an axis as typed text, as handles on a rail and
// as a range, which always agree; a region of cells; and the plan that results. The screen and the tests call them.

/// Whether the axis has numbers, and therefore a rail and the choices lin and log.
bool is_numeric(const Axis& axis);
/// Writes the values separated by blanks, or by commas: "0 6 12 25", "pre, post". `with_typed` reads such
/// a text, and returns the same axis where the values are the same; throws Error as axis_from() does.
std::string typed_text(const Axis& axis);
Axis with_typed(const Axis& axis, std::string_view text, const RunSpec& base);
/// Changes the spacing between the smallest and the largest value and keeps the number of values. A log
/// axis starts above zero.
Axis with_kind(const Axis& axis, Axis::Kind kind, const RunSpec& base);
/// Gives a range other ends or another count. Throws Error.
Axis with_range(const Axis& axis, double from, double to, int32_t count, const RunSpec& base);
/// Proposes values for a setting: every choice, both states of a flag, or five numbers around the base's.
Axis first_axis(std::string_view key, const RunSpec& base);
/// Lists the keys of the settings that can be an axis, in the table's order.
std::vector<std::string> axis_keys();

/// The line that the handles move on: from decade to decade, or from zero (or below) to a round number.
struct Rail {
  double low = 0, high = 1;
  bool log = false;
  double share(double value) const;  ///< 0..1, clamped
  double value(double share) const;
};
Rail rail_of(const Axis& axis);
/// The yellow handles: the two ends of a range, or every value of a list. The axis must be numeric.
std::vector<double> handles_of(const Axis& axis);
/// Rounds to two digits, and to a whole number where the setting is one.
double snapped(const Axis& axis, double value);
/// Moves a value along the rail by hundredths of it, and further until its snapped() number changes.
double stepped(const Axis& axis, const Rail& rail, double value, int hundredths);
/// Moves one handle. In a list, equal handles merge; the ends of a range stay apart.
Axis with_handle(const Axis& axis, size_t handle, double value, const RunSpec& base);
/// Removes one value of a list, but never the last one; `with_value` adds one.
Axis without_handle(const Axis& axis, size_t handle, const RunSpec& base);
Axis with_value(const Axis& axis, double value, const RunSpec& base);

/// The region of cells between two corners, given in any order.
struct Brush {
  size_t column0 = 0, row0 = 0, column1 = 0, row1 = 0;
  Span columns() const { return {std::min(column0, column1), std::max(column0, column1)}; }
  Span rows() const { return {std::min(row0, row1), std::max(row0, row1)}; }
  bool holds(size_t column, size_t row) const { return columns().holds(column) && rows().holds(row); }
  size_t cells() const { return (columns().last - columns().first + 1) * (rows().last - rows().first + 1); }
  bool operator==(const Brush&) const = default;
};
/// Cuts the brush to the grid of the plan; it returns nothing where no cell is left.
std::optional<Brush> within(const Brush& brush, const Plan& plan);

int32_t seeds_in(const Plan& plan, const Brush& brush);
/// Gives every cell of the region at least `seeds` seeds. A number lower than before removes only seeds
/// that were added for exactly this region.
Plan with_seeds(Plan plan, const Brush& brush, int32_t seeds);
/// Replaces axis number `which`, or adds a second one. Regions follow their values, and a region none of
/// whose values is left is dropped.
Plan with_axis(Plan plan, size_t which, Axis axis);
Plan without_second_axis(Plan plan);
/// Keeps only the values of the brushed cells.
Plan narrowed(Plan plan, const Brush& brush);
/// Takes everything but the axes, seed and name from `run`, as changes to the run that sweeps start from.
Plan with_rest(Plan plan, const RunSpec& run);

}  // namespace normscope::sweep
