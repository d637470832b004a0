// The edits are what the user does to a sweep, as functions of values: an axis as typed text, as handles on a rail and
// as a range, which always agree; a region of cells; and the plan that results. The screen and the tests call them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "addons/sweep/app/sweep_plan.h"

namespace normscope::sweep {

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
/// The yellow handles: the two ends of a range, or every value of a list. The axis must be
/// numeric.
std::vector<double> handles_of(const Axis& axis);
/// Rounds to two digits, and to a whole number where the setting is one.
double snapped(const Axis& axis, double value);
/// A value that moves along the rail by hundredths of it, and as much further as another number needs.
double stepped(const Axis& axis, const Rail& rail, double value, int hundredths);
/// Moves one handle. A handle moved onto another becomes that one.
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
