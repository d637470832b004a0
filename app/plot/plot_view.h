// Limits how far a plot may be zoomed and panned: never beyond its data, and never so close that its
// numbers cannot be told apart. The screen renderer uses it; it needs no window.
#pragma once

#include <optional>
#include <utility>

#include "app/plot/plot_spec.h"

namespace normscope::plot {

enum class Direction { Across, Up };

// The home range widened to all data along one axis, data beyond it with a twentieth of air. A
// spike outside the home range can be reached, empty space cannot.
std::pair<double, double> widest_range(const PlotSpec&, Direction);

// Moves and cuts `asked` to lie inside widest_range(), no narrower than two steps of a counted axis or
// a ten-thousandth of the widest range. It is empty where that is the home range again.
std::optional<std::pair<double, double>> allowed_range(const PlotSpec&, Direction,
                                                       std::pair<double, double> asked);

}  // namespace normscope::plot
