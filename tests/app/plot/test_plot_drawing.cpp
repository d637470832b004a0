// These tests draw one plot by four renderers: screen (through the UI driver), SVG, text, CSV.
#include <algorithm>

#include "app/plot/plot_layout.h"
#include "app/support/lab_plots.h"
#include "app/support/well_formed.h"
#include "catch.hpp"

namespace normscope::plot {
namespace {

using fixture::lab_plot, fixture::PlotStage, test::well_formed, ui::Vec;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

float sloppy_width(ui::TextStyle style, std::string_view s) { return style.px * 0.6f * float(s.size()); }

// Names a text of the drawing that covers another; empty: none does.
std::string overlap(const Drawing& d) {
  std::vector<std::pair<ui::Rect, std::string>> boxes;
  for (const Item& item : d.items)
    if (auto* t = std::get_if<TextItem>(&item)) {
      float w = sloppy_width(t->style, t->text);
      float x = t->baseline.x - (t->align == ui::Align::Left ? 0 : t->align == ui::Align::Centre ? w / 2 : w);
      boxes.push_back({{x, t->baseline.y - 0.75f * t->style.px, w, 0.95f * t->style.px}, t->text});
    }
  for (size_t i = 0; i < boxes.size(); ++i)
    for (size_t k = i + 1; k < boxes.size(); ++k)
      if (boxes[i].first.overlaps(boxes[k].first)) return boxes[i].second + " | " + boxes[k].second;
  return {};
}

}  // namespace

TEST_CASE("a bar of a range is seen on every colour of a map below it, and on none") {
  for (const bool dark : {false, true})
    for (int run = 0; run < ui::max_runs; ++run) {
      PlotSpec plot;
      plot.x.hi = plot.y.hi = 2;
      Band band;
      band.x = Column::of({1});
      band.lo = Column::of({0.5f});
      band.hi = Column::of({1.5f});
      band.ink = Ink::run(run);
      band.apart = true;
      plot.bands = {band};
      const ui::Theme& theme = ui::theme(dark);
      const Drawing drawing = layout_plot(plot, View{}, {0, 0, 300, 200}, theme, sloppy_width);
      std::vector<const StripItem*> strips;
      for (const Item& item : drawing.items)
        if (const auto* strip = std::get_if<StripItem>(&item)) strips.push_back(strip);
      // The line's own colour, which test_theme holds to a contrast with the panel, and an edge of the panel around it.
      REQUIRE(strips.size() == 2);
      const StripItem &edge = *strips[0], &bar = *strips[1];
      CHECK(edge.colour.packed() == theme.panel.packed());
      CHECK(bar.colour.packed() == line_colour(theme, band.ink).packed());
      CHECK(edge.upper.front().x <= bar.upper.front().x - 1);
      CHECK(edge.upper.back().x >= bar.upper.back().x + 1);
      CHECK(edge.upper.front().y <= bar.upper.front().y - 1);
      CHECK(edge.lower.front().y >= bar.lower.front().y + 1);
    }
}

TEST_CASE("a file has its note whole: behind the title, or below it where there is no room") {
  PlotSpec plot = lab_plot("plot/loss");
  plot.sentence.clear();
  plot.title = "Losses";
  plot.question.clear();
  plot.brief.clear();
  plot.note = "a short note";
  const auto height_of = [](const std::string& svg, const std::string& text) {
    const size_t at = svg.find(">" + text + "</text>");
    REQUIRE(at != svg.npos);
    const size_t y = svg.rfind(" y=\"", at);
    return std::stof(svg.substr(y + 4));
  };
  const std::string beside = to_svg(plot, ui::theme(false));
  CHECK(std::abs(height_of(beside, plot.note) - height_of(beside, plot.title)) < 2);
  plot.title = "A title that takes most of the line, as titles in German often do";
  plot.note = "a note that is longer than what is left of it by far";
  const std::string below = to_svg(plot, ui::theme(false));
  CHECK(height_of(below, plot.note) > height_of(below, plot.title) + 10);
  plot.sentence = "A sentence has the line to itself.";
  CHECK(has(to_svg(plot, ui::theme(false)), plot.sentence));
}

TEST_CASE("a figure in a file has no cursor: it is the same wherever somebody looked") {
  PlotSpec plot = lab_plot("plot/loss");
  REQUIRE(plot.cursor);
  const std::string here = to_svg(plot, ui::theme(false));
  CHECK(!has(here, ">" + plot.cursor->flag + "</text>"));
  plot.cursor = Cursor{100, "100"};
  plot.hover = 50;
  CHECK(to_svg(plot, ui::theme(false)) == here);
}

TEST_CASE("svg files are well formed and say what the plot says") {
  for (bool dark : {false, true}) {
    for (const panels::Panel& panel : panels::panels()) {
      const PlotSpec s = lab_plot(panel.id);
      std::string svg = to_svg(s, ui::theme(dark));
      INFO(s.id);
      CHECK(well_formed(svg));
      CHECK(has(svg, ui::to_hex(ui::theme(dark).panel)));
      CHECK(!has(svg, "nan"));
      CHECK(!has(svg, "inf"));
      CHECK(svg == to_svg(s, ui::theme(dark)));
    }
  }
  std::string svg = to_svg(lab_plot("plot/loss"), ui::theme(false));
  for (const char* part :
       {"Loss", "nats per letter, lower is better", "letter frequencies 2.95", "entropy of the text",
        ">A</text>", ">no warm-up</text>", "#0072b2", "stroke-dasharray"}) {
    INFO(part);
    CHECK(has(svg, part));
  }
  PlotSpec odd = lab_plot("plot/loss");
  odd.title = "a < b & \"c\"";
  CHECK(well_formed(to_svg(odd, ui::theme(false))));
}

TEST_CASE("a file says by itself what its axes, lines and cells are") {
  PlotSpec rate = lab_plot("plot/rate");
  rate.note = "drag a handle";
  REQUIRE_FALSE(rate.handles.empty());
  CHECK(!has(to_svg(rate, ui::theme(false)), "drag a handle"));  // nothing there to drag

  // One of a column of plots on the screen: ticks stand under the lowest only.
  PlotSpec small = lab_plot("plot/gradient-over-time");
  small.tile = 0;
  small.x.label = "step";
  small.x.show_labels = false;
  small.y.label = "norm of the gradient of W₂, A: Post-LN";
  small.notes.clear();
  for (Series& s : small.series) s.end_label = false;
  const std::string svg = to_svg(small, ui::theme(false));
  CHECK(has(svg, "x: step; y: norm of the gradient of W₂, A: Post-LN"));
  CHECK(has(svg, ">100</text>"));
  CHECK(has(svg, ">" + small.series.front().id + "</text>"));
  CHECK(has(svg, ">" + small.series.back().id + "</text>"));

  // Lines by layer end in a letter where the screen has no room for more; a file has it.
  PlotSpec depth = lab_plot("plot/gradient-by-layer");
  for (Series& s : depth.series)
    if (!s.letter.empty()) s.name = "a name for " + s.letter;
  CHECK(has(to_svg(depth, ui::theme(false)), ">a name for A</text>"));

  PlotSpec heat = lab_plot("plot/dependency");
  heat.y.label = "residual dependency at step 200, A: Post-LN";
  heat.pad_bottom = 4;
  const std::string map = to_svg(heat, ui::theme(false));
  CHECK(has(map, heat.y.label));
  CHECK(has(map, heat.heat->below));
}

// What words every plot of the Lab has: tests/screens/plots-at-214.txt.
TEST_CASE("a plot in words says what is not finite, and that there is nothing") {
  Series odd;
  odd.id = "odd";
  odd.y = Column::of({2, 0.5f, std::numeric_limits<float>::infinity(), 4});
  PlotSpec small;
  small.title = "Small";
  small.series = {odd};
  small.cursor = Cursor{1, ""};
  CHECK(has(to_text(small),
            "odd: first 2 at 0; last 4 at 3; min 0.5 at 1; max 4 at 3; at the cursor 0.5; 1 not finite"));
  small.series[0].y = {};
  CHECK(has(to_text(small), "odd: no points"));
}

TEST_CASE("numbers of a plot as csv") {
  PlotSpec s;
  Series a;
  a.id = "A, first";
  a.y = Column::of({1.5f, 0.1f});
  a.x0 = 1;
  s.series = {a};
  Band b;
  b.id = "band";
  b.x = Column::of({1});
  b.lo = Column::of({0.25f});
  b.hi = Column::of({0.75f});
  s.bands = {b};
  CHECK(to_csv(s) == "series,x,y,hi\n\"A, first\",1,1.5,\n\"A, first\",2,0.100000001,\nband,1,0.25,0.75\n");
  s.x.label = "step";
  s.y.label = "loss";
  s.y.unit = "nats per letter";
  CHECK(to_csv(s).starts_with("series,step,\"loss, nats per letter\",hi\n"));
  s = lab_plot("plot/dependency");
  s.y.label.clear();
  const std::string heat = to_csv(s);
  CHECK(heat.starts_with("row,column,share\n"));
  CHECK(has(heat, "\n12,13,"));
  CHECK(!has(heat, "nan"));
}

TEST_CASE("labels never cover each other, whatever the data does") {
  View view;
  for (int steps : {1, 2, 20, 60, 150, 214, 290, 300})
    for (float w : {220.f, 330.f, 480.f, 640.f})
      for (float h : {90.f, 140.f, 300.f}) {
        INFO(steps << ' ' << w << " x " << h);
        CHECK(overlap(layout_plot(lab_plot("plot/loss", steps), view, {0, 0, w, h}, ui::theme(false),
                                  sloppy_width)) == "");
      }
  for (float w : {200.f, 400.f}) {
    CHECK(overlap(layout_plot(lab_plot("plot/gradient-by-layer"), view, {0, 0, w, 200}, ui::theme(true),
                              sloppy_width)) == "");
    CHECK(overlap(layout_plot(lab_plot("plot/hidden-norm"), view, {0, 0, w, 200}, ui::theme(true),
                              sloppy_width)) == "");
    CHECK(overlap(layout_plot(lab_plot("plot/gradient-over-time"), view, {0, 0, w, 60}, ui::theme(true),
                              sloppy_width)) == "");
  }
}

TEST_CASE("empty and odd plots are drawn") {
  View view;
  PlotSpec empty;
  CHECK_NOTHROW(layout_plot(empty, view, {0, 0, 300, 200}, ui::theme(false), sloppy_width));
  PlotSpec s;
  Series bad;
  bad.id = "bad";
  bad.y = Column::of({std::nanf("")});
  bad.ink = Ink::run(3);
  s.series = {bad};
  CHECK_NOTHROW(layout_plot(s, view, {0, 0, 300, 200}, ui::theme(false), sloppy_width));
  CHECK_NOTHROW(layout_plot(s, view, {0, 0, 1, 1}, ui::theme(false), sloppy_width));
  s.series[0].ink = {Ink::Role::Prediction, 0, 1};
  s.series[0].y = Column::of({1, 2});
  CHECK(layout_plot(s, view, {0, 0, 300, 200}, ui::theme(true), sloppy_width).items.size() > 3);
}

TEST_CASE("a highlighted series stands out and comes last") {
  View view;
  auto strokes = [&](std::string_view highlight) {
    std::vector<StrokeItem> list;
    PlotSpec s = lab_plot("plot/loss");
    for (const Item& item :
         layout_plot(s, view, {0, 0, 500, 300}, ui::theme(false), sloppy_width, {1, highlight}).items)
      if (auto* stroke = std::get_if<StrokeItem>(&item)) list.push_back(*stroke);
    return list;
  };
  auto plain = strokes(""), marked = strokes("A");
  REQUIRE(plain.size() ==
          7);  // three of single steps, three means, and the pale one that joins the dashes of B
  REQUIRE(marked.size() == plain.size());
  CHECK(marked.back().colour == ui::theme(false).runs[0].line);
  CHECK(marked.back().width > plain.back().width);
  CHECK(marked[0].colour.a < 255);
}

TEST_CASE("the mouse reads, zooms, pans and resets a plot") {
  PlotStage s(lab_plot("plot/loss"));
  ui::Rect r = s.driver.control("plot").rect;
  Vec middle = r.centre();
  s.driver.move_to(middle);
  CHECK(s.hit.hovered);
  CHECK(s.hit.x > 100);
  CHECK(s.hit.x < 200);
  CHECK(!s.view.zoomed());
  s.driver.wheel(3);
  REQUIRE(s.view.x);
  CHECK(!s.view.y);
  auto zoomed = *s.view.x;
  CHECK(zoomed.second - zoomed.first < 300);
  // Wheel under Shift: the other axis.
  s.driver.hold("Shift", true);
  s.driver.wheel(3);
  s.driver.hold("Shift", false);
  REQUIRE(s.view.y);
  CHECK(*s.view.x == zoomed);
  // Drag pans what is zoomed.
  s.driver.press();
  s.driver.move_to(middle + Vec{40, 0});
  s.driver.move_to(middle + Vec{80, 0});
  s.driver.release();
  CHECK(s.view.x->first < zoomed.first);
  CHECK(s.view.x->second - s.view.x->first == Approx(zoomed.second - zoomed.first));
  s.driver.double_click("plot");
  CHECK(!s.view.zoomed());
  // Without zoom a drag moves nothing.
  s.driver.drag_by("plot", {60, 10});
  CHECK(!s.view.zoomed());
}

TEST_CASE("a point near the mouse is found") {
  PlotStage s(lab_plot("plot/loss"));
  ui::Rect area = s.driver.control("plot").rect;
  bool found = false;
  for (float y = area.y + 4; y < area.bottom() - 30 && !found; y += 6) {
    s.driver.move_to(Vec{area.x + area.w * 0.3f, y});
    found = s.hit.nearest.has_value();
  }
  REQUIRE(found);
  CHECK(s.hit.point.has_value());
}

TEST_CASE("a handle is dragged and moved by arrows") {
  PlotStage s(lab_plot("plot/rate", 150));  // before the warm-up ends
  const auto at = std::ranges::find(s.spec.handles, "warmup/B", &Handle::name) - s.spec.handles.begin();
  const auto moved = [&] { return s.spec.handles[static_cast<size_t>(at)].x; };
  s.driver.drag_by("plot/warmup/B", {-100, 0});
  const double after = moved();
  CHECK(after < 200 - 20);
  s.ui.focus("plot/warmup/B");
  s.driver.frames(2);
  s.driver.key("Right");
  CHECK(moved() == after + 10);
  s.driver.key("Shift+Left");
  CHECK(moved() == after - 90);
}

TEST_CASE("labels that do not fit beside the end ask for room") {
  PlotStage s(lab_plot("plot/loss"));
  float early = 0, late = 0;
  s.frame.step([&] {
    s.ui.begin_frame({});
    early = needed_pad_right(s.ui, lab_plot("plot/loss", 100), 600);
    late = needed_pad_right(s.ui, lab_plot("plot/loss", 300), 600);
    s.ui.end_frame();
  });
  CHECK(early == 16);
  CHECK(late > 100);
  CHECK(late < 250);
}

TEST_CASE("no run loses its label, not even on a reference line") {
  View view;
  for (float loss : {2.90f, 2.93f, 2.945f, 2.955f, 2.97f, 3.0f, 3.1f})
    for (float other : {2.94f, 2.0f, 0.8f}) {
      PlotSpec s = lab_plot("plot/loss");
      s.series[0].y = Column::of(std::vector<float>(214, loss));
      s.series[1].y = Column::of(std::vector<float>(214, other));
      Drawing d = layout_plot(s, view, {0, 0, 640, 300}, ui::theme(false), sloppy_width);
      INFO(loss << ' ' << other);
      for (const char* letter : {"A", "B", "C"}) {
        int found = 0;
        for (const Item& item : d.items)
          if (auto* t = std::get_if<TextItem>(&item)) found += t->text == letter;
        INFO(letter);
        CHECK(found == 1);
      }
      CHECK(overlap(d) == "");
    }
}

}  // namespace normscope::plot
