#include "app/plot/plot_axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/ui/widgets.h"
#include "app/words/words.h"

namespace normscope::plot {

AxisMap::AxisMap(AxisScale scale, double lo, double hi, float from, float to)
    : scale_(scale), lo_(lo), hi_(hi), from_(from), to_(to) {
  a_ = forward(lo);
  b_ = forward(hi);
}

double AxisMap::forward(double v) const {
  if (scale_ == AxisScale::Linear) return v;
  return v > 0 ? std::log10(v) : -400.0;
}

float AxisMap::operator()(double v) const {
  double t = (forward(v) - a_) / (b_ - a_);
  return float(from_ + (to_ - from_) * std::clamp(t, -1e4, 1e4));
}

double AxisMap::inverse(float pixel) const {
  double v = a_ + (b_ - a_) * double(pixel - from_) / double(to_ - from_);
  return scale_ == AxisScale::Linear ? v : std::pow(10.0, v);
}

std::pair<double, double> shown_range(const Axis& axis,
                                      const std::optional<std::pair<double, double>>& view) {
  auto [lo, hi] = view.value_or(std::pair{axis.lo, axis.hi});
  if (!std::isfinite(lo) || !std::isfinite(hi)) {
    lo = 0;
    hi = 1;
  }
  if (axis.scale == AxisScale::Log) {
    if (hi <= 0) hi = 1;
    if (lo <= 0) lo = hi * 1e-6;
    if (hi <= lo) hi = lo * 10;
  } else if (hi <= lo) {
    hi = lo + std::max(1e-12, std::fabs(lo) * 0.1 + 1e-9);
  }
  return {lo, hi};
}

double along(const Axis& axis, double share) {
  if (axis.scale == AxisScale::Linear) return axis.lo + (axis.hi - axis.lo) * share;
  return axis.lo * std::pow(axis.hi / axis.lo, share);
}

double round_step(double range, int most, bool integer) {
  double rough = range / std::max(1, most);
  double decade = std::pow(10.0, std::floor(std::log10(rough)));
  double step = decade * 10;
  for (double k : {1.0, 2.0, 5.0, 10.0})
    if (decade * k >= rough * (1 - 1e-9)) {
      step = decade * k;
      break;
    }
  return integer ? std::max(1.0, step) : step;
}

namespace {

std::string label_linear(double v, double step) {
  if (std::fabs(v) < step * 1e-6) return "0";
  int decimals = std::max(0, int(-std::floor(std::log10(step) + 1e-9)));
  if (decimals > 4) return ui::number(v, 2);
  std::string text = fmt::format("{:.{}f}", std::fabs(v), decimals);
  std::string whole = text.substr(0, text.find('.'));
  return words::with_decimal((v < 0 ? "−" : "") + ui::grouped(std::atoll(whole.c_str())) +
                             text.substr(whole.size()));
}

std::vector<Tick> linear_ticks(double lo, double hi, int most, bool integer) {
  // Both ends may carry a tick, or neither: the step follows from the ticks that really fall inside.
  double step = round_step(hi - lo, most + 1, integer);
  for (int tries = 0; tries < 4; ++tries) {
    double first = std::ceil(lo / step - 1e-9), last = std::floor(hi / step + 1e-9);
    if (last - first + 1 <= most) break;
    step = round_step(step * 1.01, 1, integer);
  }
  std::vector<Tick> ticks;
  for (double i = std::ceil(lo / step - 1e-9); i <= std::floor(hi / step + 1e-9) && ticks.size() < 100; ++i)
    ticks.push_back({i * step, label_linear(i * step, step)});
  return ticks;
}

std::vector<Tick> log_ticks(double lo, double hi, int most) {
  int first = int(std::ceil(std::log10(lo) - 1e-9)), last = int(std::floor(std::log10(hi) + 1e-9));
  if (last - first < 1) return linear_ticks(lo, hi, most, false);
  int stride = 1;
  while ((last - first) / stride + 1 > most) ++stride;
  // Ticks count from 1 (exponent 0) where it is inside, so that 1 keeps its label.
  int anchor = first <= 0 && last >= 0 ? 0 : last;
  std::vector<Tick> ticks;
  for (int e = first; e <= last; ++e) {
    if ((e - anchor) % stride) continue;
    bool plain = stride == 1 && e >= -3 && e <= 3;
    ticks.push_back({std::pow(10.0, e), plain ? ui::number(std::pow(10.0, e), 1) : ui::power_of_ten(e)});
  }
  return ticks;
}

}  // namespace

std::vector<Tick> ticks_of(const Axis& axis, double lo, double hi, int most) {
  if (!axis.ticks.empty()) {
    std::vector<Tick> inside;
    for (const Tick& t : axis.ticks)
      if (t.value >= lo - (hi - lo) * 1e-6 && t.value <= hi + (hi - lo) * 1e-6) inside.push_back(t);
    return inside;
  }
  most = std::max(2, most);
  return axis.scale == AxisScale::Log ? log_ticks(lo, hi, most) : linear_ticks(lo, hi, most, axis.integer);
}

}  // namespace normscope::plot
