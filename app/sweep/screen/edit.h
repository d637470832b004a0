// What the hand does to a sweep, as functions of values: an axis as typed text, as handles on a rail and as a range,
// which always agree; a region of cells; the plan after it. Called by the screen and the tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/sweep/sweep_plan.h"

namespace normscope::sweep {

/// Whether the axis has numbers, and so a rail, lin and log.
bool is_numeric(const Axis& axis);
/// Values separated by blanks, or by commas, as typed: "0 6 12 25", "pre, post". The same axis where it says the same;
/// throws Error as axis_from().
std::string typed_text(const Axis& axis);
Axis with_typed(const Axis& axis, std::string_view text, const RunSpec& base);
/// Another spacing between the smallest and the largest value, as many values as before; log starts above zero.
Axis with_kind(const Axis& axis, Axis::Kind kind, const RunSpec& base);
/// Of a range: other ends, another count; throws Error.
Axis with_range(const Axis& axis, double from, double to, int32_t count, const RunSpec& base);
/// Something to begin with: every choice, both states of a flag, five numbers around the base's.
Axis first_axis(std::string_view key, const RunSpec& base);
/// Settings that can be an axis: their keys, in the table's order.
std::vector<std::string> axis_keys();

/// The line that the handles stand on: from decade to decade, or from zero (or below) to a round number.
struct Rail {
  double low = 0, high = 1;
  bool log = false;
  double share(double value) const;  ///< 0..1, clamped
  double value(double share) const;
};
Rail rail_of(const Axis& axis);
/// The yellow handles: the two ends of a range, every value of a list. Numbers only.
std::vector<double> handles_of(const Axis& axis);
/// Two digits, whole where the setting is.
double snapped(const Axis& axis, double value);
/// One handle elsewhere; a handle that comes to lie on another is that one.
Axis with_handle(const Axis& axis, size_t handle, double value, const RunSpec& base);
/// A list without that value, or with one more; the last value stays.
Axis without_handle(const Axis& axis, size_t handle, const RunSpec& base);
Axis with_value(const Axis& axis, double value, const RunSpec& base);

/// Cells between two corners, in any order.
struct Brush {
  size_t column0 = 0, row0 = 0, column1 = 0, row1 = 0;
  Span columns() const { return {std::min(column0, column1), std::max(column0, column1)}; }
  Span rows() const { return {std::min(row0, row1), std::max(row0, row1)}; }
  bool holds(size_t column, size_t row) const { return columns().holds(column) && rows().holds(row); }
  size_t cells() const { return (columns().last - columns().first + 1) * (rows().last - rows().first + 1); }
  bool operator==(const Brush&) const = default;
};
/// Within a grid of that size; none where nothing is left.
std::optional<Brush> within(const Brush& brush, const Plan& plan);

/// Fewest seeds of a cell there.
int32_t seeds_in(const Plan& plan, const Brush& brush);
/// At least `seeds` in every cell there; fewer than before takes back what was added for this very region.
Plan with_seeds(Plan plan, const Brush& brush, int32_t seeds);
/// Another axis in the place of number `which`, or a second one. Regions follow their values; one of which no value is
/// left goes.
Plan with_axis(Plan plan, size_t which, Axis axis);
Plan without_second_axis(Plan plan);
/// Only the values of the brushed cells.
Plan narrowed(Plan plan, const Brush& brush);
/// The rest is this run: what it changes on the run that sweeps start from, but the axes, seed and name.
Plan with_rest(Plan plan, const RunSpec& run);

}  // namespace normscope::sweep
