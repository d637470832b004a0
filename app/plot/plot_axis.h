// The map of an axis between data and pixels, and where its ticks stand (ticks_of). The screen and the
// SVG renderer share them.
#pragma once

#include <vector>

#include "app/plot/plot_spec.h"
#include "app/ui/geometry.h"

namespace normscope::plot {

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

}  // namespace normscope::plot
