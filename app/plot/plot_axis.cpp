#include "app/plot/plot_axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

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
  const int unit = int(std::floor(std::log10(step) + 1e-9)), decimals = std::max(0, -unit);
  constexpr double kMany = 1e9;  // from here on a power
  if (decimals > 4 || std::fabs(v) >= kMany)
    return ui::number(v, std::max(1, int(std::floor(std::log10(std::fabs(v)) + 1e-9)) - unit + 1));
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

namespace {

// The first index whose x is not below v.
size_t lower(const Series& s, double v) {
  size_t n = s.y.size();
  if (s.x.empty()) return size_t(std::clamp(std::ceil((v - s.x0) / s.dx), 0.0, double(n)));
  n = std::min(n, s.x.size());
  return size_t(std::lower_bound(s.x.values.begin(), s.x.values.begin() + long(n), v) - s.x.values.begin());
}

size_t length(const Series& s) { return s.x.empty() ? s.y.size() : std::min(s.x.size(), s.y.size()); }

// Whether neighbouring points are so close that a noisy line consists of steep slopes only. It depends on the distance
// between points and not on their number, so that it stays the same while a series grows.
bool close_together(const Series& s, size_t first, size_t last, const PlotMap& map) {
  constexpr float near = 3;  // px
  if (last - first < 2) return false;
  const float width = std::fabs(map.x(s.x_at(last - 1)) - map.x(s.x_at(first)));
  return width < near * float(last - 1 - first);
}

// Goes through the points of a series and keeps the first, lowest, highest and last of each pixel column. Only these
// are converted to pixels, so that the work on a long line is mostly comparisons of numbers.
class Columns {
 public:
  Columns(const Series& s, const PlotMap& map, float width, std::vector<ui::Vec>& out)
      : s_(s), map_(map), width_(width), out_(out) {}
  // Takes point i and the finite points after it, up to `end`, that certainly share its column. Returns the last one.
  size_t add(size_t i, size_t end) {
    if (first_ == none || s_.x_at(i) >= sure_) enter(i, s_.x_at(i));
    const float* y = s_.y.values.data();
    float high = y[high_], low = y[low_];
    for (size_t k = i;; ++k) {
      if (y[k] > high) {
        high = y[k];
        high_ = k;
      }
      if (y[k] < low) {
        low = y[k];
        low_ = k;
      }
      if (k + 1 < end && s_.x_at(k + 1) < sure_ && std::isfinite(y[k + 1])) continue;
      return last_ = k;
    }
  }
  void flush() {
    if (first_ == none) return;
    put(first_);
    const size_t a = std::min(low_, high_), b = std::max(low_, high_);
    if (a != first_ && a != last_) put(a);
    if (b != a && b != first_ && b != last_) put(b);
    if (last_ != first_) put(last_);
    first_ = none;
  }

 private:
  static constexpr size_t none = size_t(-1);

  // Starts a new column if the pixel of point i lies in another one.
  void enter(size_t i, double x) {
    constexpr float doubt = 0.02f;  // px before the next column, where rounding decides
    const long column = long(std::floor(map_.x(x) / width_));
    if (first_ == none || column != column_) {
      flush();
      column_ = column;
      first_ = low_ = high_ = i;
    }
    sure_ = map_.x.inverse(float(column + 1) * width_ - doubt);
  }
  void put(size_t i) { out_.push_back(map_(s_.x_at(i), s_.y[i]) - ui::Vec{0, s_.nudge}); }

  const Series& s_;
  const PlotMap& map_;
  float width_;
  std::vector<ui::Vec>& out_;
  size_t first_ = none, low_ = 0, high_ = 0, last_ = 0;
  long column_ = 0;
  double sure_ = 0;  // a point with a smaller x is certainly in the current column
};

}  // namespace

std::pair<size_t, size_t> visible(const Series& s, double lo, double hi) {
  size_t first = lower(s, lo), last = lower(s, hi), n = length(s);
  while (last < n && s.x_at(last) <= hi) ++last;
  return {first > 0 ? first - 1 : 0, std::min(n, last + 1)};
}

Line thin(const Series& s, const PlotMap& map, float column) {
  Line line;
  auto [first, last] = visible(s, map.x.lo(), map.x.hi());
  std::vector<ui::Vec>& out = line.pieces.points;
  line.dense = close_together(s, first, last, map);
  const bool many = double(last - first) > 2.0 * double(map.area.w / column);
  Columns columns(s, map, column, out);
  auto end_piece = [&] {
    columns.flush();
    size_t begin = line.pieces.ends.empty() ? 0 : line.pieces.ends.back();
    if (out.size() == begin) return;
    if (out.size() - begin == 1) out.push_back(out.back());  // lets a lone point show as a dot
    line.pieces.ends.push_back(uint32_t(out.size()));
  };
  bool in_gap = false;
  for (size_t i = first; i < last; ++i) {
    float y = s.y[i];
    if (!std::isfinite(y)) {
      if (!in_gap && !out.empty()) {
        columns.flush();
        line.gaps.push_back(out.back());
      }
      end_piece();
      in_gap = true;
      continue;
    }
    const auto pixel = [&] { return map(s.x_at(i), y) - ui::Vec{0, s.nudge}; };
    if (in_gap && out.empty()) line.gaps.push_back(pixel());
    in_gap = false;
    if (many)
      i = columns.add(i, last);
    else
      out.push_back(pixel());
  }
  end_piece();
  return line;
}

std::vector<size_t> marker_points(const Series& s, const PlotMap& map) {
  std::vector<size_t> points;
  const size_t n = length(s);
  if (n == 0 || s.markers == Markers::None) return points;
  if (s.markers == Markers::All) {
    points.resize(n);
    std::iota(points.begin(), points.end(), size_t(0));
    return points;
  }
  double per_pixel = (map.x.hi() - map.x.lo()) / std::max(1.f, map.area.w);
  double decade = std::pow(10.0, std::floor(std::log10(50 * per_pixel)));
  double step = decade;
  for (double k : {1.5, 2.0, 3.0, 4.0, 6.0, 8.0})
    if (decade * k <= 50 * per_pixel) step = decade * k;
  double offset = step * (0.4 + 0.3 * (s.ink.role == Ink::Role::Run ? s.ink.index : 0));
  auto [first, last] = visible(s, map.x.lo(), map.x.hi());
  if (first >= last) return points;
  double k = std::ceil((s.x_at(first) - offset) / step);
  for (double x = offset + k * step; x <= s.x_at(last - 1); x += step) {
    size_t i = nearest_index(s, x);
    if (i < n && std::isfinite(s.y[i]) && (points.empty() || points.back() != i)) points.push_back(i);
  }
  return points;
}

size_t nearest_index(const Series& s, double x) {
  size_t n = length(s);
  if (n == 0) return 0;
  size_t i = std::min(lower(s, x), n - 1);
  if (i > 0 && std::fabs(s.x_at(i - 1) - x) <= std::fabs(s.x_at(i) - x)) --i;
  return i;
}

std::vector<float> spread(std::span<const Slot> slots, float lo, float hi) {
  const size_t n = slots.size();
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t(0));
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return slots[a].wanted < slots[b].wanted; });
  // The distance of each slot from the first when all touch.
  std::vector<double> offset(n, 0);
  for (size_t k = 1; k < n; ++k) offset[k] = offset[k - 1] + slots[order[k - 1]].half + slots[order[k]].half;
  const double room = std::max(0.0, double(hi) - lo), needed = n ? offset[n - 1] : 0;
  if (needed > room)
    for (double& o : offset) o *= room / needed;
  // An isotonic regression of wanted - offset: neighbours that would come too close move as one block.
  struct Block {
    double sum, weight;
    size_t count;
    double mean() const { return sum / weight; }
  };
  std::vector<Block> blocks;
  for (size_t k = 0; k < n; ++k) {
    const Slot& s = slots[order[k]];
    blocks.push_back({s.weight * (double(s.wanted) - offset[k]), double(s.weight), 1});
    while (blocks.size() > 1 && blocks[blocks.size() - 2].mean() > blocks.back().mean()) {
      Block last = blocks.back();
      blocks.pop_back();
      blocks.back().sum += last.sum;
      blocks.back().weight += last.weight;
      blocks.back().count += last.count;
    }
  }
  std::vector<float> placed(n);
  const double highest = std::max(double(lo), hi - (n ? offset[n - 1] : 0));
  size_t k = 0;
  for (const Block& b : blocks)
    for (size_t i = 0; i < b.count; ++i, ++k)
      placed[order[k]] = float(std::clamp(b.mean(), double(lo), highest) + offset[k]);
  return placed;
}

}  // namespace normscope::plot
