// What the lines of a plot need: thinning that keeps every extreme, places for markers, and direct
// labels pushed apart.
#pragma once

#include <vector>

#include "app/plot/plot_axis.h"
#include "app/ui/paint.h"

namespace normscope::plot {

struct Line {
  ui::Pieces pieces;  // in pixels, cut where the series is not finite
  std::vector<ui::Vec>
      gaps;            // last finite point before each non-finite stretch (first after it, at the beginning)
  bool dense = false;  // points less than three pixels apart
};

// The indices [first, last) of the points in [lo, hi], with one more on each side, so that lines
// reach the border.
std::pair<size_t, size_t> visible(const Series&, double lo, double hi);

// Keeps at most four points per `column` pixels, in their order: first, lowest, highest, last. A series with
// fewer points is drawn in full.
Line thin(const Series&, const PlotMap&, float column);

// The indices of the points with a marker, 30 to 50 px apart. They are fixed to the data, so
// that they do not wander while the series grows. Runs start at different places, so that markers do not hide each
// other.
std::vector<size_t> marker_points(const Series&, const PlotMap&);

// The index of the point nearest to x in a series with ascending x; 0 when it is empty.
size_t nearest_index(const Series&, double x);

// Wants a place along a line and takes `half` px to each side. A heavy slot stays where it is.
struct Slot {
  float wanted;
  float half = 8;
  float weight = 1;
};
// Returns positions inside [lo, hi] without overlap, in the order of the wanted positions and with the least
// squared change. Without enough room the slots come closer, but stay inside.
std::vector<float> spread(std::span<const Slot> slots, float lo, float hi);

}  // namespace normscope::plot
