// The map of an axis between data and pixels, its ticks, and the geometry of lines, markers and labels along an axis.
// The layout for screen and files uses them.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "app/plot/plot_spec.h"
#include "app/ui/geometry.h"
#include "app/ui/paint.h"

namespace normscope::plot {

// The range of all finite numbers passed to add().
struct Extent {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  void add(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  void add(const std::vector<double>& values) {
    for (const double value : values) add(value);
  }
  bool empty() const { return low > high; }
};

// Maps one axis onto a pixel interval. A log axis maps values <= 0 far below the range.
class AxisMap {
 public:
  AxisMap() = default;
  AxisMap(AxisScale scale, double lo, double hi, float from, float to);
  float operator()(double value) const;
  double inverse(float pixel) const;
  double lo() const { return lo_; }
  double hi() const { return hi_; }

 private:
  double forward(double v) const;
  AxisScale scale_ = AxisScale::Linear;
  double lo_ = 0, hi_ = 1, a_ = 0, b_ = 1;
  float from_ = 0, to_ = 1;
};

struct PlotMap {
  ui::Rect area;
  AxisMap x, y;
  ui::Vec operator()(double px, double py) const { return {x(px), y(py)}; }
};

// The range to draw: the view's where it is zoomed, else the axis' home range; always hi > lo (> 0 on log axes).
std::pair<double, double> shown_range(const Axis&, const std::optional<std::pair<double, double>>& view);

// At most `most` ticks inside [lo, hi]: round numbers, or decades on a log axis ("10⁻⁴"; plain numbers from 0.001
// to 1000 where every decade is labelled). An axis with fixed `ticks` returns all of them that lie inside.
std::vector<Tick> ticks_of(const Axis&, double lo, double hi, int most);

// The value at a fraction, 0 to 1, of the axis' home range. It gives the cell borders of a stretched heat map.
double along(const Axis&, double share);

// A round step (1, 2, 5 times a power of ten) with at most `most` multiples in `range`.
double round_step(double range, int most, bool integer);

// For the lines of a plot: thinning that keeps every extreme, places for markers, and direct labels pushed apart.

struct Line {
  ui::Pieces pieces;  // in pixels, one piece per finite stretch
  // The last finite point before each non-finite stretch; at the series' beginning the first finite point after it.
  std::vector<ui::Vec> gaps;
  bool dense = false;  // points less than three pixels apart
};

// The indices [first, last) of the points in [lo, hi] and one neighbour on each side, so that lines reach the border.
std::pair<size_t, size_t> visible(const Series&, double lo, double hi);

// Thins a series to at most four points per `column` pixels, in their order: first, lowest, highest, last. A series
// with fewer points than that is kept whole.
Line thin(const Series&, const PlotMap&, float column);

// The indices of the points with a marker: all of them, or 30 to 50 px apart for Markers::Sparse. Sparse markers are
// tied to values of x, so that they do not move while the series grows, with another offset for each run.
std::vector<size_t> marker_points(const Series&, const PlotMap&);

// The index of the point nearest to x in a series with ascending x; 0 when it is empty.
size_t nearest_index(const Series&, double x);

// An interval of `half` px to each side of a wanted position on a line. A larger `weight` makes spread() move it less.
struct Slot {
  float wanted;
  float half = 8;
  float weight = 1;
};
// Positions of the slots inside [lo, hi] without overlap, in the order of the wanted positions, with the least weighted
// sum of squared changes. Where the slots do not fit, they overlap evenly and stay inside.
std::vector<float> spread(std::span<const Slot> slots, float lo, float hi);

}  // namespace normscope::plot
