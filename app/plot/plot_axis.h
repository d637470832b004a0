// Axes of a plot: from data to pixels and back, and where the ticks stand. Shared by the screen and the SVG
// renderer.
#pragma once

#include <vector>

#include "app/plot/plot_spec.h"
#include "app/ui/geometry.h"

namespace normscope::plot {

// One axis onto a pixel interval. Values that a logarithm cannot take lie far below the range.
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

// The range that is shown: the view's where zoomed, else the axis' own; always with hi > lo (and > 0 on log axes).
std::pair<double, double> shown_range(const Axis&, const std::optional<std::pair<double, double>>& view);

// At most `most` ticks inside [lo, hi]: round numbers, or decades on a log axis ("10⁻⁴"; plain from 0.001 to
// 1000 when every decade is labelled). The axis' own ticks, where it has any, win.
std::vector<Tick> ticks_of(const Axis&, double lo, double hi, int most);

// What lies at a share of the axis' home range, 0 to 1: where the cells of a stretched heat map end.
double along(const Axis&, double share);

// Round step (1, 2, 5 times a power of ten) that puts at most `most` multiples into `range`.
double round_step(double range, int most, bool integer);

}  // namespace normscope::plot
