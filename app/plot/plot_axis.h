// The map of an axis between data and pixels, and where its ticks stand (ticks_of). The screen and the
// SVG renderer share them.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "app/plot/plot_spec.h"
#include "app/ui/geometry.h"
#include "app/ui/paint.h"

namespace normscope::plot {

// The range of the finite numbers that are added to it.
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

// Maps one axis onto a pixel interval. It puts a value without a logarithm far below the range.
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

// The view's range where it is zoomed, else the axis' own; always hi > lo (and > 0 on log axes).
std::pair<double, double> shown_range(const Axis&, const std::optional<std::pair<double, double>>& view);

// Returns at most `most` ticks inside [lo, hi]: round numbers, or decades on a log axis ("10⁻⁴"; plain from
// 0.001 to 1000 when every decade is labelled). An axis with ticks of its own keeps them.
std::vector<Tick> ticks_of(const Axis&, double lo, double hi, int most);

// The value at a share, 0 to 1, of the axis' home range: where the cells of a stretched heat map end.
double along(const Axis&, double share);

// A round step (1, 2, 5 times a power of ten) with at most `most` multiples in `range`.
double round_step(double range, int most, bool integer);

// For the lines of a plot: thinning that keeps every extreme, places for markers, and direct labels pushed apart.

struct Line {
  ui::Pieces pieces;  // in pixels, cut where the series is not finite
  // Last finite point before each non-finite stretch (first after it, at the beginning).
  std::vector<ui::Vec> gaps;
  bool dense = false;  // points less than three pixels apart
};

// The indices [first, last) of the points in [lo, hi], with one more on each side, so that lines reach the border.
std::pair<size_t, size_t> visible(const Series&, double lo, double hi);

// Keeps at most four points per `column` pixels, in their order: first, lowest, highest, last. A series with
// fewer points is drawn in full.
Line thin(const Series&, const PlotMap&, float column);

// The indices of the points with a marker, 30 to 50 px apart. They are fixed to the data, so that they do not wander
// while the series grows. Runs start at different places, so that markers do not hide each other.
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
