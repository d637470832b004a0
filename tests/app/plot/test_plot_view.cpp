// These tests find out how far a user can zoom and pan a plot.
#include "app/plot/plot.h"
#include "app/plot/plot_axis.h"
#include "app/plot/plot_layout.h"
#include "app/support/gallery.h"
#include "catch.hpp"

using namespace normscope;
using namespace normscope::plot;
using ui::Vec;

namespace {

PlotSpec plot_with(std::vector<float> y, AxisScale scale = AxisScale::Linear) {
  PlotSpec s;
  s.x = {.lo = 0, .hi = 300, .integer = true};
  s.y = {.scale = scale, .lo = 0.5, .hi = 4};
  s.series.emplace_back();
  s.series.back().x0 = 1;
  s.series.back().y = Column::of(std::move(y));
  return s;
}

}  // namespace

TEST_CASE("the widest range is the home range and all data, with air where they leave it") {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const PlotSpec inside = plot_with({3, 2, nan, 1});
  CHECK(widest_range(inside, Direction::Up) == std::pair(0.5, 4.0));
  CHECK(widest_range(inside, Direction::Across) == std::pair(0.0, 300.0));
  const auto [low, high] = widest_range(plot_with({3, 11, inf, 1}), Direction::Up);
  CHECK(low == 0.5);
  CHECK(high == Approx(11 + 0.05 * 3.5));
  // On a log axis the air is a share of the decades, and numbers that have no logarithm do not count.
  const auto [deep, top] = widest_range(plot_with({3, 0, -2, 1e-4f}, AxisScale::Log), Direction::Up);
  CHECK(std::log10(deep) == Approx(-4 - 0.05 * std::log10(8.0)).epsilon(1e-6));
  CHECK(top == 4);
}

TEST_CASE("a range beyond the data is moved back, one wider than the data is the home range") {
  const PlotSpec s = plot_with({3, 2, 1});
  CHECK(allowed_range(s, Direction::Across, {-80, 20}) == std::pair(0.0, 100.0));
  CHECK(allowed_range(s, Direction::Across, {250, 350}) == std::pair(200.0, 300.0));
  CHECK(allowed_range(s, Direction::Across, {20, 60}) == std::pair(20.0, 60.0));
  CHECK(!allowed_range(s, Direction::Across, {-1e6, 1e6}));
  CHECK(!allowed_range(s, Direction::Up, {0.1, 40}));
  // Not closer than two steps, and not closer than numbers are told apart.
  const auto steps = allowed_range(s, Direction::Across, {100.2, 100.4});
  REQUIRE(steps);
  CHECK(steps->second - steps->first == Approx(2));
  const auto values = allowed_range(s, Direction::Up, {2, 2 + 1e-12});
  REQUIRE(values);
  CHECK(values->second - values->first == Approx(3.5e-4));
  // Where data leave the home range, all of them can be seen at once.
  const auto all = allowed_range(plot_with({3, 11, 1}), Direction::Up, {-100, 100});
  REQUIRE(all);
  CHECK(all->first == 0.5);
  CHECK(all->second > 11);
  CHECK(!allowed_range(s, Direction::Up, {std::nan(""), 3}));
}

TEST_CASE("the wheel and a drag stop at the end of the data") {
  gallery::Stage s;
  const auto home = std::pair(0.0, 300.0);
  s.driver.move_to(s.driver.control("plot/loss").rect.centre());
  s.driver.wheel(-5);
  CHECK(!s.state.loss_view.zoomed());
  // Its first losses lie above the home range: they can be reached, and nothing beyond.
  s.driver.hold("Shift", true);
  for (int i = 0; i < 20; ++i) s.driver.wheel(-1);
  s.driver.hold("Shift", false);
  REQUIRE(s.state.loss_view.y);
  const auto whole = widest_range(gallery::loss_plot(214), Direction::Up);
  CHECK(s.state.loss_view.y->first == Approx(whole.first));
  CHECK(s.state.loss_view.y->second == Approx(whole.second));
  CHECK(!s.state.loss_view.x);
  s.driver.double_click("plot/loss");
  CHECK(!s.state.loss_view.zoomed());
  for (int i = 0; i < 4; ++i) s.driver.wheel(1);
  REQUIRE(s.state.loss_view.x);
  const double width = s.state.loss_view.x->second - s.state.loss_view.x->first;
  s.driver.press();
  for (int i = 1; i <= 12; ++i)
    s.driver.move_to(s.driver.control("plot/loss").rect.centre() + Vec{60.f * i, 0});
  s.driver.release();
  REQUIRE(s.state.loss_view.x);
  CHECK(s.state.loss_view.x->first == Approx(home.first).margin(1e-6));
  CHECK(s.state.loss_view.x->second == Approx(width));
  // Zooming out all the way is the home range again.
  s.driver.move_to(s.driver.control("plot/loss").rect.centre());
  for (int i = 0; i < 30; ++i) s.driver.wheel(-1);
  CHECK(!s.state.loss_view.zoomed());
  // And in: never closer than two steps.
  for (int i = 0; i < 120; ++i) s.driver.wheel(1);
  REQUIRE(s.state.loss_view.x);
  CHECK(s.state.loss_view.x->second - s.state.loss_view.x->first == Approx(2));
}

TEST_CASE("a logarithmic axis zooms about the mouse, pans by decades and takes a box") {
  gallery::Stage s;
  const PlotSpec spec = gallery::gradient_plot();
  auto& view = s.state.gradient_view;
  const ui::Rect area = plot_area(spec, s.driver.control("plot/gradient").rect);
  const auto at = [&](float across, float down) {
    return Vec{std::floor(area.x + across * area.w), std::floor(area.y + down * area.h)};
  };
  const auto decade_at = [&](Vec place) {
    const auto [lo, hi] = shown_range(spec.y, view.y);
    return std::log10(AxisMap(AxisScale::Log, lo, hi, area.bottom(), area.y).inverse(place.y));
  };
  const auto decades = [&] {
    const auto [lo, hi] = shown_range(spec.y, view.y);
    return std::pair(std::log10(lo), std::log10(hi));
  };
  const Vec mouse = at(0.5f, 0.6f);
  const auto home = decades();
  const double under = decade_at(mouse);
  s.driver.move_to(mouse);
  s.driver.hold("Shift", true);
  for (int i = 0; i < 4; ++i) s.driver.wheel(1);
  s.driver.hold("Shift", false);
  REQUIRE(view.y);
  CHECK(!view.x);
  const auto zoomed = decades();
  CHECK(zoomed.second - zoomed.first < 0.8 * (home.second - home.first));
  CHECK(decade_at(mouse) == Approx(under).margin(1e-3));
  // What is under the mouse goes along: as many decades at both ends.
  s.driver.press();
  s.driver.move_to(mouse + Vec{0, 12});
  s.driver.release();
  const auto panned = decades();
  const double way = 12 * (zoomed.second - zoomed.first) / static_cast<double>(area.h);
  CHECK(panned.first - zoomed.first == Approx(way).margin(1e-3));
  CHECK(panned.second - zoomed.second == Approx(way).margin(1e-3));
  CHECK(decade_at(mouse + Vec{0, 12}) == Approx(under).margin(1e-3));
  // However far it is dragged, it stays within what there is to see.
  s.driver.press();
  for (int i = 1; i <= 8; ++i) s.driver.move_to(mouse + Vec{0, 12 + 60.f * static_cast<float>(i)});
  s.driver.release();
  CHECK(decades().second == Approx(home.second).margin(1e-6));
  CHECK(decades().second - decades().first == Approx(zoomed.second - zoomed.first).margin(1e-6));
  s.driver.double_click("plot/gradient");
  CHECK(!view.zoomed());
  // A box of the right button fills the plot.
  const Vec from = at(0.25f, 0.25f), to = at(0.75f, 0.75f);
  const double low = decade_at(to), high = decade_at(from);
  s.driver.move_to(from);
  s.driver.press(1);
  s.driver.move_to(to);
  s.driver.release(1);
  REQUIRE(view.x);
  REQUIRE(view.y);
  CHECK(decades().first == Approx(low).margin(1e-3));
  CHECK(decades().second == Approx(high).margin(1e-3));
}
