// These tests cover borders of a lesson: the format, the runs that they ask for, the cells that a sweep would judge in
// the same way, the figure with a prediction over it, and lesson 11 by hand.
#include "app/course/check.h"
#include "app/course/map.h"
#include "app/course/reader.h"
#include "app/plot/plot.h"
#include "app/support/player_driver.h"
#include "app/support/small_lesson.h"
#include "catch.hpp"
#include "refusals/refusals.h"

namespace normscope::test_lesson_map {
namespace {

using namespace course;
using fixture::parsed_lesson;
using fixture::PlayerDriver;
using test::contains;

const std::string kSmall = test::refusal_base("lesson-map");

/// Two rows of three cells: the lower one learns everywhere, the upper one from the second column on.
CurveSet made_up() {
  CurveSet curves;
  const std::vector<double> x{0, 10, 20};
  curves["edge.1"] = {x, {-0.5, -0.5, -0.5}};
  curves["edge.1.learns"] = {x, {1, 1, 1}};
  curves["edge.2"] = {x, {0.1, -1, -2}};
  curves["edge.2.learns"] = {x, {0, 1, 1}};
  curves["edge"] = {x, {0.000001, 0.02, 0.02}};
  return curves;
}

}  // namespace

TEST_CASE("a border is read with its cells beside it, and all of its runs are the lesson's", "[lesson]") {
  const Lesson lesson = parsed_lesson(kSmall);
  std::vector<std::string> ids;
  for (const Curve& curve : lesson.curves) ids.push_back(curve.id);
  CHECK(ids == std::vector<std::string>{"edge.1", "edge.1.learns", "edge.2", "edge.2.learns", "edge"});
  CHECK(lesson.curve("edge.2")->y == "final_excess");
  CHECK(lesson.curve("edge.2")->values == std::vector<double>{0.02});
  const auto runs = runs_of({&lesson}, Tier::Fast);
  REQUIRE(runs.size() == 6);  // each once
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const auto& run : runs)
    pairs.emplace_back(get_field(run.spec, "train.lr"), get_field(run.spec, "train.warmup"));
  std::ranges::sort(pairs);
  CHECK(std::unique(pairs.begin(), pairs.end()) == pairs.end());
  CHECK(std::ranges::count_if(pairs, [](const auto& p) { return p.second == "10"; }) == 2);
  CHECK(runs_of({&lesson}, Tier::Full).size() == 6 * kFullSeeds);
  Lesson other = lesson;
  for (Curve& curve : other.curves)
    if (curve.id == "edge") curve.values.back() = 0.03;
  CHECK(definition(other) != definition(lesson));
  // A learner's setting reaches every cell.
  const RunSpec changed = spec_of(lesson, "A", 1, {{"A", {{"model.layers", "2"}}}});
  for (const auto& point : points_of(*lesson.curve("edge"), {changed})) CHECK(point.spec.model.layers == 2);
}

TEST_CASE("a border is the largest value that learns, by the cells beside it", "[lesson]") {
  const Lesson lesson = parsed_lesson(kSmall);
  experiments::RunStore store(1);
  const Curve &border = *lesson.curve("edge"), &upper = *lesson.curve("edge.2");
  const RunSpec spec = spec_of(lesson, "A", 1);
  CHECK(finished_part(upper, {spec}, store).y.empty());
  store.get({with_value(with_value(spec, "train.lr", 0.02), "train.warmup", 0)}, {});
  CHECK(finished_part(upper, {spec}, store).x == std::vector<double>{0});  // live: one cell so far
  CurveSet seed;
  for (const Curve& curve : lesson.curves) seed[curve.id] = measure_curve(lesson, curve, 1, store);
  CHECK(store.trained() == 6);
  CHECK(finished_part(upper, {spec}, store).y == seed.at("edge.2").y);
  REQUIRE(seed.at("edge").x == border.xs);
  for (size_t i = 0; i < border.xs.size(); ++i) {
    CHECK(seed.at("edge.1.learns").y[i] == 0);  // at a millionth nothing is learned
    CHECK(std::abs(seed.at("edge.2").y[i]) < 10);
    CHECK(seed.at("edge").y[i] == (seed.at("edge.2.learns").y[i] > 0 ? 0.02 : 0));
  }
}

TEST_CASE("cells are judged as a sweep judges them", "[lesson]") {
  const Lesson lesson = parsed_lesson(kSmall);
  const Curve& border = *lesson.curve("edge");
  CurveSet own = made_up();
  FigureData data;
  data.own = &own;
  CellMap map = cells_of(border, data);
  const auto known = [&] {
    return std::ranges::count_if(map.cells, [](const MapCell& cell) { return cell.known > 0; });
  };
  CHECK(known() == 6);
  CHECK(map.at(0, 1).side() == grid::Side::Other);
  CHECK(map.at(1, 1).side() == grid::Side::Learns);
  CHECK(map.share_learned(map.at(2, 1)) == 1);
  CHECK(map.share_learned(map.at(1, 1)) == 0.5);
  CHECK(map.share_learned(map.at(0, 1)) < 0);
  const std::vector<grid::Segment> corner{{1, 1, 1, 2}, {0, 1, 1, 1}};
  CHECK(map.border() == corner);
  // While it is measured: what is not known is neither coloured nor on a side.
  own["edge.2"] = {{0}, {0.1}};
  own.erase("edge.2.learns");
  map = cells_of(border, data);
  CHECK(known() == 4);
  CHECK(map.at(1, 1).side() == grid::Side::None);
  // Five seeds: at least half of them.
  Results kept;
  kept.seeds = 5;
  for (const auto& [id, curve] : made_up()) kept.curves[id] = {curve.x, curve.y, curve.y, curve.y};
  kept.curves["edge.2.learns"].mean = {0.4, 0.6, 1};
  data = {};
  data.reference = &kept;
  map = cells_of(border, data);
  CHECK(map.at(0, 1).learn == 2);
  CHECK(map.at(1, 1).learn == 3);
  CHECK(map.border() == corner);
  // A number that is none has no colour.
  kept.curves["edge.2"].mean[2] = std::numeric_limits<double>::quiet_NaN();
  map = cells_of(border, data);
  CHECK_FALSE(std::isfinite(map.share_learned(map.at(2, 1))));
  CHECK(map.at(2, 1).side() == grid::Side::Other);
}

TEST_CASE("a map's figure has the axes of its values, and shows nothing before the prediction", "[lesson]") {
  const Lesson lesson = parsed_lesson(kSmall);
  const Figure& figure = *lesson.figure("map");
  CHECK(figure.x.low == -5);
  CHECK(figure.x.high == 25);
  CHECK_FALSE(figure.x.log);
  CHECK(figure.y.log);
  CHECK(figure.x.label == "warm-up, steps");
  const CurveSet own = made_up();
  FigureData data{.own = &own, .drawn_x = {0, 10, 20}, .drawn_y = {0.000001, 0.001, 0.01}};
  plot::PlotSpec plot = figure_plot(lesson, figure, data);
  REQUIRE(plot.heat);
  CHECK(plot.heat->columns == 3);
  CHECK(plot.heat->rows == 2);
  CHECK(plot.heat->cells[5] == 1);  // upper row, last column
  CHECK(plot.heat->cells[3] == 0);
  const auto named = [&](const std::string& id) {
    return std::ranges::find_if(plot.series, [&](const auto& s) { return s.id == id; });
  };
  REQUIRE(named("border 1") != plot.series.end());
  CHECK(named("border 1")->x[0] == Approx(5));
  CHECK(named("border 1")->y[0] == Approx(std::sqrt(0.000001 * 0.02)));
  CHECK(named("edge") != plot.series.end());
  CHECK(named("edge")->letter.empty());
  CHECK(named("prediction") != plot.series.end());
  for (const bool dark : {false, true})
    CHECK(contains(plot::to_svg(plot, ui::theme(dark), {640, 400}), "<svg"));
  data.draw_only = "nothing";
  plot = figure_plot(lesson, figure, data);
  CHECK_FALSE(plot.heat);
  CHECK(plot.series.empty());
}

TEST_CASE("the texts of the map of rates tell of no rate and no ratio where a map has no border",
          "[lesson]") {
  const Lesson lesson = *read_course(NORMSCOPE_SOURCE_DIR "/lessons").find("map-of-rates");
  const auto border = [](double cold, double warm) { return CurveData{{0, 60, 120}, {cold, cold, warm}}; };
  size_t values = 0;
  for (int which = 0; which < 16; ++which) {
    const auto rate = [&](int bit, double learns) { return (which & bit) != 0 ? learns : 0; };
    const CurveSet curves{{"border_A", border(rate(1, 0.001), rate(2, 0.004))},
                          {"border_C", border(rate(4, 0.064), rate(8, 0.064))}};
    const auto value = [&](const std::string& measure) {
      return std::optional(evaluate(lesson, *lesson.measure(measure), curves));
    };
    for (const StepKind step : {StepKind::Compare, StepKind::Explain})
      for (const Block& block : lesson.step(step).text.blocks)
        for (const Inline& piece : read_as(block.inlines, value, "")) {
          if (piece.kind != Inline::Kind::Value) continue;
          ++values;
          INFO("borders " << which << ", " << to_string(step) << ": " << piece.text);
          CHECK(*value(piece.text) > 0);
          CHECK(std::isfinite(*value(piece.text)));
        }
  }
  CHECK(values > 16);
}

TEST_CASE("the map of rates: a border drawn right and one drawn wrong", "[player]") {
  const auto drawn = [](bool right) {
    PlayerDriver p;
    p.driver.click("lesson/list/map-of-rates");
    REQUIRE(p.player().lesson()->id == "map-of-rates");
    const auto kept = load_results(*p.player().lesson());
    REQUIRE(kept);
    const CurveBand& border = kept->curves.at("border_A");
    p.focus("lesson/draw");
    CHECK(p.says("draw on to 120 steps"));  // the axis is called "warm-up, steps"
    for (size_t i = 1; i < border.x.size(); ++i) p.driver.key("Right");
    const int up = static_cast<int>(std::lround(10 * std::log10(border.mean.back() / border.mean.front())));
    for (int i = 0; i < std::abs(up); ++i) p.driver.key(right == (up > 0) ? "Up" : "Down");
    p.click("lesson/next");
    p.click("lesson/next");
    REQUIRE(p.player().step() == StepKind::Compare);
    return p.player().progress("map-of-rates").score;
  };
  const std::string right = drawn(true), wrong = drawn(false);
  CHECK((right == "close" || right == "exactly right"));
  CHECK(contains(wrong, "too low"));
}

}  // namespace normscope::test_lesson_map
