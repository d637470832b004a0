#include "app/plot/plot_view.h"

#include <algorithm>
#include <cmath>

#include "app/plot/plot_axis.h"

namespace normscope::plot {
namespace {

constexpr double air = 0.05;      // of the home range, around data that lie beyond it
constexpr double closest = 1e-4;  // of the widest range
constexpr double counted = 2;     // steps or layers that are always seen together

// Compares ranges of a log axis in decades.
struct Ruler {
  bool log;
  double to(double v) const { return log ? std::log10(v) : v; }
  double from(double v) const { return log ? std::pow(10.0, v) : v; }
};

}  // namespace

std::pair<double, double> widest_range(const PlotSpec& plot, Direction direction) {
  const bool up = direction == Direction::Up;
  const Axis& axis = up ? plot.y : plot.x;
  const Ruler ruler{axis.scale == AxisScale::Log};
  const auto home = shown_range(axis, {});
  double lo = home.first, hi = home.second;
  const auto add = [&](double v) {
    if (!std::isfinite(v) || (ruler.log && v <= 0)) return;
    lo = std::min(lo, v);
    hi = std::max(hi, v);
  };
  for (const Series& s : plot.series) {
    if (up) {
      for (float v : s.y.values) add(v);
    } else if (const size_t n = s.x.empty() ? s.y.size() : std::min(s.x.size(), s.y.size()); n > 0) {
      add(s.x_at(0));
      add(s.x_at(n - 1));  // x ascend
    }
  }
  for (const Band& band : plot.bands) {
    if (up) {
      for (const Column* side : {&band.lo, &band.hi})
        for (float v : side->values) add(v);
    } else if (!band.x.empty()) {
      add(band.x[0]);
      add(band.x[band.x.size() - 1]);
    }
  }
  for (const RefLine& line : plot.lines)
    if (line.horizontal == up) add(line.value);
  const double room = air * (ruler.to(home.second) - ruler.to(home.first));
  if (lo < home.first) lo = ruler.from(ruler.to(lo) - room);
  if (hi > home.second) hi = ruler.from(ruler.to(hi) + room);
  return {lo, hi};
}

std::optional<std::pair<double, double>> allowed_range(const PlotSpec& plot, Direction direction,
                                                       std::pair<double, double> asked) {
  const Axis& axis = direction == Direction::Up ? plot.y : plot.x;
  const Ruler ruler{axis.scale == AxisScale::Log};
  const auto [low, high] = widest_range(plot, direction);
  const double least_value = ruler.to(low), most_value = ruler.to(high), whole = most_value - least_value;
  if (ruler.log) {
    asked.first = std::max(asked.first, 1e-300);
    asked.second = std::max(asked.second, 1e-300);
  }
  double lo = ruler.to(asked.first), hi = ruler.to(asked.second);
  if (!std::isfinite(lo) || !std::isfinite(hi)) return {};
  const double narrowest = axis.integer ? std::min(counted, whole) : closest * whole;
  if (hi - lo < narrowest) {
    const double middle = (lo + hi) / 2;
    lo = middle - narrowest / 2;
    hi = middle + narrowest / 2;
  }
  const double size = std::min(hi - lo, whole);
  lo = std::clamp(lo, least_value, most_value - size);
  hi = lo + size;
  const auto home = shown_range(axis, {});
  const double same = 1e-9 * whole;
  if (std::fabs(lo - ruler.to(home.first)) <= same && std::fabs(hi - ruler.to(home.second)) <= same)
    return {};
  return std::pair{ruler.from(lo), ruler.from(hi)};
}

}  // namespace normscope::plot
