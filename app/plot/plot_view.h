// How far a plot may be zoomed and panned: never beyond its data, never closer than its numbers can be told apart.
// Used by the screen renderer; plain numbers, no window.
#pragma once

#include <optional>
#include <utility>

#include "app/plot/plot_spec.h"

namespace normscope::plot {

enum class Direction { Across, Up };

// The home range and all data along one axis, those beyond it with a twentieth of air: a spike that the home
// range leaves out can be reached, empty space cannot.
std::pair<double, double> widest_range(const PlotSpec&, Direction);

// `asked`, moved and cut to lie inside widest_range() and made no narrower than two steps of a counted axis,
// or a ten-thousandth of the widest range. Empty where that is the home range again.
std::optional<std::pair<double, double>> allowed_range(const PlotSpec&, Direction,
                                                       std::pair<double, double> asked);

}  // namespace normscope::plot
