// These tests cover the walk of a gradient down a stack: its curve beside the run's own history, its arrows in numbers,
// and what a user, a file and a sheet of paper see of it.
#include <fmt/format.h>

#include <algorithm>

#include "answers.h"
#include "app/course/map.h"
#include "app/course/pictures/pictures.h"
#include "app/course/report.h"
#include "app/course/tapes.h"
#include "app/plot/plot.h"
#include "app/support/player_driver.h"
#include "app/support/small_lesson.h"
#include "app/support/well_formed.h"
#include "app/ui/numbers.h"
#include "app/ui/paint.h"
#include "engine/cpu/backend_cpu.h"
#include "engine/tape/seal.h"
#include "training/measure/initial_analysis.h"

namespace normscope::test_walk {
namespace {

using namespace course;
using test::contains, test::digits;

const FigureAxis kScale{"length", true, 1e-4, 10, {1, 0.1}};

const Lesson& first_steps() { return *fixture::shipped_course().find("first-steps"); }

/// A figure of lesson 3 with the numbers of five seeds.
struct WalkFixture : fixture::FiveSeeds {
  WalkFixture() : FiveSeeds(first_steps()) {}
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

TEST_CASE("a profile of several steps has every layer of a step before those of the next") {
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

TEST_CASE("the arrows of a stack lie one above the other, each into its layer") {
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

TEST_CASE("of a model with two stacks a walk has both, and says whose each is") {
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

TEST_CASE("beside an arrow stands what the norms on its way divide by, in their order") {
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

TEST_CASE("a norm divides the gradient by the spread of what it read, but for what lies along the row") {
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

TEST_CASE("in lesson 3 A's arrows thin out towards layer 1, and those of B and C do not") {
  const WalkFixture seen;
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

TEST_CASE("a walk goes to the report and to the teacher, at its last step, and not to the student") {
  const WalkFixture seen;
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

TEST_CASE("the path of a stream is its input and the sum behind each sub-layer") {
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

TEST_CASE("the whole chain lies in the picture, whatever is shown of it") {
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

TEST_CASE("in lesson 4 the arrows would be several times as long in one line") {
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

TEST_CASE("a curve of one step is the loss along it, less the loss before it") {
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

TEST_CASE("nothing but the ball and its words depends on where the ball lies") {
  const Valley valley({0, -0.25, 0.5});
  CHECK(plot::to_csv(valley.at(0.0003)) == plot::to_csv(valley.at(1)));
}

TEST_CASE("lesson 15: where the valley comes back is where the critical rate was measured") {
  Lesson lesson = *fixture::shipped_course().find(kEdge);
  for (LessonRun* run : lesson.all_runs()) run->spec.train.steps = 201;  // what follows is not asked for
  Curve measured = *lesson.curve("critical_B");
  measured.to = 201;
  experiments::RunStore store(1);
  const CurveData valley = measure_curve(lesson, *lesson.curve("step_B"), 1, store),
                  critical = measure_curve(lesson, measured, 1, store);
  const auto at = std::ranges::find(critical.x, 201.0);
  REQUIRE(at != critical.x.end());
  REQUIRE(critical_rate_of(valley));
  CHECK(*critical_rate_of(valley) ==
        Approx(critical.y[static_cast<size_t>(at - critical.x.begin())]).epsilon(0.03));
}

// A tape drawn as a network: where its boxes lie, how one number is followed through it, forward and backward, what
// the reader refuses, and the user who points at a number.

using fixture::by_hand, fixture::PlayerDriver;

struct TapeDrawing {
  SmallTape tape = by_hand().tape("net")->tape;
  TapeTable table;
  TapeNetwork network;
  explicit TapeDrawing(size_t done) : table(table_of_tape(tape, done)), network(network_of(tape, table)) {}
  size_t box(const std::string& name) const {
    const auto it = std::ranges::find(table.rows, name, &TapeRow::name);
    return static_cast<size_t>(it - table.rows.begin());
  }
  const NetworkBox& of(const std::string& name) const { return network.boxes[box(name)]; }
};

TEST_CASE("no two boxes of a network meet, and the room for words is free") {
  const TapeDrawing d(12);
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

TEST_CASE("a drawn tape has rows that can be drawn and a table beside it") {
  const std::string small = test::refusal_base("lesson-tape");
  const std::string drawn = fixture::replaced(
      small, "[figure.f]", "[figure.d]\ntitle = \"D\"\ntape = \"t\"\nfollow = 1\n\n[figure.f]");
  CHECK(fixture::parsed_lesson(drawn, "Words.").figure("d")->follow == 1);
  const std::string wide =
      fixture::replaced(fixture::replaced(drawn, "values = [1, 2]", "values = [1, 2, 1, 2, 1, 2, 1]"),
                        "values = [3, -1], rows = 2", "values = [3, -1, 3, -1, 3, -1, 3], rows = 7");
  CHECK(test::contains(fixture::refusal_of(wide, "Words."), "expected one row or column of at most 6"));
}

TEST_CASE("pointing at a number follows it, and the table of the tape moves along") {
  PlayerDriver p;
  p.open("five-minutes", StepKind::Predict);
  p.driver.click("lesson/tape/next");
  p.driver.click("lesson/tape/next");
  p.driver.click("lesson/tape/next");
  CHECK(p.says("f₂ = r × w₂ = 4 × 1 = 4"));
  const ui::Rect area = p.driver.control("lesson/tape").rect;
  const TapeDrawing d(3);
  const NetworkPlaces places = places_of(d.network, area);
  const ui::Rect& w = places.boxes[d.box("w")];
  p.driver.move_to({w.x + places.name + 3.5f * places.cell, w.centre().y});
  p.driver.frames(2);
  CHECK(p.says("f₄ = r × w₄ = 4 × 2 = 8"));
  p.driver.click("lesson/figure/tape");
  CHECK(p.driver.value("lesson/tape") == "3 of 12");
}

// What is told of pictures, measures and scores line by line, in tests/answers/course-pictures.txt.

const Words& english() { return words::language("en"); }

/// The numbers of a text, and of each of its parts between semicolons.
std::vector<double> numbers(const std::string& text) {
  std::istringstream words(text);
  std::vector<double> all;
  for (std::string word; words >> word;) all.push_back(std::stod(word));
  return all;
}
std::vector<std::vector<double>> rows(const std::string& text) {
  std::vector<std::vector<double>> all;
  for (const std::string& part : test::split(text, ";")) all.push_back(numbers(part));
  return all;
}
std::vector<std::string> words_of(const std::string& text) {
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}
/// Takes the first word off a text.
std::string first(std::string& text) {
  const auto [word, rest] = test::verb_and_rest(text);
  text = rest;
  return word;
}

/// "0.001 0.1; 0.1 0.1" are the gradients of A and C, "decoder 0.001; encoder 0.1" those of two parts of A.
Walk walk_of(const std::string& text) {
  Walk walk{.step = 7, .scale = kScale};
  for (std::string part : test::split(text, ";")) {
    part = part.substr(std::min(part.size(), part.find_first_not_of(' ')));
    const std::string name = part.find("coder") != part.npos ? first(part) : "";
    walk.stacks.push_back(
        {name.empty() ? 2 * static_cast<int>(walk.stacks.size()) : 0, name, numbers(part), name});
    walk.layers = std::max(walk.layers, static_cast<int32_t>(walk.stacks.back().lengths.size()));
  }
  return walk;
}

/// "4 8 12; 4 4; 1" are the squares of a path and of its branches, and how many layers are shown.
std::string chain(const std::string& text, const std::string& hidden) {
  const auto all = rows(text);
  const CurveSet own{{"path", {{}, all[0]}}, {"branches", {{}, all[1]}}};
  FigureData data{.own = &own, .draw_only = hidden};
  const Figure& arrows = *fixture::shipped_course().find("last-layer")->figure("arrows");
  const Chain chain = chain_of(arrows, data, static_cast<int32_t>(all[2][0]));
  if (chain.ends.empty()) return "nothing" + chain_sentence(chain, english());
  std::string told =
      fmt::format("{} of {} arrows, {} times as long, {} in one line\nfrom the start:", chain.shown,
                  chain.ends.size() - 1, digits(chain.times()), digits(chain.straight));
  const auto length = [](ui::Vec v) { return digits(static_cast<double>(std::hypot(v.x, v.y))); };
  for (const ui::Vec& end : chain.ends) told += fmt::format(" {} (up {})", length(end), digits(end.y));
  told += "\nits arrows:";
  for (size_t i = 1; i < chain.ends.size(); ++i) told += " " + length(chain.ends[i] - chain.ends[i - 1]);
  return told + "\n" + chain_sentence(chain, english());
}

/// "0 -0.25 0.5; 0.003" is a valley with its ball, "0 -0.25 0.5" one whose ball nobody moved.
std::string valley(const std::string& text, const std::string& hidden) {
  const auto all = rows(text);
  const Valley valley(all[0]);
  const plot::PlotSpec plot = valley.at(all.size() > 1 ? std::optional(all[1][0]) : std::nullopt, hidden);
  std::string told = fmt::format("{} series\n", plot.series.size());
  for (const plot::RefLine& line : plot.lines)
    told += fmt::format("line {} {}\n", line.horizontal ? "across at" : "at", digits(line.value));
  for (const plot::Handle& ball : plot.handles)
    told += fmt::format("ball at {}, {}{}\n", digits(ball.x), digits(ball.y),
                        ball.value == plot.sentence ? "" : ", which says: " + ball.value);
  return told + plot.sentence;
}

/// The boxes of the first lesson's tape after so many lines.
std::string network(const std::string& done) {
  const SmallTape tape = fixture::by_hand().tape("net")->tape;
  const TapeTable table = table_of_tape(tape, static_cast<size_t>(std::stoi(done)));
  const TapeNetwork network = network_of(tape, table);
  std::string told = fmt::format("{} levels, {} columns\n", network.levels, network.columns);
  for (size_t i = 0; i < network.boxes.size(); ++i) {
    const NetworkBox& box = network.boxes[i];
    told += fmt::format("{}: level {}, column {}", table.rows[i].name, box.level, box.column);
    for (const size_t from : box.reads) told += " < " + table.rows[from].name;
    told += "\n";
  }
  return told;
}

/// "3 2" is a line of that tape and the place of a number in it, "1 2 u=-1" with other numbers in u.
std::string follow(const std::string& text) {
  const std::vector<std::string> asked = words_of(text);
  SmallTape tape = fixture::by_hand().tape("net")->tape;
  if (asked.size() > 2)
    for (SmallTape::Number& n : tape.numbers)
      if (asked[2].starts_with(n.name + "="))
        std::ranges::fill(n.values, std::stod(asked[2].substr(n.name.size() + 1)));
  return followed(tape, replay_small_tape(tape), std::stoul(asked[0]), std::stoul(asked[1]), english());
}

/// "add 7.5 2" and "times 3 0.1" were moved last, with the knobs there; "bar 1 9" is a single bar.
std::string bars(std::string text, bool known) {
  const SmallTape& tape = fixture::shipped_course().find("norm-gradient")->tape("plain")->tape;
  using Last = BarsHand::Last;
  const std::string moved = first(text);
  const std::vector<double> at = numbers(text);
  if (moved.empty()) return bars_sentence(tape, {}, known, english());
  if (moved == "bar")
    return bars_sentence(tape, with_bar(tape, {}, static_cast<size_t>(at[0]), at[1]), known, english());
  return bars_sentence(tape, {moved == "add" ? Last::Add : Last::Times, at[0], at[1]}, known, english());
}

/// "0.6 0.3; 0.4 0.2 0.2" are the shares of a map's rows.
std::string river(const std::string& text) {
  plot::PlotSpec plot;
  plot.id = plot.title = "river";
  add_river(rows(text), plot, english());
  if (!plot.river) return "no river";
  std::string told;
  for (const std::string& line : test::lines_in(plot::to_text(plot) + plot::to_csv(plot)))
    told += line + "\n";
  return told;
}

/// A measure of the curve 8 / x from 1 to 16: "at a=4", "max a=2 b=4".
std::string take(std::string text) {
  Lesson lesson;
  lesson.curves.push_back({.id = "c"});
  CurveData curve;
  for (int i = 1; i <= 16; ++i) {
    curve.x.push_back(i);
    curve.y.push_back(8.0 / i);
  }
  Measure measure{.curve = "c", .take = first(text)};
  for (const std::string& word : words_of(text))
    (word[0] == 'a' ? measure.a : measure.b) = std::stod(word.substr(2));
  return digits(evaluate(lesson, measure, {{"c", curve}}));
}

std::string spread(std::string text) {
  const std::string kind = first(text);
  return digits(spread_of(numbers(text), kind == "median"      ? Mean::Median
                                         : kind == "geometric" ? Mean::Geometric
                                                               : Mean::Arithmetic)
                    .mean);
}

/// "2 model.placement=pre: 1.5; ...": what the small lesson's task makes of hints and tries.
std::string score(std::string text) {
  const Challenge task = *fixture::parsed_exercise().challenge;
  const int hints = std::stoi(first(text));
  std::vector<Try> tries;
  for (const std::string& part : test::split(text, ";"))
    if (const size_t colon = part.find(": "); colon != part.npos)
      tries.push_back({part.substr(part.find_first_not_of(' '), colon - part.find_first_not_of(' ')),
                       std::stod(part.substr(colon + 2))});
  std::string told = fmt::format("{}: {}\n", score_of(task, tries, hints), score_text(task, tries, hints));
  for (const Try& way : ways_found(task, tries))
    told += fmt::format("way {} to {}\n", way.set, digits(way.loss));
  return told;
}

/// Of the small lesson's case: its answers as they are offered, or what is behind one of them.
std::string of_case(const std::string& answer) {
  const Case closing = *fixture::parsed_exercise().closing;
  const std::vector<std::string> answers = answers_of(closing);
  if (const std::optional<size_t> place = place_of_answer(closing, answer)) return reason_of(closing, *place);
  std::string all;
  for (const size_t i : offered_order(closing)) all += (all.empty() ? "" : "; ") + answers[i];
  return all;
}

/// Which thought of a lesson with two stands behind the faults of an answer: "c before b; b before a".
std::string thought(const std::string& faults) {
  Lesson lesson;
  lesson.thoughts = {{fault_of_order("b", "a"), "First."}, {fault_of_order("c", "b"), "Second."}};
  std::vector<std::string> all;
  for (const std::string& part : test::split(faults, ";"))
    all.push_back(part.substr(std::min(part.size(), part.find_first_not_of(' '))));
  const std::string behind = thought_behind(lesson, all);
  return behind.empty() ? "none" : behind;
}

/// What can be wrong with an answer: "order", "draw", "value", "value -1" with numbers below zero.
std::string faults(std::string text) {
  Prediction prediction;
  const std::string kind = first(text);
  prediction.kind = kind == "order"  ? Prediction::Kind::Order
                    : kind == "draw" ? Prediction::Kind::Draw
                                     : Prediction::Kind::Value;
  if (kind == "order") prediction.cards = {{"a", "A", ""}, {"b", "B", ""}, {"c", "C", ""}};
  if (!text.empty()) prediction.low = std::stod(text);
  return fmt::format("{}", fmt::join(possible_faults(prediction), "; "));
}

std::string told(const std::string& line) {
  std::string rest = line;
  const std::string verb = first(rest);
  if (verb == "walk") {
    const std::string sentence = walk_sentence(walk_of(rest), english());
    return sentence.empty() ? "nothing" : sentence;
  }
  if (verb == "arrow") return digits(static_cast<double>(arrow_width(kScale, std::stod(rest), 50)));
  if (verb == "divisors") {  // in so much room
    const float room = std::stof(first(rest));
    std::string text;
    ui::to_svg("divisors", [&](ui::Painter& p, const ui::Theme&) {
      text = divisors_text(p, numbers(rest), room);
      return ui::Vec{10, 10};
    });
    return text.empty() ? "nothing" : text;
  }
  if (verb == "chain" || verb == "hidden-chain") return chain(rest, verb == "chain" ? "" : "nothing");
  if (verb == "valley" || verb == "hidden-valley") return valley(rest, verb == "valley" ? "" : "nothing");
  if (verb == "back") {  // over 0, 1, 2 and 4
    const std::optional<double> at = critical_rate_of({{0, 1, 2, 4}, numbers(rest)});
    return at ? digits(*at) : "never";
  }
  if (verb == "network") return network(rest);
  if (verb == "follow") return follow(rest);
  if (verb == "bars" || verb == "bars-before") return bars(rest, verb == "bars");
  if (verb == "river") return river(rest);
  if (verb == "take") return take(rest);
  if (verb == "spread") return spread(rest);
  if (verb == "range") {  // of a mean, the least and the most
    const std::string unit = first(rest);
    const std::vector<double> of = numbers(rest);
    return range_text({of[0], of[1], of[2]}, {.unit = unit});
  }
  if (verb == "ticks") {  // of a logarithmic axis, and beside it 0 and 2 of a linear one
    Figure figure;
    figure.x = {"rate", true, 1e-5, 1, numbers(rest)};
    figure.y = {"loss", false, 0, 4, {0, 2}};
    const plot::PlotSpec plot = figure_plot({}, figure, {});
    std::string labels;
    for (const plot::Axis* axis : {&plot.x, &plot.y})
      for (const plot::Tick& tick : axis->ticks) labels += tick.label + " ";
    return labels;
  }
  if (verb == "score") return score(rest);
  if (verb == "case") return of_case(rest);
  if (verb == "thought") return thought(rest);
  if (verb == "faults") return faults(rest);
  throw Error("no line begins with " + verb);
}

TEST_CASE("the course counts, draws and says of numbers what is told of them", "[listing]") {
  test::check_answers("course-pictures", told);
}

}  // namespace
}  // namespace normscope::test_walk
