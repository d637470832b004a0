// These tests put names of levels and notes where curves, grid lines and texts leave room.
#include <algorithm>

#include "app/plot/plot_axis.h"
#include "app/plot/plot_layout.h"
#include "app/support/lab_plots.h"
#include "catch.hpp"

using namespace normscope;
using namespace normscope::plot;
using ui::Vec;

namespace {

float narrow_width(ui::TextStyle style, std::string_view s) { return style.px * 0.55f * float(s.size()); }

struct TextBox {
  ui::Rect box;
  std::string text;
};

// Finds the text that begins with these words.
TextBox text_of(const Drawing& d, const std::string& words) {
  for (const Item& item : d.items)
    if (auto* t = std::get_if<TextItem>(&item); t && t->text.starts_with(words)) {
      const float w = narrow_width(t->style, t->text);
      const float x = t->baseline.x - (t->align == ui::Align::Left     ? 0
                                       : t->align == ui::Align::Centre ? w / 2
                                                                       : w);
      return {{x, t->baseline.y - 0.75f * t->style.px, w, 0.95f * t->style.px}, t->text};
    }
  return {};
}

// Whether a curve runs through the box (leaders of labels end at it, and are not curves).
bool crossed(const Drawing& d, const ui::Rect& box) {
  for (const Item& item : d.items)
    if (auto* s = std::get_if<StrokeItem>(&item); s && s->points.size() > 2)
      for (size_t i = 1; i < s->points.size(); ++i)
        for (int k = 0; k <= 20; ++k)
          if (box.contains(s->points[i - 1] + (s->points[i] - s->points[i - 1]) * (float(k) / 20)))
            return true;
  return false;
}

PlotSpec losses(int steps, float floor, float noise) {
  PlotSpec s = fixture::lab_plot("plot/loss", steps);
  s.y.lo = 0.4;
  s.lines[1].label_below = true;
  for (size_t run = 0; run < s.series.size(); ++run) {
    std::vector<float> y;
    for (int i = 0; i < steps; ++i)
      y.push_back(floor + 3 * std::exp(-float(i) / 25) +
                  noise * (0.2f + std::sin(1.7f * float(i) + float(run))));
    s.series[run].y = Column::of(std::move(y));
  }
  return s;
}

int count_of(const Drawing& d, const std::string& text) {
  int n = 0;
  for (const Item& item : d.items)
    if (auto* t = std::get_if<TextItem>(&item)) n += t->text == text;
  return n;
}

TEST_CASE("a number at the cursor is that of the line there, one at the end that of the end") {
  PlotSpec s;
  s.x.hi = 100;
  s.y.hi = 4;
  plot::Series line;
  line.letter = "B";
  line.value = "1.00";
  line.decimals = 2;
  line.dx = 100;
  line.x = Column::of({1, 27, 90});
  line.y = Column::of({3.5f, 2.9f, 1.f});
  s.series = {line};
  const auto drawn = [&](double cursor) {
    s.cursor = Cursor{cursor, ""};
    return layout_plot(s, {}, {0, 0, 600, 300}, ui::theme(false), narrow_width);
  };
  const Drawing early = drawn(27), newest = drawn(90), before = drawn(0);
  CHECK(count_of(early, "2.90") == 1);
  CHECK(std::abs(text_of(early, "2.90").box.x - early.map.x(27)) < 40);
  CHECK(std::abs(text_of(early, "2.90").box.centre().y - early.map.y(2.9)) < 8);
  for (const Drawing* d : {&early, &newest, &before}) {
    CHECK(count_of(*d, "1.00") == 1);
    CHECK(text_of(*d, "1.00").box.x > d->map.x(90));
  }
  CHECK(count_of(newest, "B") == 1);
  CHECK(count_of(before, "B") == 1);  // the line has not begun
}

/// A line of constant height from 0 to `end`, labelled with a letter.
plot::Series level(const std::string& letter, float end, float y) {
  plot::Series line;
  line.id = line.letter = letter;
  line.x = Column::of({0, end});
  line.y = Column::of({y, y});
  return line;
}

std::vector<const StrokeItem*> strokes_at(const Drawing& d, ui::Vec end) {
  std::vector<const StrokeItem*> found;
  for (const Item& item : d.items)
    if (auto* s = std::get_if<StrokeItem>(&item);
        s && std::hypot(s->points.back().x - end.x, s->points.back().y - end.y) < 12)
      found.push_back(s);
  return found;
}

TEST_CASE("a label in the column of all labels is led to the end of a line that ended earlier") {
  PlotSpec s;
  s.x.hi = 100;
  s.y.hi = 4;
  s.series = {level("A", 40, 3), level("D", 90, 1)};
  const Drawing d = layout_plot(s, {}, {0, 0, 700, 300}, ui::theme(false), narrow_width);
  const TextBox early = text_of(d, "A"), late = text_of(d, "D");
  REQUIRE(early.box.x == Approx(late.box.x));
  const auto to_early = strokes_at(d, {early.box.x, early.box.centre().y}),
             to_late = strokes_at(d, {late.box.x, late.box.centre().y});
  REQUIRE(to_early.size() == 1);
  CHECK(to_early[0]->points.front().x == Approx(d.map.x(40)).margin(8));
  CHECK(to_early[0]->points.front().y == Approx(d.map.y(3)).margin(1));
  CHECK(to_late.empty());
}

TEST_CASE("the label of a line that ends out of sight has an arrow towards that end") {
  PlotSpec s;
  s.x.hi = 100;
  s.y.lo = 1;
  s.y.hi = 4;
  s.series = {level("A", 100, 9), level("B", 100, 2), level("C", 100, -5)};
  s.pad_right = 60;
  const Drawing d = layout_plot(s, {}, {0, 0, 700, 300}, ui::theme(false), narrow_width);
  // The shaft of an arrow stands before a label; its y grows downwards.
  const auto arrow = [&](const char* letter) {
    const ui::Rect box = text_of(d, letter).box;
    for (const Item& item : d.items)
      if (auto* line = std::get_if<StrokeItem>(&item);
          line && line->points.size() == 2 && line->points[0].x == line->points[1].x &&
          line->points[0].x < box.x && line->points[0].x > box.x - 12 &&
          std::fabs(line->points[0].y - box.centre().y) < 10)
        return line->points[1].y < line->points[0].y ? -1 : 1;
    return 0;
  };
  CHECK(arrow("A") == -1);
  CHECK(arrow("B") == 0);
  CHECK(arrow("C") == 1);
}

TEST_CASE("no curve crosses the name of the floor, however near it comes") {
  for (ui::Vec size : {Vec{640, 280}, Vec{640, 190}, Vec{420, 160}})
    for (float above : {0.f, 0.05f, 0.1f, 0.3f, 0.8f})
      for (int steps : {40, 150, 300}) {
        INFO(size.x << 'x' << size.y << ' ' << above << " at " << steps);
        const Drawing d = layout_plot(losses(steps, 0.76f + above, 0.04f), {}, {0, 0, size.x, size.y},
                                      ui::theme(false), narrow_width);
        const TextBox name = text_of(d, "entropy of the text");
        REQUIRE(!name.text.empty());
        CHECK(!crossed(d, name.box));
      }
}

TEST_CASE("the name of a level goes where curves leave room, with a line to it where they are all around") {
  // Curves over the whole width on both sides of the level: the name stands elsewhere.
  PlotSpec s = losses(300, 0.76f, 0.04f);
  s.lines[0].value = 2;
  for (size_t run = 0; run < s.series.size(); ++run) {
    std::vector<float> y;
    for (int i = 0; i < 300; ++i) y.push_back(2 + 0.5f * std::sin(float(i)));
    s.series[run].y = Column::of(std::move(y));
  }
  const Drawing d = layout_plot(s, {}, {0, 0, 640, 280}, ui::theme(false), narrow_width);
  const TextBox name = text_of(d, "letter frequencies");
  REQUIRE(!name.text.empty());
  CHECK(!crossed(d, name.box));
  const float level = d.map.y(2);
  const bool led = std::ranges::any_of(d.items, [&](const Item& item) {
    auto* line = std::get_if<StrokeItem>(&item);
    return line && line->points.size() == 2 && std::fabs(line->points[1].y - level) < 0.5f &&
           line->points[1].x > name.box.x && line->points[1].x < name.box.right();
  });
  CHECK(led);
}

TEST_CASE("the flag of an early step leaves the axis' numbers free") {
  for (int step : {1, 5, 12, 60}) {
    const Drawing d = layout_plot(fixture::lab_plot("plot/loss", step), {}, {0, 0, 640, 280},
                                  ui::theme(false), narrow_width);
    int flags = 0;
    for (const Item& item : d.items)
      if (auto* fill = std::get_if<FillItem>(&item); fill && fill->accent) {
        ++flags;
        CHECK(fill->rect.x >= d.map.area.x - 6);
        CHECK(fill->rect.x <= d.map.x(step));
        CHECK(fill->rect.right() >= d.map.x(step));
      }
    CHECK(flags == 1);
  }
}

TEST_CASE("a reference line is drawn where its value is on the axis, and only there") {
  const auto drawn = [](bool horizontal, double value) {
    PlotSpec s;
    s.x = {.lo = 0, .hi = 10, .show_labels = false};
    s.y = {.lo = 0, .hi = 4, .show_labels = false};
    s.series.emplace_back();
    s.series.back().x = Column::of({0, 10});
    s.series.back().y = Column::of({0.2f, 0.3f});
    const auto rules = [&] {
      const Drawing d = layout_plot(s, {}, {0, 0, 420, 260}, ui::theme(false), narrow_width);
      return std::ranges::count_if(d.items,
                                   [](const Item& item) { return std::holds_alternative<RuleItem>(item); });
    };
    const auto before = rules();
    s.lines = {{.value = value, .horizontal = horizontal}};
    return rules() > before;
  };
  for (const bool horizontal : {true, false}) {
    INFO(horizontal);
    CHECK(drawn(horizontal, 2));
    CHECK_FALSE(drawn(horizontal, -1));
    CHECK_FALSE(drawn(horizontal, 12));
  }
}

TEST_CASE("the name of an upright line ends before the next one, in fewer words or not at all") {
  const auto named = [](double next) {
    PlotSpec s;
    s.x = {.lo = 0, .hi = 10, .show_labels = false};
    s.y = {.lo = 0, .hi = 4, .show_labels = false};
    s.lines = {{.value = 1, .label = "a long name of a line", .short_label = "a name", .horizontal = false},
               {.value = next, .label = "next", .horizontal = false}};
    const Drawing d = layout_plot(s, {}, {0, 0, 420, 260}, ui::theme(false), narrow_width);
    CHECK(text_of(d, "next").text == "next");
    const TextBox name = text_of(d, "a ");
    if (!name.text.empty()) CHECK(name.box.right() < d.map.x(next));
    return name.text;
  };
  CHECK(named(8) == "a long name of a line");
  CHECK(named(3) == "a name");
  CHECK(named(1.5).empty());
}

TEST_CASE("notes do not lie on a grid line") {
  for (double at : {0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5}) {
    PlotSpec s;
    s.x = {.lo = 0, .hi = 10};
    s.y = {.lo = 0, .hi = 4};
    s.series.emplace_back();
    s.series.back().x = Column::of({0, 10});
    s.series.back().y = Column::of({0.2f, 0.3f});
    s.notes = {{.x = 4, .y = at, .text = "layer 1 gets less"}};
    const Drawing d = layout_plot(s, {}, {0, 0, 420, 260}, ui::theme(false), narrow_width);
    const TextBox note = text_of(d, "layer 1 gets");
    REQUIRE(!note.text.empty());
    int grid = 0;
    for (const Item& item : d.items)
      if (auto* line = std::get_if<RuleItem>(&item);
          line && line->a.y == line->b.y && line->b.x - line->a.x > 100) {
        ++grid;
        INFO(at << ": " << line->a.y << " in " << note.box.y << " to " << note.box.bottom());
        CHECK((line->a.y <= note.box.y || line->a.y >= note.box.bottom()));
      }
    CHECK(grid >= 3);
  }
}

TEST_CASE("the name of a level keeps clear of a curve that runs along it") {
  constexpr float kHeight = 280;
  for (const float away : {-8.f, -6.f, -4.f, -3.f, -2.f, -1.f, 0.f, 1.f, 2.f, 3.f, 4.f, 6.f, 8.f}) {
    INFO(away << " px above the level");
    PlotSpec s;
    s.x = {.lo = 0, .hi = 300};
    s.y = {.lo = 0, .hi = 4};
    s.lines = {{.value = 2, .label = "word frequencies 3.4"}};
    const float unit = plot_area(s, {0, 0, 640, kHeight}).h / 4;
    std::vector<float> y;
    for (int i = 0; i < 300; ++i) y.push_back(2 + (away + std::sin(1.7f * float(i))) / unit);
    s.series.emplace_back();
    s.series.back().y = Column::of(std::move(y));
    const Drawing d = layout_plot(s, {}, {0, 0, 640, kHeight}, ui::theme(false), narrow_width);
    const TextBox name = text_of(d, "word frequencies");
    REQUIRE(!name.text.empty());
    CHECK(!crossed(d, name.box.inset(-2, -2)));
    CHECK(std::fabs(name.box.centre().y - d.map.y(2)) < 30);  // beside its line all the same
  }
}

TEST_CASE("the label of the last tick stays within the plot's rectangle") {
  for (const float pad : {0.f, 2.f, 4.f, 16.f}) {
    PlotSpec s;
    s.x = {.lo = 0.5, .hi = 24, .ticks = {{1, "1"}, {6, "6"}, {12, "12"}, {18, "18"}, {24, "24"}}};
    s.y = {.lo = 0, .hi = 1};
    s.pad_right = pad;
    const ui::Rect rect{10, 0, 420, 260};
    const Drawing d = layout_plot(s, {}, rect, ui::theme(false), narrow_width);
    INFO(pad);
    const TextBox last = text_of(d, "24");
    REQUIRE(last.text == "24");
    CHECK(last.box.right() <= rect.right());
    CHECK(std::fabs(last.box.centre().x - d.map.x(24)) < 10);  // and under its tick
    CHECK(text_of(d, "18").box.centre().x == Approx(d.map.x(18)));
  }
}

// These tests find out how far a user can zoom and pan a plot.

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
  PlotSpec spec = fixture::lab_plot("plot/loss");
  spec.y.hi = 3;
  fixture::PlotStage s(spec);
  const auto home = std::pair(0.0, 300.0);
  s.driver.move_to(s.driver.control("plot").rect.centre());
  s.driver.wheel(-5);
  CHECK(!s.view.zoomed());
  // Its first losses lie above the home range: they can be reached, and nothing beyond.
  s.driver.hold("Shift", true);
  for (int i = 0; i < 20; ++i) s.driver.wheel(-1);
  s.driver.hold("Shift", false);
  REQUIRE(s.view.y);
  const auto whole = widest_range(spec, Direction::Up);
  CHECK(s.view.y->first == Approx(whole.first));
  CHECK(s.view.y->second == Approx(whole.second));
  CHECK(!s.view.x);
  s.driver.double_click("plot");
  CHECK(!s.view.zoomed());
  for (int i = 0; i < 4; ++i) s.driver.wheel(1);
  REQUIRE(s.view.x);
  const double width = s.view.x->second - s.view.x->first;
  s.driver.press();
  for (int i = 1; i <= 12; ++i) s.driver.move_to(s.driver.control("plot").rect.centre() + Vec{60.f * i, 0});
  s.driver.release();
  REQUIRE(s.view.x);
  CHECK(s.view.x->first == Approx(home.first).margin(1e-6));
  CHECK(s.view.x->second == Approx(width));
  // Zooming out all the way is the home range again.
  s.driver.move_to(s.driver.control("plot").rect.centre());
  for (int i = 0; i < 30; ++i) s.driver.wheel(-1);
  CHECK(!s.view.zoomed());
  // And in: never closer than two steps.
  for (int i = 0; i < 120; ++i) s.driver.wheel(1);
  REQUIRE(s.view.x);
  CHECK(s.view.x->second - s.view.x->first == Approx(2));
}

TEST_CASE("a logarithmic axis zooms about the mouse, pans by decades and takes a box") {
  const PlotSpec spec = fixture::lab_plot("plot/gradient-by-layer");
  fixture::PlotStage s(spec);
  View& view = s.view;
  const ui::Rect area = plot_area(spec, s.driver.control("plot").rect);
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
  s.driver.double_click("plot");
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
