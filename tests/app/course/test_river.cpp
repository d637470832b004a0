// These tests cover rivers: a beta^2 map as a stream of bands, its place in a lesson.toml, and lesson 6 by hand.
#include <algorithm>

#include "app/course/map.h"
#include "app/plot/plot.h"
#include "app/plot/plot_layout.h"
#include "app/support/player_driver.h"
#include "app/support/well_formed.h"

namespace normscope::test_river {
namespace {

using namespace course;
using fixture::FiveSeeds, test::contains;

const experiments::ShareMap kMap{{0.6, 0.3}, {0.4, 0.2, 0.2}, {0.1, 0.1, 0.2, 0.7}};
const ui::Rect kPlace{20, 30, 500, 300};

float wide_letters(ui::TextStyle style, std::string_view text) {
  return style.px * 0.6f * static_cast<float>(text.size());
}

plot::PlotSpec river_of(const experiments::ShareMap& map) {
  plot::PlotSpec plot;
  plot.id = plot.title = "river";
  plot.tile = 0;
  plot.pad_right = 100;
  add_river(map, plot, words::language("en"));
  return plot;
}

plot::Drawing drawing_of(const plot::PlotSpec& plot, const ui::Rect& place, bool dark = false) {
  return plot::layout_plot(plot, {}, place, ui::theme(dark), wide_letters);
}

/// The strips of a drawing that are not inflow, from the oldest band to the newest.
std::vector<plot::StripItem> bands_of(const plot::Drawing& drawing) {
  std::vector<plot::StripItem> bands;
  for (const plot::Item& item : drawing.items)
    if (const auto* strip = std::get_if<plot::StripItem>(&item); strip && strip->clip)
      bands.push_back(*strip);
  return bands;
}

/// The name of the band that is widest at the end.
std::string thickest(const plot::River& river) {
  const size_t last = river.columns() - 1;
  size_t most = 0;
  for (size_t band = 1; band < river.bands.size(); ++band)
    if (river.share(last, band) > river.share(last, most)) most = band;
  return river.bands[most].name;
}

/// How thick a band is drawn at a place; 0 where it is not drawn.
float height_at(const plot::StripItem& band, float x) {
  for (size_t i = 0; i < band.upper.size(); ++i)
    if (std::abs(band.upper[i].x - x) < 0.01f) return band.lower[i].y - band.upper[i].y;
  return 0;
}

}  // namespace

TEST_CASE("the bands of every column of a river add up to its height") {
  const plot::PlotSpec plot = river_of(kMap);
  REQUIRE(plot.river);
  REQUIRE(plot.river->columns() == 4);
  REQUIRE(plot.river->bands.size() == 4);
  CHECK(plot.river->share(0, 0) == 1);
  CHECK(plot.river->share(1, 0) == Approx(2 / 3.0));
  CHECK(plot.river->share(3, 3) == Approx(7 / 11.0));
  const plot::Drawing drawing = drawing_of(plot, kPlace);
  const std::vector<plot::StripItem> bands = bands_of(drawing);
  REQUIRE(bands.size() == 4);
  for (const ui::Vec& point : bands.front().upper) {
    float height = 0;
    for (const plot::StripItem& band : bands) height += height_at(band, point.x);
    CHECK(height == Approx(drawing.map.area.h).margin(0.05));
  }
  for (size_t band = 0; band < bands.size(); ++band)
    for (size_t column = 0; column < 4; ++column)
      CHECK(height_at(bands[band], drawing.map.x(static_cast<double>(column))) ==
            Approx(plot.river->share(column, band) * static_cast<double>(drawing.map.area.h)).margin(0.05));
}

TEST_CASE("a river that grows keeps the width of every band") {
  // Variances 1 of the input, then 0.5, 1 and 2 of the branches; the shares of a row need not add up to one.
  const experiments::ShareMap map{
      {0.8 / 1.5, 0.4 / 1.5}, {0.4, 0.2, 0.4}, {1.1 / 4.5, 0.55 / 4.5, 1.1 / 4.5, 2.2 / 4.5}};
  plot::PlotSpec plot;
  plot.id = plot.title = "river";
  plot.pad_right = 100;
  add_river(map, plot, words::language("en"), true);
  REQUIRE(plot.river);
  CHECK(plot.river->size(0) == Approx(1 / 4.5));
  CHECK(plot.river->size(3) == 1);
  CHECK(plot.sentence == "What a state's parts bring together is 4.5 times what the input brings.");
  const plot::Drawing drawing = drawing_of(plot, kPlace);
  const std::vector<plot::StripItem> bands = bands_of(drawing);
  REQUIRE(bands.size() == 4);
  const double expected[] = {1, 0.5, 1, 2};
  for (size_t band = 0; band < 4; ++band)
    for (size_t column = band; column < 4; ++column)
      CHECK(height_at(bands[band], drawing.map.x(static_cast<double>(column))) ==
            Approx(expected[band] / 4.5 * static_cast<double>(drawing.map.area.h)).margin(0.05));
  const plot::Item* inflow = nullptr;
  for (const plot::Item& item : drawing.items)
    if (const auto* strip = std::get_if<plot::StripItem>(&item); strip && !strip->clip && !inflow)
      inflow = &item;
  REQUIRE(inflow);  // the first branch joins the lower edge, where the river is still narrow
  CHECK(std::get<plot::StripItem>(*inflow).lower.back().y < drawing.map.area.centre().y);
}

TEST_CASE("a band of a river is absent before its sub-layer and enters from below") {
  const plot::PlotSpec plot = river_of(kMap);
  const plot::Drawing drawing = drawing_of(plot, kPlace);
  const std::vector<plot::StripItem> bands = bands_of(drawing);
  REQUIRE(bands.size() == 4);
  for (size_t band = 1; band < bands.size(); ++band) {
    const ui::Vec first = bands[band].upper.front();
    CHECK(first.x == Approx(drawing.map.x(static_cast<double>(band) - 1)));
    CHECK(first.y == Approx(drawing.map.area.bottom()));
    CHECK(bands[band].lower.front().y == Approx(drawing.map.area.bottom()));
    for (size_t column = 0; column < band; ++column) CHECK(plot.river->share(column, band) == 0);
  }
  size_t inflows = 0;
  for (const plot::Item& item : drawing.items)
    if (const auto* strip = std::get_if<plot::StripItem>(&item); strip && !strip->clip) {
      ++inflows;
      for (const ui::Vec& point : strip->lower) {
        CHECK(point.y >= drawing.map.area.bottom() - 0.01f);
        CHECK(kPlace.contains(point));
      }
    }
  CHECK(inflows == 3);
}

TEST_CASE("thin bands of a river stay apart, and those too thin for a name are named together") {
  // The input and each branch bring as much; the newest branch brings twelve times that.
  experiments::ShareMap map;
  for (size_t i = 0; i < 12; ++i) map.emplace_back(i + 2, 1.0);
  map.back().back() = 12;
  plot::PlotSpec plot = river_of(map);
  plot.pad_right = plot::label_width(plot, wide_letters) + plot::label_offset;
  REQUIRE(plot.river);
  const plot::Drawing drawing = drawing_of(plot, {0, 0, 500, 130});
  const ui::Rect area = drawing.map.area;
  CHECK(area.h * plot.river->share(12, 1) < 7);  // too thin for its name
  const ui::Colour gap = ui::theme(false).panel;
  size_t thin = 0, reaching = 0;
  const plot::StrokeItem* beside = nullptr;
  std::vector<std::string> names;
  for (const plot::Item& item : drawing.items) {
    if (const auto* text = std::get_if<plot::TextItem>(&item); text && text->baseline.x > area.right())
      names.push_back(text->text);
    const auto* line = std::get_if<plot::StrokeItem>(&item);
    if (!line) continue;
    if (!line->clip && line->points.front().x > area.right()) beside = line;
    if (!(line->colour == gap)) continue;
    thin += line->width < 1;
    reaching += line->points.back().x == Approx(area.right()).margin(0.01);
  }
  CHECK(names == std::vector<std::string>{"branch 12", "branches 1–11"});
  CHECK(thin > 0);
  CHECK(reaching == 12);  // every band has a line above it, to the river's end
  REQUIRE(beside);        // as high as the eleven
  CHECK(beside->points.back().y - beside->points.front().y ==
        Approx(11 * area.h * plot.river->share(12, 1) - 2).margin(0.1));
}

TEST_CASE("bands that are named together make way for the name of a thicker one") {
  experiments::ShareMap map;
  for (size_t i = 0; i < 12; ++i) map.emplace_back(i + 2, 1.0);
  map.back()[11] = 11;
  map.back()[12] = 73;
  plot::PlotSpec plot = river_of(map);
  plot.pad_right = plot::label_width(plot, wide_letters) + plot::label_offset;
  const plot::Drawing drawing = drawing_of(plot, {0, 0, 500, 130});
  std::vector<plot::TextItem> names;
  for (const plot::Item& item : drawing.items)
    if (const auto* text = std::get_if<plot::TextItem>(&item);
        text && text->baseline.x > drawing.map.area.right())
      names.push_back(*text);
  REQUIRE(names.size() == 3);
  CHECK(names[1].text == "branch 11");
  CHECK(names[2].text == "branches 1–10");
  CHECK(names[1].baseline.y - names[2].baseline.y > names[1].style.px);
}

TEST_CASE("the texts of a river stand inside its place and cover no other") {
  const Lesson& lesson = *fixture::shipped_course().find("dependency");
  const FiveSeeds kept(lesson);
  // A river that grows a hundredfold begins too thin for its tile and its name.
  const Lesson& grown = *fixture::shipped_course().find("why-a-norm");
  const FiveSeeds kept_grown(grown);
  for (const plot::PlotSpec& river : {figure_plot(lesson, *lesson.figure("river_post"), kept.data()),
                                      figure_plot(lesson, *lesson.figure("river_pre"), kept.data()),
                                      figure_plot(grown, *grown.figure("river_A"), kept_grown.data())})
    for (const ui::Rect& place :
         {ui::Rect{0, 0, 340, 150}, ui::Rect{10, 20, 530, 240}, kPlace, ui::Rect{0, 0, 900, 700}}) {
      INFO(river.title << " " << place.w << " x " << place.h);
      plot::PlotSpec plot = river;
      plot.pad_right = plot::label_width(plot, wide_letters) + plot::label_offset;
      const plot::Drawing drawing = drawing_of(plot, place);
      CHECK(place.contains(drawing.tile));
      std::vector<ui::Rect> boxes{drawing.tile};
      size_t names = 0;
      for (const plot::Item& item : drawing.items)
        if (const auto* t = std::get_if<plot::TextItem>(&item)) {
          const float w = wide_letters(t->style, t->text);
          const float left = t->align == ui::Align::Right    ? t->baseline.x - w
                             : t->align == ui::Align::Centre ? t->baseline.x - w / 2
                                                             : t->baseline.x;
          const ui::Rect box{left, t->baseline.y - 0.75f * t->style.px, w, 0.95f * t->style.px};
          INFO(t->text);
          CHECK(place.contains(box));
          for (const ui::Rect& other : boxes) CHECK_FALSE(box.overlaps(other));
          boxes.push_back(box);
          names += t->text.starts_with("branch");
        }
      CHECK(names >= (river.river->sizes.empty() ? 3 : 2));
    }
}

TEST_CASE("a river is read as a map is") {
  const Lesson& lesson = *fixture::shipped_course().find("dependency");
  const Figure& river = *lesson.figure("river_pre");
  CHECK(river.river);
  CHECK(river.map_run == "C");
  CHECK(river.map_at_start);
  CHECK_FALSE(lesson.figure("map_pre")->river);
}

TEST_CASE("a river is the learner's own as soon as there is one") {
  const Lesson& lesson = *fixture::shipped_course().find("dependency");
  const FiveSeeds kept(lesson);
  FigureData data = kept.data();
  const Figure& figure = *lesson.figure("river_post");
  REQUIRE(figure_plot(lesson, figure, data).river);
  CHECK(figure_plot(lesson, figure, data).river->columns() == 13);
  std::map<std::string, experiments::ShareMap> own;
  data.maps = &own;
  CHECK_FALSE(figure_plot(lesson, figure, data).river);
  own["B start"] = kMap;
  CHECK(figure_plot(lesson, figure, data).river->columns() == 4);
}

TEST_CASE("in Post-LN old bands thin out, in Pre-LN they stay side by side") {
  const Lesson& lesson = *fixture::shipped_course().find("dependency");
  const FiveSeeds kept(lesson);
  FigureData data = kept.data();
  const auto at_end = [&](const char* id) {
    const plot::River river = *figure_plot(lesson, *lesson.figure(id), data).river;
    std::vector<double> shares;
    for (size_t band = 0; band < river.bands.size(); ++band) shares.push_back(river.share(12, band));
    return shares;
  };
  const std::vector<double> post = at_end("river_post"), pre = at_end("river_pre");
  CHECK(post[0] < 0.05);
  CHECK(post[9] + post[10] + post[11] + post[12] > 0.6);
  CHECK(pre[0] > 0.2);
  for (size_t band = 1; band < pre.size(); ++band) CHECK(pre[band] > 0.02);
}

TEST_CASE("every figure of the course is drawn in both themes") {
  size_t rivers = 0;
  for (const Lesson& lesson : fixture::shipped_course().lessons) {
    const FiveSeeds kept(lesson);
    const FigureData data = kept.data();
    for (const Figure& figure : lesson.figures) {
      if (!figure.tape.empty()) continue;
      const plot::PlotSpec plot = figure_plot(lesson, figure, data);
      rivers += plot.river.has_value();
      for (const bool dark : {false, true}) {
        INFO(lesson.id << ": " << figure.id << (dark ? ", dark" : ""));
        const std::string svg = plot::to_svg(plot, ui::theme(dark), {640, 400});
        CHECK(test::well_formed(svg));
        CHECK_FALSE(contains(svg, "nan"));
        if (plot.river) CHECK(contains(svg, ">" + thickest(*plot.river) + "</text>"));
      }
    }
  }
  CHECK(rivers == 9);
}

TEST_CASE(
    "the mean of the five seeds lies within the axis of every figure, so that no line runs along its edge") {
  size_t points = 0;
  for (const Lesson& lesson : fixture::shipped_course().lessons) {
    const FiveSeeds kept(lesson);
    for (const Figure& figure : lesson.figures)
      for (const FigureLine& line : figure.lines) {
        const auto band = kept.results->curves.find(line.curve);
        if (band == kept.results->curves.end() || !figure.walk.empty() || !figure.chain.empty()) continue;
        const double slack = figure.y.log ? 0 : 0.01 * (figure.y.high - figure.y.low);
        const double low = figure.y.log ? figure.y.low / 1.05 : figure.y.low - slack,
                     high = figure.y.high + slack;
        INFO(lesson.id << " " << figure.id << " " << line.curve);
        for (size_t i = 0; i < band->second.x.size(); ++i) {
          if (band->second.x[i] < figure.x.low || band->second.x[i] > figure.x.high) continue;
          const double y = band->second.mean[i];
          ++points;
          if (!(y >= low && y <= high)) FAIL_CHECK(y << " at " << band->second.x[i]);
        }
      }
  }
  CHECK(points > 5000);
}

TEST_CASE("a branch that makes the river much wider joins it along the river's own edge") {
  const experiments::ShareMap steep{{0.5, 0.5}, {0.02, 0.02, 0.96}};
  const auto inflows = [&](bool grows) {
    plot::PlotSpec plot;
    plot.id = plot.title = "river";
    plot.pad_right = 100;
    add_river(steep, plot, words::language("en"), grows);
    const plot::Drawing drawing = drawing_of(plot, kPlace);
    return std::ranges::count_if(drawing.items, [](const plot::Item& item) {
      const auto* strip = std::get_if<plot::StripItem>(&item);
      return strip && !strip->clip;
    });
  };
  CHECK(inflows(false) == 2);
  CHECK(inflows(true) == 1);
}

TEST_CASE("two rivers stand one above the other or side by side, each with its sentence") {
  const Lesson& lesson = *fixture::shipped_course().find("admin");
  const FiveSeeds kept(lesson);
  for (const ui::Vec size : {ui::Vec{1600, 1000}, ui::Vec{1024, 600}}) {
    fixture::PlayerDriver p("", size);
    p.open("admin", StepKind::Explain);
    const Figure& upper = *lesson.figure("river_A");
    const Figure& lower = *lesson.figure(upper.below);
    CHECK(p.shows(lower.title));
    const ui::Rect above = p.driver.control("lesson/plot").rect,
                   below = p.driver.control("lesson/plot/below").rect;
    const bool low = size.y < 700;  // then they stand side by side
    CHECK((low ? above.right() <= below.x : above.bottom() <= below.y));
    CHECK((low ? above.y : above.x) == Approx(low ? below.y : below.x));
    CHECK(above.h == Approx(below.h).margin(20));
    for (const Figure* figure : {&upper, &lower})
      CHECK(p.says(figure_plot(lesson, *figure, kept.data()).sentence));
    p.driver.move_to("lesson/plot/below", {0.5f, 0.5f});  // in the river, at both sizes
    p.driver.frames(60);
    CHECK(p.says("of all shares belong to"));
  }
}

}  // namespace normscope::test_river
