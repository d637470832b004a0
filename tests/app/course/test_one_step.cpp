// These tests cover one step at other rates: its curve beside the run's own numbers, its place in a lesson.toml, the
// ball in the figure as a value, and the user who drags it.
#include "app/course/check.h"
#include "app/course/figures.h"
#include "app/plot/plot.h"
#include "app/support/player_driver.h"
#include "app/support/small_lesson.h"
#include "catch.hpp"
#include "refusals/refusals.h"

namespace normscope::test_one_step {
namespace {

using namespace course;
using fixture::replaced;
using test::contains;

const std::string kCurve =
    "[curve.step]\nof = \"one_step\"\nrun = \"A\"\ny = \"change\"\nstep = 3\nxs = [0, 0.003, 0.006]\n\n";
const std::string kFigure =
    "[figure.valley]\ntitle = \"V\"\nx = { label = \"rate\", low = 0, high = 0.006, ticks = [0] }\n"
    "y = { label = \"change\", low = -1, high = 1, ticks = [0] }\n"
    "lines = [{ curve = \"step\", run = \"A\" }]\nball = \"step\"\n\n";

/// The small lesson with a curve of one step and a figure of it.
std::string with_step() {
  const std::string curve =
      replaced(test::refusal_base("lesson"), "[curve.over_time]", kCurve + "[curve.over_time]");
  return replaced(curve, "[step.predict]", kFigure + "[step.predict]");
}

/// The small lesson with a curve that it is given.
struct Valley {
  explicit Valley(std::vector<double> y) : own{{"step", {{0, 0.003, 0.006}, std::move(y)}}} {}
  plot::PlotSpec at(std::optional<double> rate, const std::string& hidden = "") const {
    FigureData data{.own = &own, .draw_only = hidden, .ball = rate};
    return figure_plot(lesson, *lesson.figure("valley"), data);
  }
  const Lesson lesson = fixture::parsed_lesson(with_step());
  const CurveSet own;
};

const std::string kEdge = "edge-of-stability";

}  // namespace

TEST_CASE("a curve of one step is the loss along it, less the loss before it", "[lesson]") {
  const Lesson lesson = fixture::parsed_lesson(with_step());
  experiments::RunStore store(1);
  const Curve& curve = *lesson.curve("step");
  const CurveData valley = measure_curve(lesson, curve, 1, store);
  CHECK(valley.x == std::vector<double>{0, 0.003, 0.006});
  CHECK(valley.y[0] == 0);
  // Against a run that is stepped by hand, of which the curve knows nothing.
  const RunSpec spec = spec_of(lesson, "A", 1);
  Run run(spec, store.task(spec.data), store.backend());
  run.step();
  run.step();
  const std::vector<double> losses = run.step_along(curve.xs);
  for (size_t i = 0; i < losses.size(); ++i) CHECK(valley.y[i] == losses[i] - losses[0]);
  CHECK(valley.y[1] != 0);
  CHECK(rate_in_use(lesson, curve, {}) == learning_rate(spec.train.schedule, 3));
  CHECK(rate_in_use(lesson, curve, {{"A", {{"train.lr", "0.25"}}}}) == Approx(0.25));
  CHECK(drawn_grid(lesson, curve) == valley.x);
  CHECK(definition(lesson) !=
        definition(fixture::parsed_lesson(replaced(with_step(), "step = 3", "step = 2"))));
  // A user who stops the measurement stops it on the way to the step.
  const auto stop = [](const experiments::RunProgress&) { return false; };
  CHECK_THROWS_AS(measure_curve(lesson, curve, 1, store, stop), experiments::Cancelled);
}

TEST_CASE("where a curve of one step comes back", "[lesson]") {
  const auto back = [](std::vector<double> y) { return comes_back({{0, 1, 2, 4}, std::move(y)}); };
  CHECK(back({0, -1, -1, 1}) == 3.0);
  CHECK(back({0, -1, 3, 9}) == 1.25);
  CHECK_FALSE(back({0, -1, -2, -1}));
  CHECK_FALSE(back({0, 1, 2, 3}));  // uphill from the beginning
}

TEST_CASE("the ball lies on a measured point, and its sentence says what the step does there", "[lesson]") {
  const Valley valley({0, -0.25, 0.5});
  const plot::PlotSpec left = valley.at(0.0003), middle = valley.at(0.0035), right = valley.at(1);
  REQUIRE(middle.handles.size() == 1);
  CHECK(middle.handles[0].x == 0.003);
  CHECK(middle.handles[0].y == -0.25);
  CHECK(middle.handles[0].value == middle.sentence);
  CHECK(right.handles[0].x == 0.006);
  CHECK(middle.sentence == "At a rate of 0.003 this step of A lowers the loss of its batch by 0.25 nats.");
  CHECK(right.sentence ==
        "At a rate of 0.006 this step of A overshoots: it raises the loss of its batch by 0.5 nats.");
  CHECK(left.sentence == "At a rate of 0 run A stands still: this is the loss before the step.");
  CHECK(contains(Valley({0, 0.25, 0.5}).at(0.006).sentence, "and a shorter one raises it too"));
  CHECK(contains(Valley({0, -0.25, 0}).at(0.006).sentence, "leaves the loss of its batch as it was"));
  // Where the user left it nowhere, it lies at the rate in use.
  CHECK(valley.at(std::nullopt).handles[0].x == 0.003);
  // Nothing but the ball and its words depends on where it lies.
  CHECK(plot::to_csv(left) == plot::to_csv(right));
  // It stays on the axis where the loss leaves it, and says what was measured.
  const plot::PlotSpec above = Valley({0, -0.25, 7}).at(0.006);
  CHECK(above.handles[0].y == 1);
  CHECK(contains(above.sentence, "by 7 nats"));
  CHECK(Valley({0, -0.25, std::nan("")}).at(0.006).handles[0].y == 1);
}

TEST_CASE("a figure with a ball marks the level before the step, the rate in use and the critical one",
          "[lesson]") {
  const plot::PlotSpec plot = Valley({0, -0.25, 0.5}).at(std::nullopt);
  REQUIRE(plot.lines.size() == 3);
  CHECK(plot.lines[0].horizontal);
  CHECK(plot.lines[0].value == 0);
  CHECK_FALSE(plot.lines[1].horizontal);
  CHECK(plot.lines[1].value == Approx(0.003));
  CHECK_FALSE(plot.lines[2].horizontal);
  CHECK(plot.lines[2].value == Approx(0.003 + 0.003 / 3));
  CHECK(Valley({0, -0.25, -0.5}).at(std::nullopt).lines.size() == 2);
  // Before the prediction there is nothing, before the measurement no ball.
  const plot::PlotSpec hidden = Valley({0, -0.25, 0.5}).at(std::nullopt, "nothing");
  CHECK(hidden.handles.empty());
  CHECK(hidden.lines.empty());
  CHECK(hidden.series.empty());
  CHECK(hidden.sentence.empty());
  const plot::PlotSpec waits = Valley({}).at(std::nullopt);
  CHECK(waits.handles.empty());
  CHECK(waits.sentence.empty());
  CHECK(waits.lines.size() == 1);
}

TEST_CASE("lesson 15: where the valley comes back is where the critical rate was measured", "[lesson]") {
  Lesson lesson = *fixture::shipped_course().find(kEdge);
  for (LessonRun* run : lesson.all_runs()) run->spec.train.steps = 201;  // what follows is not asked for
  Curve measured = *lesson.curve("critical_B");
  measured.to = 201;
  experiments::RunStore store(1);
  const CurveData valley = measure_curve(lesson, *lesson.curve("step_B"), 1, store),
                  critical = measure_curve(lesson, measured, 1, store);
  const auto at = std::ranges::find(critical.x, 201.0);
  REQUIRE(at != critical.x.end());
  REQUIRE(comes_back(valley));
  CHECK(*comes_back(valley) ==
        Approx(critical.y[static_cast<size_t>(at - critical.x.begin())]).epsilon(0.03));
}

}  // namespace normscope::test_one_step
