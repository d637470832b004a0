// Lines of a plot: thinning that keeps every extreme, places for markers, and direct labels pushed apart.
#pragma once

#include <vector>

#include "app/plot/plot_axis.h"
#include "app/ui/dash.h"

namespace normscope::plot {

struct Line {
  ui::Pieces pieces;  // in pixels, cut where the series is not finite
  std::vector<ui::Vec>
      gaps;            // last finite point before each non-finite stretch (first after it, at the beginning)
  bool dense = false;  // points less than three pixels apart
};

// Indices [first, last) of the points in [lo, hi], with one more on each side so that lines reach the border.
std::pair<size_t, size_t> visible(const Series&, double lo, double hi);

// At most four points a column of `column` pixels: first, lowest, highest, last, in their order. A series
// with fewer points is drawn in full.
Line thin(const Series&, const PlotMap&, float column);

// Indices of the points that carry a marker, 30 to 50 px apart and fixed to the data (they do not wander
// while the series grows). Runs start at different places so that their markers do not hide each other.
std::vector<size_t> marker_points(const Series&, const PlotMap&);

// Index of the point nearest to x (the series' x ascend), or size() when it is empty.
size_t nearest_index(const Series&, double x);

// Something that wants a place along a line: it takes `half` px to each side. Heavy ones stay where they are.
struct Slot {
  float wanted;
  float half = 8;
  float weight = 1;
};
// Positions for all slots inside [lo, hi] without overlap, with the least squared change and in the order of
// the wanted positions. Without enough room they come closer, but stay inside.
std::vector<float> spread(std::span<const Slot> slots, float lo, float hi);

}  // namespace normscope::plot
