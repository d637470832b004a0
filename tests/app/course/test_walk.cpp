// These tests cover the walk of a gradient down a stack: its curve beside the run's own history, its arrows in numbers,
// and what a user, a file and a sheet of paper see of it.
#include "app/course/pictures/walk.h"
#include "app/course/report.h"
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

}  // namespace

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

}  // namespace normscope::test_walk
