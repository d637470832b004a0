// These tests cover the walk of a gradient down a stack: its curve beside the run's own history, its arrows in numbers,
// and what a user, a file and a sheet of paper see of it.
#include "answers.h"
#include "app/course/check.h"
#include "app/course/figures.h"
#include "app/course/pictures/pictures.h"
#include "app/course/report.h"
#include "app/course/tapes.h"
#include "app/plot/plot.h"
#include "app/support/player_driver.h"
#include "app/support/shipped_course.h"
#include "app/support/small_lesson.h"
#include "app/support/well_formed.h"
#include "app/ui/numbers.h"
#include "app/ui/paint.h"
#include "catch.hpp"
#include "engine/cpu/backend_cpu.h"
#include "engine/tape/seal.h"
#include "refusals/refusals.h"
#include "training/measure/initial_analysis.h"

namespace normscope::test_walk {
namespace {

using namespace course;
using test::contains;

const FigureAxis kScale{"length", true, 1e-4, 10, {1, 0.1}};

const Lesson& first_steps() { return *fixture::shipped_course().find("first-steps"); }

/// A figure of lesson 3 with the numbers of five seeds.
struct Seen : fixture::FiveSeeds {
  Seen() : FiveSeeds(first_steps()) {}
  const Figure& figure = *first_steps().figure("walk");
  Walk at(int32_t step) const { return walk_at(first_steps(), figure, data(), step); }
};

/// A walk by hand: one stack whose gradient fades, one of which nothing is known.
Walk two_stacks() {
  Walk walk;
  walk.stacks = {{0, "Post-LN", {0.001, 0.01, 0.1}}, {2, "Pre-LN", {}}};
  walk.layers = 3;
  walk.step = 7;
  walk.scale = kScale;
  return walk;
}

TEST_CASE("a profile of several steps has every layer of a step before those of the next", "[lesson]") {
  const std::string base = test::refusal_base("lesson");
  const std::string y = "y = \"L*.ffn.w2.grad_norm / L01.ffn.w2.grad_norm\"\nstep = 2";
  const std::string line = "  { curve = \"by_layer\", run = \"A\" },\n";
  const auto with_axis = [&](const char* axis) {
    return fixture::parsed_lesson(fixture::replaced(
        fixture::replaced(base, y, std::string("y = \"L*.ffn.w2.grad_norm\"\n") + axis), line, ""));
  };
  const Lesson walked = with_axis("steps = [2, 4]"), still = with_axis("step = 3");
  experiments::RunStore store(1);
  const CurveData walk = measure_curve(walked, walked.curves[0], 1, store),
                  one = measure_curve(still, still.curves[0], 1, store);
  const auto run = store.get(run_of(walked, "A", 1), {});
  CHECK(store.trained() == 1);
  CHECK(walk.x == std::vector<double>{1, 2, 3, 4, 5, 6});
  for (int32_t step = 2; step <= 4; ++step)
    for (int32_t layer = 1; layer <= 2; ++layer) {
      const History& history = *run->history;
      const Series series = history.series(history.find(fmt::format("L{:02}.ffn.w2.grad_norm", layer)));
      const auto at = static_cast<size_t>((step - 2) * 2 + layer - 1);
      CHECK(walk.y[at] == static_cast<double>(series.values[static_cast<size_t>(step - 1)]));
    }
  CHECK(one.x == std::vector<double>{1, 2});
  CHECK(one.y == std::vector<double>{walk.y[2], walk.y[3]});
  CHECK((is_walk(walked.curves[0]) && grows(walked.curves[0]) && !is_walk(still.curves[0])));
  CHECK(drawn_grid(walked, walked.curves[0]).empty());
  CHECK(definition(walked) != definition(still));
}

TEST_CASE("an arrow is as wide as the logarithm of its length", "[lesson]") {
  CHECK(arrow_width(kScale, 10, 50) == Approx(50));
  CHECK(arrow_width(kScale, 1e-4, 50) == 0);
  CHECK(arrow_width(kScale, 1000, 50) == Approx(50));  // none is wider
  CHECK(arrow_width(kScale, 0, 50) == 0);
  CHECK(arrow_width(kScale, std::numeric_limits<double>::quiet_NaN(), 50) == 0);
  for (const double length : {1e-3, 0.01, 0.1, 1.0})
    CHECK(arrow_width(kScale, length, 50) - arrow_width(kScale, length / 10, 50) == Approx(10));
}

TEST_CASE("the arrows of a stack lie one above the other, each into its layer", "[lesson]") {
  for (const ui::Rect rect :
       {ui::Rect{10, 20, 600, 300}, ui::Rect{0, 0, 1200, 700}, ui::Rect{0, 0, 500, 170}}) {
    const std::vector<std::vector<WalkArrow>> all = walk_arrows(two_stacks(), rect);
    REQUIRE((all.size() == 2 && all[0].size() == 3 && all[1].empty()));
    for (size_t layer = 0; layer < 3; ++layer) {
      const WalkArrow& arrow = all[0][layer];
      CHECK(rect.contains(arrow.shaft));
      CHECK(arrow.shaft.centre().x == Approx(arrow.tip.x));
      CHECK(arrow.tip.y > arrow.shaft.bottom());
      if (layer > 0) CHECK(arrow.tip.y + 10 < all[0][layer - 1].shaft.y);  // the upper layer lies between
    }
    const float widest = all[0][2].shaft.w * 5 / 3;
    CHECK(all[0][0].shaft.w == Approx(widest / 5));
    CHECK(all[0][1].shaft.w == Approx(2 * widest / 5));
  }
}

TEST_CASE("a walk says in words how much the lowest layer hears", "[lesson]") {
  const Words& words = words::language("en");
  Walk walk = two_stacks();
  CHECK(walk_sentence(walk, words) == "At step 7 layer 1 of A hears about a hundredth as much as layer 3.");
  walk.stacks[1].lengths = {0.06, 0.1, 0.1};
  CHECK(contains(walk_sentence(walk, words), " as layer 3; in C half as much."));
  walk.stacks[1].lengths = {0.1, 0.1, 0.11};
  CHECK(contains(walk_sentence(walk, words), "; in C as much."));
  walk.stacks[0].lengths[0] = std::numeric_limits<double>::quiet_NaN();
  CHECK(contains(walk_sentence(walk, words), "layer 1 of C hears about as much as layer 3."));
  walk.stacks.clear();
  CHECK(walk_sentence(walk, words).empty());
}

TEST_CASE("of a model with two stacks a walk names the part, and says whose it is", "[lesson]") {
  const Words& words = words::language("en");
  Walk walk = two_stacks();
  walk.stacks[0].part = "decoder";
  walk.stacks[1] = {0, "encoder", {0.1, 0.1, 0.1}, "encoder"};
  CHECK(
      walk_sentence(walk, words) ==
      "At step 7 layer 1 of A (decoder) hears about a hundredth as much as layer 3; in A (encoder) as much.");
  const Lesson& lesson = *fixture::shipped_course().find("two-stacks");
  const Walk start = walk_at(lesson, *lesson.figure("walk"), fixture::FiveSeeds(lesson).data(), 1);
  REQUIRE(start.stacks.size() == 4);
  const char* parts[] = {"decoder", "encoder", "decoder", "decoder"};
  for (size_t i = 0; i < 4; ++i) {
    CHECK((start.stacks[i].part == parts[i] && start.stacks[i].name == parts[i]));
    REQUIRE(start.stacks[i].lengths.size() == 6);
  }
  const auto fall = [&](size_t i) { return start.stacks[i].lengths[5] / start.stacks[i].lengths[0]; };
  CHECK((fall(0) > 2.8 && fall(1) < 2 && fall(2) < 1.7));
}

TEST_CASE("beside an arrow stands what the norms on its way divide by, in their order", "[lesson]") {
  const Lesson& lesson = *fixture::shipped_course().find("two-stacks");
  const fixture::FiveSeeds kept(lesson);
  const FigureData data = kept.data();
  const Figure& figure = *lesson.figure("walk");
  const Walk start = walk_at(lesson, figure, data, opening_step(figure, walk_steps(lesson, figure, data)));
  CHECK(start.step == 1);
  const auto square = [&](const char* curve, size_t layer) {
    return kept.results->curves.at(curve).mean[layer - 1];
  };
  const Walk::Stack& decoder = start.stacks[0];
  REQUIRE(decoder.divisors.size() == 6);
  CHECK(decoder.divisors[5] == std::vector{std::sqrt(square("sum_ffn_dec_A", 6))});
  // From layer 3 down to layer 2: cross-attention's norm of layer 3, self-attention's, then layer 2's own last one.
  CHECK(decoder.divisors[1] == std::vector{std::sqrt(square("sum_cross_dec_A", 3)),
                                           std::sqrt(square("sum_attn_dec_A", 3)),
                                           std::sqrt(square("sum_ffn_dec_A", 2))});
  CHECK(start.stacks[1].divisors[1].size() == 2);
  CHECK(start.stacks[2].divisors.empty());  // Pre-LN has no norm on the stream
  for (size_t layer = 1; layer < 6; ++layer) CHECK(decoder.divisors[layer - 1][0] > 1.1);
}

TEST_CASE("the divisors are written one by one, or where room is short as their product", "[lesson]") {
  ui::to_svg("divisors", [](ui::Painter& p, const ui::Theme&) {
    const std::vector<double> three{1.25, 2, 1};
    CHECK(divisors_text(p, three, 400) == "÷ 1.25 ÷ 2 ÷ 1");
    CHECK(divisors_text(p, three, 60) == "÷ 2.5");
    CHECK(divisors_text(p, {}, 400).empty());
    return ui::Vec{10, 10};
  });
}

TEST_CASE("a norm divides the gradient by the spread of what it read, but for what lies along the row",
          "[lesson]") {
  const auto backend = make_cpu_backend(1);
  ModelConfig config;
  config.layers = 3;
  config.vocabulary = 40;
  set_placement(config, Placement::Post);
  Store store(*backend);
  Tape tape(store);
  const ModelValues model = record_transformer(tape, config, {.batch = 4, .sequence = 32});
  store.materialize(1);
  Program program = seal(tape, {.loss = model.loss, .update = kNoOp});
  const Batch batch = random_batch(config, 4, 32, 1);
  std::ranges::copy(batch.tokens, program.tokens("tokens").begin());
  std::ranges::copy(batch.targets, program.tokens("targets").begin());
  program.replay({});
  const auto norm = [&](ValueId value, bool gradient) {
    double sum = 0;
    const std::vector<float> x = program.read(tape.value(value).name, gradient);
    for (float v : x) sum += static_cast<double>(v) * v;
    return std::sqrt(sum / (gradient ? 1 : static_cast<double>(x.size())));
  };
  for (const SublayerValues& sub : model.sublayers) {
    INFO(sub.name);
    const double passed = norm(sub.sum, true) / norm(sub.output, true), spread = norm(sub.sum, false);
    CHECK(spread > 1.05);  // or nothing would be told apart from passing unchanged
    CHECK(passed * spread < 1.03);
    CHECK(passed * spread > 0.75);
  }
}

TEST_CASE("in lesson 3 A's arrows thin out towards layer 1, and those of B and C do not", "[lesson]") {
  const Seen seen;
  CHECK(walk_steps(first_steps(), seen.figure, seen.data()) == std::pair<int32_t, int32_t>{1, 20});
  const CurveBand& lowest = seen.results->curves.at("g1_A");
  for (int32_t step = 1; step <= 20; ++step) {
    const Walk walk = seen.at(step);
    REQUIRE((walk.stacks.size() == 3 && walk.layers == 6 && walk.stacks[0].lengths.size() == 6));
    CHECK(walk.stacks[0].lengths[0] == lowest.mean[static_cast<size_t>(step - 1)]);
  }
  const auto arrows = walk_arrows(seen.at(20), {0, 0, 600, 400});
  for (size_t layer = 1; layer < 6; ++layer)
    CHECK(arrows[0][layer].shaft.w > arrows[0][layer - 1].shaft.w * 1.1f);
  for (const size_t run : {1, 2}) CHECK(arrows[run][0].shaft.w > 3 * arrows[0][0].shaft.w);
  FigureData hidden = seen.data();
  hidden.draw_only = "nothing";
  CHECK(walk_steps(first_steps(), seen.figure, hidden).second == 0);
  for (const Walk::Stack& stack : walk_at(first_steps(), seen.figure, hidden, 20).stacks)
    CHECK(stack.lengths.empty());
  // While a run trains its stack follows, and the others wait.
  CurveSet own{{"walk_A", {{1, 2, 3, 4, 5, 6, 7}, {1, 2, 3, 4, 5, 6, 7}}}};
  FigureData growing = seen.data();
  growing.own = &own;
  CHECK(walk_steps(first_steps(), seen.figure, growing).second == 1);
  const Walk walk = walk_at(first_steps(), seen.figure, growing, 1);
  CHECK(walk.stacks[0].lengths == std::vector<double>{1, 2, 3, 4, 5, 6});
  CHECK(walk.stacks[1].lengths.empty());
}

TEST_CASE("a walk goes to the report and to the teacher, at its last step, and not to the student",
          "[lesson]") {
  const Seen seen;
  for (const bool dark : {false, true}) {
    const std::string svg = kept_svg(first_steps(), seen.figure, *seen.results, ui::theme(dark), {640, 400});
    CHECK(test::well_formed(svg));
    CHECK(contains(svg, "mean of 5 seeds"));
    CHECK(contains(svg, "At step 20 layer 1 of A hears about a thousandth"));
    for (const Walk::Stack& stack : seen.at(20).stacks)
      for (const double length : stack.lengths) CHECK(contains(svg, ">" + ui::number(length, 2) + "</text>"));
    CHECK(contains(svg, "÷ " + ui::number(seen.at(20).stacks[0].divisors[5][0], 3)));
  }
}

// The chain of branches: its curves beside the sums of the layers, its angles in numbers, and what a hand, a file and
// a sheet of paper see of it.

const Lesson& last_layer() { return *fixture::shipped_course().find("last-layer"); }
const Figure& arrows() { return *last_layer().figure("arrows"); }

/// The figure of lesson 4 with squares that it is given.
struct ByHand {
  ByHand(std::vector<double> path, std::vector<double> branches)
      : own{{"path", {{}, std::move(path)}}, {"branches", {{}, std::move(branches)}}} {}
  Chain at(int32_t layers, const std::string& hidden = "") const {
    FigureData data{.own = &own, .draw_only = hidden};
    return chain_of(arrows(), data, layers);
  }
  CurveSet own;
};

double apart(ui::Vec a, ui::Vec b) { return static_cast<double>(std::hypot(a.x - b.x, a.y - b.y)); }

TEST_CASE("the path of a stream is its input and the sum behind each sub-layer", "[lesson]") {
  std::string curves;
  for (const char* y : {"path", "branch", "stream", "attention_stream"})
    curves += fmt::format("[curve.{0}]\nof = \"layers\"\nrun = \"A\"\ny = \"{0}\"\n\n", y);
  const Lesson lesson = fixture::parsed_lesson(
      fixture::replaced(test::refusal_base("lesson"), "[curve.over_time]", curves + "[curve.over_time]"));
  experiments::RunStore store(1);
  const auto of = [&](const char* y) { return measure_curve(lesson, *lesson.curve(y), 1, store).y; };
  const std::vector<double> path = of("path"), branch = of("branch"), stream = of("stream"),
                            attention = of("attention_stream");
  REQUIRE((path.size() == 5 && branch.size() == 4 && stream.size() == 2));
  for (size_t layer = 0; layer < 2; ++layer) {
    CHECK(path[2 * layer + 1] == attention[layer]);
    CHECK(path[2 * layer + 2] == stream[layer]);
  }
  for (const double square : branch) CHECK(square > 0);
}

TEST_CASE("arrows at right angles make roots, arrows in one line a line", "[lesson]") {
  const ByHand right({4, 8, 12, 16, 20}, {4, 4, 4, 4});
  const Chain chain = right.at(2);
  REQUIRE((chain.ends.size() == 5 && chain.shown == 4));
  for (size_t i = 0; i < 5; ++i) CHECK(apart(chain.ends[i], {0, 0}) == Approx(std::sqrt(i + 1.0)));
  for (size_t i = 1; i < 5; ++i) CHECK(apart(chain.ends[i], chain.ends[i - 1]) == Approx(1));
  CHECK(chain.times() == Approx(std::sqrt(5.0)));
  CHECK(chain.straight == Approx(5));
  CHECK(right.at(1).times() == Approx(std::sqrt(3.0)));
  CHECK(right.at(1).straight == Approx(3));
  CHECK(right.at(1).ends.size() == 5);  // the picture keeps its scale
  CHECK(right.at(9).shown == 4);
  const Chain line = ByHand({1, 4, 9}, {1, 1}).at(1);
  CHECK(line.times() == Approx(line.straight));
  for (const ui::Vec& end : line.ends) CHECK(end.y == Approx(0).margin(1e-3));
  CHECK(right.at(2, "nothing").ends.empty());
  CHECK(chain_sentence(right.at(2, "nothing"), words::language("en")).empty());
  CHECK(
      chain_sentence(chain, words::language("en")) ==
      "After 2 layers the stream is 2.24 times as long as its input; in one line its arrows would be 5 times "
      "as long.");
}

TEST_CASE("the whole chain lies in the picture, whatever is shown of it", "[lesson]") {
  const ByHand right({1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 1, 1, 1, 1, 1, 1, 1});
  for (const ui::Rect rect : {ui::Rect{10, 20, 560, 260}, ui::Rect{0, 0, 300, 700}}) {
    const std::vector<ui::Vec> points = chain_points(right.at(4), rect),
                               few = chain_points(right.at(1), rect);
    REQUIRE(points.size() == 10);
    const double unit = apart(points[0], points[1]);
    for (size_t i = 0; i < points.size(); ++i) {
      CHECK(rect.contains(points[i]));
      CHECK(apart(points[i], few[i]) == 0);
      if (i > 0) CHECK(apart(points[i], points[i - 1]) == Approx(unit).epsilon(1e-3));
    }
  }
}

TEST_CASE("in lesson 4 the arrows would be several times as long in one line", "[lesson]") {
  const fixture::FiveSeeds kept(last_layer());
  const FigureData data = kept.data();
  REQUIRE(chain_layers(arrows(), data) == 18);
  const Chain all = chain_of(arrows(), data, 18), half = chain_of(arrows(), data, 9);
  CHECK(all.straight > 3 * all.times());
  CHECK(all.times() / half.times() < 1.6);  // a root has 1.4 for twice the depth
  for (const bool dark : {false, true}) {
    const std::string svg = kept_svg(last_layer(), arrows(), *kept.results, ui::theme(dark), {640, 400});
    CHECK(test::well_formed(svg));
    CHECK(contains(svg, "After 18 layers the stream is " + ui::number(all.times(), 3)));
  }
}

// One step at other rates: its curve beside the run's own numbers, its place in a lesson.toml, the ball in the figure
// as a value, and the user who drags it.

using fixture::replaced;

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

// A tape drawn as a network: where its boxes lie, how one number is followed through it, forward and backward, what
// the reader refuses, and the user who points at a number.

using fixture::by_hand, fixture::PlayerDriver;

struct Drawn {
  SmallTape tape = by_hand().tape("net")->tape;
  TapeTable table;
  TapeNetwork network;
  explicit Drawn(size_t done) : table(table_of_tape(tape, done)), network(network_of(tape, table)) {}
  size_t box(const std::string& name) const {
    const auto it = std::ranges::find(table.rows, name, &TapeRow::name);
    return static_cast<size_t>(it - table.rows.begin());
  }
  const NetworkBox& of(const std::string& name) const { return network.boxes[box(name)]; }
};

std::string line(size_t index, size_t place) {
  const SmallTape tape = by_hand().tape("net")->tape;
  return followed(tape, replay_small_tape(tape), index, place, words::language("en"));
}

}  // namespace

TEST_CASE("a network's branch stands beside the stream and weights beside what they multiply", "[lesson]") {
  const Drawn d(0);
  CHECK(d.network.levels == 8);  // x, then h, r, f, s, y, p, L
  CHECK(d.network.columns == 3);
  for (const char* name : {"x", "s", "y", "p", "L"}) CHECK(d.of(name).column == 0);
  for (const char* name : {"h", "r", "f"}) CHECK(d.of(name).column == 1);
  for (const char* name : {"u", "w"}) CHECK(d.of(name).column == 2);
  CHECK(d.of("u").level == d.of("h").level);
  CHECK(d.of("w").level == d.of("f").level);
  CHECK(d.of("s").reads == std::vector<size_t>{d.box("x"), d.box("f")});
  CHECK(d.of("p").reads == std::vector<size_t>{d.box("y")});
  CHECK(d.of("L").reads == std::vector<size_t>{d.box("p")});
  for (size_t i = 1; i < d.network.boxes.size(); ++i)
    for (const size_t from : d.network.boxes[i].reads)
      CHECK(d.network.boxes[from].level <= d.network.boxes[i].level);
}

TEST_CASE("no two boxes of a network meet, and the room for words is free", "[lesson]") {
  const Drawn d(12);
  for (const ui::Rect& area : {ui::Rect{10, 20, 650, 590}, ui::Rect{0, 0, 500, 380}}) {
    const NetworkPlaces places = places_of(d.network, area);
    for (size_t i = 0; i < places.boxes.size(); ++i) {
      const ui::Rect& a = places.boxes[i];
      CHECK(a.x >= area.x);
      CHECK(a.right() <= area.right());
      CHECK(a.y >= area.y);
      CHECK(a.bottom() <= area.bottom());
      const auto apart = [&](const ui::Rect& b) {
        return a.right() <= b.x || b.right() <= a.x || a.bottom() <= b.y || b.bottom() <= a.y;
      };
      CHECK(apart(places.free));
      for (size_t j = i + 1; j < places.boxes.size(); ++j) CHECK(apart(places.boxes[j]));
    }
    const NetworkPicture picture{&d.network, &d.table, nullptr, 1};
    const ui::Rect& w = places.boxes[d.box("w")];
    CHECK(place_at(picture, places, {w.x + places.name + 2.5f * places.cell, w.centre().y}) == 3);
    CHECK(place_at(picture, places, {w.x + 1, w.centre().y}) == 0);
    const ui::Rect& h = places.boxes[d.box("h")];  // a single number is not a place of others
    CHECK(place_at(picture, places, {h.x + places.name + 1, h.centre().y}) == 0);
    CHECK(place_at(picture, places, {area.right(), area.y}) == 0);
  }
}

TEST_CASE("one number is followed through every line with the numbers that went in", "[lesson][listing]") {
  test::check_answers("followed", [](const std::string& asked) {
    std::istringstream words(asked);
    size_t index = 0, place = 0;
    words >> index >> place;
    return line(index, place);
  });
}

TEST_CASE("a relu below zero hands nothing back", "[lesson]") {
  SmallTape tape = by_hand().tape("net")->tape;
  for (SmallTape::Number& n : tape.numbers)
    if (n.name == "u") n.values = {-1, -1, -1, -1};
  const SmallReplay replay = replay_small_tape(tape);
  CHECK(followed(tape, replay, 1, 2, words::language("en")) == "r = max(0, h) = max(0, −12) = 0");
  CHECK(followed(tape, replay, 10, 2, words::language("en")) == "gradient of h = 0 = 0");
}

TEST_CASE("a drawn tape has rows that can be drawn and a table beside it", "[lesson]") {
  const std::string small = test::refusal_base("lesson-tape");
  const std::string drawn = fixture::replaced(
      small, "[figure.f]", "[figure.d]\ntitle = \"D\"\ntape = \"t\"\nfollow = 1\n\n[figure.f]");
  CHECK(fixture::parsed_lesson(drawn, "Words.").figure("d")->follow == 1);
  const std::string wide =
      fixture::replaced(fixture::replaced(drawn, "values = [1, 2]", "values = [1, 2, 1, 2, 1, 2, 1]"),
                        "values = [3, -1], rows = 2", "values = [3, -1, 3, -1, 3, -1, 3], rows = 7");
  CHECK(test::contains(fixture::refusal_of(wide, "Words."), "expected one row or column of at most 6"));
}

TEST_CASE("pointing at a number follows it, and the table of the tape moves along", "[player]") {
  PlayerDriver p;
  p.open("five-minutes", StepKind::Predict);
  p.driver.click("lesson/tape/next");
  p.driver.click("lesson/tape/next");
  p.driver.click("lesson/tape/next");
  CHECK(p.says("f₂ = r × w₂ = 4 × 1 = 4"));
  const ui::Rect area = p.driver.control("lesson/tape").rect;
  const Drawn d(3);
  const NetworkPlaces places = places_of(d.network, area);
  const ui::Rect& w = places.boxes[d.box("w")];
  p.driver.move_to({w.x + places.name + 3.5f * places.cell, w.centre().y});
  p.driver.frames(2);
  CHECK(p.says("f₄ = r × w₄ = 4 × 2 = 8"));
  p.driver.click("lesson/figure/tape");
  CHECK(p.driver.value("lesson/tape") == "3 of 12");
}

}  // namespace normscope::test_walk
