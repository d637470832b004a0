// These tests cover thinning that keeps extremes, dashes that do not crawl, ticks, labels that are pushed apart.
#include <algorithm>

#include "app/plot/plot_axis.h"
#include "app/ui/paint.h"
#include "catch.hpp"

namespace normscope::plot {
namespace {

using ui::Vec;

PlotMap map_of(double x_lo, double x_hi, double y_lo, double y_hi, float w = 400, float h = 200) {
  return {{0, 0, w, h},
          AxisMap(AxisScale::Linear, x_lo, x_hi, 0, w),
          AxisMap(AxisScale::Linear, y_lo, y_hi, h, 0)};
}

Series series_of(std::vector<float> y) {
  Series s;
  s.y = Column::of(std::move(y));
  s.ink = Ink::run(0);
  return s;
}

float piece_length(const ui::Pieces& p, size_t i) {
  float sum = 0;
  for (size_t k = 1; k < p[i].size(); ++k)
    sum += std::hypot(p[i][k].x - p[i][k - 1].x, p[i][k].y - p[i][k - 1].y);
  return sum;
}

}  // namespace

TEST_CASE("a log axis without a positive end shows six decades below its upper end") {
  const auto shown = [](double lo, double hi) {
    return shown_range({.scale = AxisScale::Log, .lo = lo, .hi = hi}, {});
  };
  CHECK(shown(0, 1) == std::pair(1e-6, 1.0));
  CHECK(shown(-3, 100) == std::pair(100 * 1e-6, 100.0));
  CHECK(shown(0.01, 1) == std::pair(0.01, 1.0));
  CHECK(shown(0, 0) == std::pair(1e-6, 1.0));
}

TEST_CASE("ticks of huge and of tiny numbers are short, and no two are alike") {
  const std::vector<std::pair<double, double>> ranges{{0, 3e38}, {-2e38, 3e38}, {0, 1e12}, {1e9, 1e9 + 40},
                                                      {0, 3e-7}, {1, 1.00002},  {-5, 5},   {0, 4e9}};
  for (const auto& [lo, hi] : ranges) {
    const std::vector<Tick> ticks = ticks_of({.lo = lo, .hi = hi}, lo, hi, 5);
    INFO(lo << " to " << hi);
    REQUIRE(ticks.size() >= 2);
    for (size_t i = 0; i < ticks.size(); ++i) {
      INFO(ticks[i].label);
      CHECK(ticks[i].label.size() <= 18);  // bytes: superscripts take three
      for (size_t k = 0; k < i; ++k) CHECK(ticks[i].label != ticks[k].label);
    }
  }
  CHECK(ticks_of({.hi = 3e38}, 0, 3e38, 4).back().label == "3×10³⁸");
}

TEST_CASE("thinning keeps every spike and stays within four points a column") {
  const size_t n = 100000;
  std::vector<float> y(n);
  for (size_t i = 0; i < n; ++i) y[i] = std::sin(float(i) * 0.37f) * 0.1f;
  y[12345] = 9;
  y[77777] = -9;
  Series s = series_of(y);
  Line line = thin(s, map_of(0, double(n), -10, 10), 1);
  REQUIRE(line.pieces.size() == 1);
  CHECK(line.pieces.points.size() <= 4 * 401);
  float top = 1e9f, low = -1e9f;
  for (Vec p : line.pieces.points) {
    top = std::min(top, p.y);
    low = std::max(low, p.y);
  }
  PlotMap m = map_of(0, double(n), -10, 10);
  CHECK(top == Approx(m.y(9)).margin(1e-3));
  CHECK(low == Approx(m.y(-9)).margin(1e-3));
  for (size_t i = 1; i < line.pieces.points.size(); ++i)
    CHECK_FALSE(line.pieces.points[i].x < line.pieces.points[i - 1].x);
  // First and last point are the series' own.
  CHECK(line.pieces.points.front().y == Approx(m.y(y.front())).margin(1e-3));
  CHECK(line.pieces.points.back().y == Approx(m.y(y.back())).margin(1e-3));
}

TEST_CASE("every column's extremes are those of the data in it") {
  const size_t n = 20000;
  std::vector<float> y(n);
  unsigned seed = 1;
  for (float& v : y) {
    seed = seed * 1664525u + 1013904223u;
    v = float(seed >> 8) / float(1 << 24);
  }
  Series s = series_of(y);
  PlotMap m = map_of(0, double(n - 1), 0, 1, 250);
  Line line = thin(s, m, 1);
  std::vector<float> lo(251, 1e9f), hi(251, -1e9f), lo_thin = lo, hi_thin = hi;
  auto note = [](std::vector<float>& a, std::vector<float>& b, Vec p) {
    size_t c = size_t(std::floor(p.x));
    a[c] = std::min(a[c], p.y);
    b[c] = std::max(b[c], p.y);
  };
  for (size_t i = 0; i < n; ++i) note(lo, hi, m(double(i), y[i]));
  for (Vec p : line.pieces.points) note(lo_thin, hi_thin, p);
  CHECK(lo == lo_thin);
  CHECK(hi == hi_thin);
}

TEST_CASE("short series are drawn in full, zoomed views with their neighbours") {
  Series s = series_of({1, 2, 3, 4, 5});
  CHECK(thin(s, map_of(0, 4, 0, 6), 1).pieces.points.size() == 5);
  auto [first, last] = visible(s, 1.5, 2.5);
  CHECK(first == 1);
  CHECK(last == 4);
  Series with_x = s;
  with_x.x = Column::of({10, 20, 30, 40, 50});
  CHECK(visible(with_x, 25, 35) == std::pair<size_t, size_t>{1, 4});
  CHECK(nearest_index(with_x, 34) == 2);
  CHECK(nearest_index(with_x, 36) == 3);
  CHECK(nearest_index(with_x, 1e9) == 4);
  CHECK(nearest_index(series_of({}), 3) == 0);
}

TEST_CASE("what is not finite breaks the line and is marked") {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  Series s = series_of({1, 2, nan, nan, 3, 4, inf});
  Line line = thin(s, map_of(0, 6, 0, 5), 1);
  CHECK(line.pieces.size() == 2);
  CHECK(line.gaps.size() == 2);
  CHECK(thin(series_of({nan, nan}), map_of(0, 1, 0, 1), 1).pieces.size() == 0);
  // Zeros on a logarithmic axis lie below the plot, and do no harm.
  PlotMap m{
      {0, 0, 100, 100}, AxisMap(AxisScale::Linear, 0, 2, 0, 100), AxisMap(AxisScale::Log, 1e-3, 1, 100, 0)};
  Line low = thin(series_of({1, 0, 1}), m, 1);
  REQUIRE(low.pieces.points.size() == 3);
  CHECK(low.pieces.points[1].y > 100);
  CHECK(std::isfinite(low.pieces.points[1].y));
}

TEST_CASE("dashes have their length and their phase is carried over corners and calls") {
  const std::vector<Vec> whole{{0, 0}, {30, 0}, {30, 47}, {100, 47}};
  ui::Pieces one;
  float end = ui::cut_dashes(whole, {7, 3.5f}, 0, one);
  for (size_t i = 0; i + 1 < one.size(); ++i) CHECK(piece_length(one, i) == Approx(7).margin(1e-3));
  CHECK(end == Approx(std::fmod(147.f, 10.5f)).margin(1e-3));

  ui::Pieces parts;
  float phase = 0;
  for (size_t i = 1; i < whole.size(); ++i)
    phase = ui::cut_dashes(std::vector<Vec>{whole[i - 1], whole[i]}, {7, 3.5f}, phase, parts);
  CHECK(phase == Approx(end).margin(1e-3));
  float drawn_one = 0, drawn_parts = 0;
  for (size_t i = 0; i < one.size(); ++i) drawn_one += piece_length(one, i);
  for (size_t i = 0; i < parts.size(); ++i) drawn_parts += piece_length(parts, i);
  CHECK(drawn_one == Approx(drawn_parts).margin(1e-2));

  // A line that grows at its end keeps its first dashes where they are.
  std::vector<Vec> longer = whole;
  longer.push_back({140, 60});
  ui::Pieces grown;
  ui::cut_dashes(longer, {7, 3.5f}, 0, grown);
  for (size_t i = 0; i + 1 < one.size(); ++i) CHECK(grown[i].front() == one[i].front());

  ui::Pieces solid;
  ui::cut_dashes(whole, {}, 0, solid);
  CHECK(solid.size() == 1);
}

TEST_CASE(
    "dashes along x are as wide on a steep line as on a flat one, and what stands upright stays whole") {
  std::vector<Vec> zigzag, flat;
  for (int i = 0; i <= 80; ++i) {
    zigzag.push_back({float(i), i % 2 ? 0.f : 60.f});
    flat.push_back({float(i), 0});
  }
  ui::Pieces steep, level, path;
  const float end = ui::cut_dashes(zigzag, {7, 3.5f}, 0, steep, ui::DashAlong::X);
  CHECK(end == Approx(std::fmod(80.f, 10.5f)).margin(1e-3));
  ui::cut_dashes(flat, {7, 3.5f}, 0, level, ui::DashAlong::X);
  REQUIRE(steep.size() == level.size());
  for (size_t i = 0; i < steep.size(); ++i) {
    CHECK(steep[i].front().x == Approx(level[i].front().x).margin(1e-3));
    CHECK(steep[i].back().x == Approx(level[i].back().x).margin(1e-3));
    if (i + 1 < steep.size()) CHECK(steep[i].back().x - steep[i].front().x == Approx(7).margin(1e-3));
  }
  ui::cut_dashes(zigzag, {7, 3.5f}, 0, path);
  CHECK(path.size() > 20 * steep.size());  // what it would be along its own length: a fog

  // Two steps up: the first stands inside a dash and stays in one piece from foot to top, the second in a gap.
  const std::vector<Vec> stairs{{0, 0}, {4, 0}, {4, 50}, {9, 50}, {9, 90}, {20, 90}};
  ui::Pieces pieces;
  ui::cut_dashes(stairs, {7, 3.5f}, 0, pieces, ui::DashAlong::X);
  REQUIRE(pieces.size() == 2);
  const std::vector<Vec> first(pieces[0].begin(), pieces[0].end());
  CHECK(first == std::vector<Vec>{{0, 0}, {4, 0}, {4, 50}, {7, 50}});
  CHECK(pieces[1].front() == Vec{10.5f, 90});
  CHECK(pieces[1].back().x == Approx(17.5f));
}

TEST_CASE("a line is dense by the distance of its points, not by their number") {
  const auto dense = [](size_t points, double range, float width) {
    return thin(series_of(std::vector<float>(points, 0.5f)), map_of(0, range, 0, 1, width), 1).dense;
  };
  CHECK(dense(300, 299, 600));         // 2 px
  CHECK_FALSE(dense(300, 299, 1200));  // 4 px
  CHECK_FALSE(dense(100000, 99999, 4e5f));
  CHECK(dense(300, 1000, 600));  // a young run on a long axis: 0.6 px from the start
  CHECK(dense(30, 1000, 600));
  CHECK(dense(3000, 2999, 600));
  CHECK_FALSE(dense(3000, 2999, 12000));
  CHECK_FALSE(dense(2, 1, 600));
  CHECK_FALSE(dense(1, 1, 600));
}

TEST_CASE("markers are 30 to 50 px apart and do not wander while the series grows") {
  for (double range : {60.0, 300.0, 1000.0, 7777.0}) {
    INFO(range);
    PlotMap m = map_of(0, range, 0, 1, 500);
    Series s = series_of(std::vector<float>(size_t(range), 0.5f));
    s.markers = Markers::Sparse;
    std::vector<size_t> points = marker_points(s, m);
    REQUIRE(points.size() > 5);
    for (size_t i = 1; i < points.size(); ++i) {
      float gap = m.x(double(points[i])) - m.x(double(points[i - 1]));
      CHECK(gap >= 27);  // 30 less one data point of rounding
      CHECK(gap <= 54);
    }
    Series half = series_of(std::vector<float>(size_t(range / 2), 0.5f));
    half.markers = Markers::Sparse;
    std::vector<size_t> fewer = marker_points(half, m);
    REQUIRE(fewer.size() > 2);
    for (size_t i = 0; i + 1 < fewer.size(); ++i) CHECK(fewer[i] == points[i]);
    Series other = s;
    other.ink = Ink::run(2);
    CHECK(marker_points(other, m).front() != points.front());
  }
}

TEST_CASE("labels keep their distance with the smallest change") {
  auto at = [](std::vector<Slot> slots, float lo = 0, float hi = 300) { return spread(slots, lo, hi); };
  CHECK(at({{10}, {100}, {200}}) == std::vector<float>{10, 100, 200});
  std::vector<float> p = at({{100}, {104}});
  CHECK(p[0] == Approx(94));
  CHECK(p[1] == Approx(110));
  p = at({{50}, {50}, {50}, {50}});
  for (int i = 1; i < 4; ++i) CHECK(p[i] - p[i - 1] == Approx(16));
  CHECK((p[0] + p[3]) / 2 == Approx(50));
  p = at({{2}, {1}});  // order is kept, and so is the border
  CHECK(p[1] == Approx(0));
  CHECK(p[0] == Approx(16));
  p = at({{298}, {299}, {297}});
  CHECK(*std::ranges::max_element(p) <= 300);
  p = at({{100, 8, 1e6f}, {101}});
  CHECK(p[0] == Approx(100).margin(0.01));
  CHECK(p[1] == Approx(116).margin(0.01));
  p = at({{100, 1, 1e6f}, {101}, {99}});  // a thin obstacle: one label on each side
  CHECK(p[1] == Approx(109).margin(0.01));
  CHECK(p[2] == Approx(91).margin(0.01));
  p = at({{5}, {5}, {5}}, 0, 20);  // no room: closer, but inside
  CHECK(p[0] == Approx(0));
  CHECK(p[2] == Approx(20));
  CHECK(at({}).empty());
}

TEST_CASE("ticks are round numbers and never too many") {
  auto labels = [](const Axis& a, double lo, double hi, int most) {
    std::string all;
    for (const Tick& t : ticks_of(a, lo, hi, most)) all += t.label + " ";
    return all;
  };
  CHECK(labels({}, 0, 300, 7) == "0 50 100 150 200 250 300 ");
  CHECK(labels({}, 0.55, 4, 4) == "1 2 3 4 ");
  CHECK(labels({}, 0, 16000, 4) == "0 5\u2009000 10\u2009000 15\u2009000 ");
  CHECK(labels({}, -0.2, 0.2, 5) == "−0.2 −0.1 0 0.1 0.2 ");
  Axis log{.scale = AxisScale::Log};
  CHECK(labels(log, 1e-6, 3, 4) == "10⁻⁶ 10⁻⁴ 10⁻² 1 ");
  CHECK(labels(log, 0.01, 10, 4) == "0.01 0.1 1 10 ");
  CHECK(labels(log, 1, 5, 4) != "");
  Axis whole{.integer = true};
  CHECK(labels(whole, 0.75, 6.2, 9) == "1 2 3 4 5 6 ");
  Axis own{.ticks = {{0, "none"}, {1, "all"}, {9, "far"}}};
  CHECK(labels(own, 0, 1, 4) == "none all ");
  for (double hi = 1e-7; hi < 1e9; hi *= 3.7)
    for (int most : {2, 3, 4, 7}) {
      size_t n = ticks_of({}, 0, hi, most).size();
      INFO(hi << " " << most);
      CHECK(n >= 1);
      CHECK(n <= size_t(most));
    }
}

TEST_CASE("a share of an axis is a share of its pixels") {
  CHECK(along({.lo = 2, .hi = 6}, 0.25) == Approx(3));
  CHECK(along({.scale = AxisScale::Log, .lo = 1e-4, .hi = 1}, 0.25) == Approx(1e-3));
}

TEST_CASE("ranges that make no sense still give a plot") {
  CHECK(shown_range({.lo = 3, .hi = 3}, {}).second > 3);
  auto [lo, hi] = shown_range({.scale = AxisScale::Log, .lo = -1, .hi = 10}, {});
  CHECK(lo > 0);
  CHECK(hi == 10);
  auto r = shown_range({.lo = std::nan(""), .hi = 1}, {});
  CHECK(r.first < r.second);
  CHECK(shown_range({.lo = 0, .hi = 1}, std::pair{0.2, 0.4}) == std::pair{0.2, 0.4});
}

}  // namespace normscope::plot
