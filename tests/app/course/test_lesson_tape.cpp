// These tests cover tapes of lessons: numbers that were computed by hand, what the reader refuses, the two lessons that
// have no run, and a changed tape that turns each claim down.
#include <algorithm>
#include <regex>

#include "app/course/tapes.h"
#include "app/support/player_driver.h"
#include "app/support/small_lesson.h"
#include "app/ui/widgets.h"

namespace normscope::test_lesson_tape {
namespace {

using namespace course;
using test::contains;
using namespace normscope::lesson_player;
using fixture::by_hand;
using Values = std::vector<float>;

Lesson norm_gradient() { return read_lesson(NORMSCOPE_SOURCE_DIR "/lessons/08-norm-gradient"); }

bool near(const std::vector<float>& values, const std::vector<double>& expected) {
  if (values.size() != expected.size()) return false;
  for (size_t i = 0; i < values.size(); ++i)
    if (std::abs(static_cast<double>(values[i]) - expected[i]) > 2e-6) return false;
  return true;
}

/// A whole lesson of one tape.
const std::string kSmall = test::refusal_base("lesson-tape");

Lesson parsed(const std::string& toml) { return fixture::parsed_lesson(toml, "Words."); }

std::string with(const std::string& from, const std::string& to) {
  return fixture::replaced(kSmall, from, to);
}

std::string refusal(const std::string& toml) { return fixture::refusal_of(toml, "Words."); }

}  // namespace

TEST_CASE("the tape of lesson 0 computes what a hand computes") {
  const Lesson lesson = by_hand();
  const SmallReplay run = replay_small_tape(lesson.tape("net")->tape);
  CHECK(run.values.at("h").values == Values{4});
  CHECK(run.values.at("f").values == Values{0, 4, 4, 8});
  CHECK(run.values.at("s").values == Values{0, 6, 8, 14});
  CHECK(near(run.values.at("y").values, {-1.4, -0.2, 0.2, 1.4}));  // mean 7, deviation 5
  // Softmax of y, and from there by the rules of each op.
  std::vector<double> share;
  double sum = 0;
  for (const double y : {-1.4, -0.2, 0.2, 1.4}) sum += std::exp(y);
  for (const double y : {-1.4, -0.2, 0.2, 1.4}) share.push_back(std::exp(y) / sum);
  CHECK(near(run.values.at("L").values, {-std::log(share[1])}));
  std::vector<double> dy = share;
  dy[1] -= 1;
  CHECK(near(run.gradients.at("y").values, dy));
  const double y[] = {-1.4, -0.2, 0.2, 1.4}, x[] = {0, 2, 4, 6}, w[] = {0, 1, 1, 2}, u[] = {1, 1, -1, 1};
  double along = 0;
  for (size_t i = 0; i < 4; ++i) along += dy[i] * y[i] / 4;
  std::vector<double> ds, dw, du, dx;
  double dh = 0;
  for (size_t i = 0; i < 4; ++i) {
    ds.push_back((dy[i] - along * y[i]) / 5);  // the mean of dy is zero
    dw.push_back(4 * ds[i]);
    dh += ds[i] * w[i];
  }
  for (size_t i = 0; i < 4; ++i) {
    du.push_back(x[i] * dh);
    dx.push_back(ds[i] + u[i] * dh);
  }
  CHECK(near(run.gradients.at("s").values, ds));
  CHECK(near(run.gradients.at("f").values, ds));
  CHECK(near(run.gradients.at("w").values, dw));
  CHECK(near(run.gradients.at("u").values, du));
  CHECK(near(run.gradients.at("x").values, dx));
  CHECK(run.gradients.at("L").values == Values{1});
  // One step: each weight less half of its gradient, and nothing else.
  const SmallTape stepped = train_small_tape(lesson.tape("net")->tape, 0.5f, 1);
  for (size_t i = 0; i < 4; ++i) {
    CHECK(stepped.numbers[1].values[i] == Approx(u[i] - 0.5 * du[i]).margin(1e-6));
    CHECK(stepped.numbers[2].values[i] == Approx(w[i] - 0.5 * dw[i]).margin(1e-6));
  }
  CHECK(stepped.numbers[0] == lesson.tape("net")->tape.numbers[0]);
}

TEST_CASE("the tangent of lesson 0 touches the loss at 1, with the slope that the gradient foretells") {
  const Lesson& lesson = by_hand();
  const Results measured = *load_results(lesson);
  const auto mean = [&](const char* measure) { return measured.measures.at(measure).spread.mean; };
  const Figure::Theory& tangent = lesson.figure("weight")->theory.at(0);
  for (size_t i = 0; i < tangent.x.size(); ++i)
    CHECK(tangent.low.at(i) == Approx(mean("before") + mean("asked") * (tangent.x[i] - 1)).margin(0.001));
}

TEST_CASE("one instruction at a time comes to the bits of a replay, forward and then backward") {
  const SmallTape tape = by_hand().tape("net")->tape;
  const SmallReplay run = replay_small_tape(tape);
  REQUIRE(run.lines.size() == 12);
  std::map<std::string, Values> values, gradients;
  std::string order;
  for (const SmallReplay::Line& line : run.lines) {
    order += line.instruction;
    for (const SmallReplay::Write& w : line.writes) (w.gradient ? gradients : values)[w.name] = w.values;
  }
  CHECK(order == "hrfsyLLysfrh");
  for (const auto& [name, value] : values) CHECK(value == run.values.at(name).values);
  for (const auto& [name, value] : gradients) CHECK(value == run.gradients.at(name).values);
  CHECK(gradients.size() == 8);  // three numbers and the five lines before the loss
  // x hears first through the sum, then through h as well.
  CHECK(run.lines[8].writes[0].values == run.gradients.at("s").values);
  CHECK(run.gradients.at("x").values != run.gradients.at("s").values);
  const TapeTable none = table_of_tape(tape, 0), half = table_of_tape(tape, 6), all = table_of_tape(tape, 99);
  CHECK(none.rows[3].value.empty());
  CHECK(half.said == "L = −log p of letter 2");
  for (const TapeRow& row : half.rows) CHECK((!row.value.empty() && row.gradient.empty()));
  CHECK(all.done == 12);
  for (const TapeRow& row : all.rows) CHECK(row.gradient.empty() == (row.name == "p"));
}

TEST_CASE("the loss shows its probabilities, and y's gradient is that of its letter less one") {
  const SmallTape tape = by_hand().tape("net")->tape;
  const auto numbers = [](const std::vector<std::string>& row) {
    std::istringstream in(std::regex_replace(row.at(0), std::regex("−"), "-"));
    return std::vector<double>{std::istream_iterator<double>(in), {}};
  };
  const auto row = [](const TapeTable& table, const char* name) {
    return *std::ranges::find(table.rows, name, &TapeRow::name);
  };
  const TapeTable before = table_of_tape(tape, 5), after = table_of_tape(tape, 99);
  CHECK(row(before, "p").value.empty());
  const std::vector<double> p = numbers(row(after, "p").value), g = numbers(row(after, "y").gradient);
  REQUIRE((p.size() == 4 && g.size() == 4));
  CHECK(std::accumulate(p.begin(), p.end(), 0.0) == Approx(1).margin(0.02));  // two digits are shown
  for (size_t letter = 0; letter < 4; ++letter)
    CHECK(g[letter] == Approx(p[letter] - (letter == 1 ? 1 : 0)).margin(0.01));
  SmallTape named = tape;  // a tape that has a p of its own keeps it
  for (auto& number : named.numbers)
    if (number.name == "x") number.name = "p";
  for (auto& instruction : named.instructions)
    for (auto& of : instruction.of)
      if (of == "x") of = "p";
  CHECK(table_of_tape(named, 99).rows.size() + 1 == after.rows.size());
}

TEST_CASE("what a curve of a tape may be, and what is refused") {
  const Lesson lesson = parsed(kSmall);
  experiments::RunStore store(1);
  const auto curve = [&](const std::string& y, const std::string& more, const Changes& changes = {}) {
    const Lesson one = parsed(with("y = \"gradient w\"", "y = \"" + y + "\"\n" + more));
    return measure_curve(one, one.curves[0], 1, store, {}, changes);
  };
  CHECK(curve("gradient w", "").y == std::vector<double>{1, 2});
  CHECK(curve("gradient w", "").x == std::vector<double>{1, 2});
  CHECK(curve("mean value x", "").y == std::vector<double>{1.5});
  CHECK(curve("length value x", "").y[0] == Approx(std::sqrt(5)));
  CHECK(curve("value x . value x", "").y == std::vector<double>{5});
  CHECK(curve("value L", "over = \"x[2]\"\nxs = [0, 2]").y == std::vector<double>{3, 1});
  CHECK(curve("value L", "over = \"x\"\nxs = [1, 2]").y == std::vector<double>{1, 2});  // all of x times it
  const CurveData steps = curve("value L", "steps = [0, 2]\nrate = 0.1");
  CHECK(steps.x == std::vector<double>{0, 1, 2});
  CHECK(steps.y[1] == Approx(0.5));  // each step takes rate times |x|^2 off L
  CHECK(steps.y[2] == Approx(0).margin(1e-6));
  CHECK(curve("gradient w", "", {{"t", {{"x[2]", "7"}}}}).y == std::vector<double>{1, 7});
  CHECK(definition(parsed(with("values = [1, 2]", "values = [1, 3]"))) != definition(lesson));
  CHECK(runs_of({&lesson}, Tier::Full).empty());
}

TEST_CASE("a norm over numbers without spread is refused") {
  // No spread: nothing to divide by.
  std::string flat = with("values = [1, 2]", "values = [2, 2]");
  const std::string from = "{ name = \"L\", op = \"multiply\", of = [\"x\", \"w\"] }";
  flat.replace(
      flat.find(from), from.size(),
      "{ name = \"y\", op = \"norm\", of = [\"x\"] }, { name = \"L\", op = \"multiply\", of = [\"y\", \"w\"] }");
  CHECK(contains(refusal(flat), "is not finite"));
}

TEST_CASE("lessons 0 and 8 hold, and each of their checks tells its claim from its neighbours") {
  for (const Lesson& lesson : {by_hand(), norm_gradient()}) {
    experiments::RunStore store(1);
    const LessonReport report = check_lesson(lesson, store, Tier::Full);
    INFO(to_text(report));
    CHECK(report.passed());
    CHECK(store.trained() == 0);
    for (const auto& [id, measured] : report.results.measures)
      for (const double value : measured.values) CHECK(value == measured.values[0]);  // nothing is random
    for (const Check& check : lesson.checks)
      for (const Neighbour& neighbour : check.excludes)
        for (const double value : values_of(lesson, check, neighbour, report.results)) {
          INFO(check.says << " " << neighbour.what << ": " << value);
          CHECK_FALSE(std::isnan(value));
          CHECK_FALSE(holds(check, {{value}, {}}));
        }
  }
}

TEST_CASE("one changed tape turns each claim of lessons 0 and 8 down") {
  using Mutation = std::pair<const char*, std::function<void(SmallTape&)>>;
  const auto fails = [](Lesson lesson, const char* tape, const Mutation& m) {
    for (LessonTape& one : lesson.tapes)
      if (one.id == tape) m.second(one.tape);
    experiments::RunStore store(1);
    const LessonReport report = check_lesson(lesson, store, Tier::Fast);
    for (const course::CheckOutcome& v : report.outcomes)
      if (contains(v.check->says, m.first)) return !v.holds;
    FAIL("no check says " << m.first);
    return false;
  };
  const auto norm = [](NormKind kind) {
    return [kind](SmallTape& tape) {
      for (SmallTape::Instruction& i : tape.instructions)
        if (i.op == SmallTape::Op::Norm) i.norm = kind;
    };
  };
  const Mutation first[] = {
      {"A little more of that weight", [](SmallTape& tape) { tape.instructions.back().target = 4; }},
      {"What the gradient foretells", norm(NormKind::Detach)},
      // The correction is added twice: the sum hands on its gradient twice.
      {"hands its gradient on to the correction undivided",
       [](SmallTape& tape) {
         auto& lines = tape.instructions;
         lines.insert(lines.begin() + 3, {"s0", SmallTape::Op::Add, {"x", "f"}});
         lines[4].of = {"s0", "f"};
       }},
      {"One step against the gradient", [](SmallTape& tape) {
         for (SmallTape::Number& n : tape.numbers) n.trained = n.name == "u";
       }}};
  for (const Mutation& m : first) {
    INFO(m.first);
    CHECK(fails(by_hand(), "net", m));
  }
  const auto narrower = [](SmallTape& tape) {
    for (size_t i = 8; i < 12; ++i) tape.numbers[0].values[i] *= 2;
  };
  const auto wider = [](SmallTape& tape) {
    for (size_t i = 4; i < 8; ++i) tape.numbers[0].values[i] *= 2;
  };
  const auto no_norm = [](SmallTape& tape) { tape.instructions[0].op = SmallTape::Op::Relu; };
  const Mutation second[] = {{"The largest mean", norm(NormKind::DetachMean)},
                             {"The smallest mean", no_norm},
                             {"The largest part along the output", norm(NormKind::DetachVariance)},
                             {"A quarter of the spread", narrower},
                             {"Ten times the spread", wider}};
  for (const Mutation& m : second) {
    INFO(m.first);
    CHECK(fails(norm_gradient(), "rows", m));
  }
  // With the other sign at g what is left along y is below zero.
  CHECK(fails(norm_gradient(), "rows", {"The smallest part along the output", [&](SmallTape& tape) {
                                          norm(NormKind::DetachVariance)(tape);
                                          for (float& v : tape.numbers[1].values) v = -v;
                                        }}));
  CHECK(fails(norm_gradient(), "plain", {"falls as one over the spread", no_norm}));
}

// How the lessons of tapes are walked: tests/stories/tapes.txt.
TEST_CASE("numbers of a tape stand below each other, to the right of their cells") {
  for (const float scale : {1.f, 1.5f}) {
    INFO(scale);
    fixture::LessonTapes p;
    p.state.look.scale = scale;
    p.player().open("norm-gradient", StepKind::Compare);
    p.rest();
    const ui::Rect table = p.driver.control("lesson/tape").rect;
    const auto right_of = [&](const std::string& number) {
      for (const ui::TextRecord& text : p.ui.texts())
        if (text.text == number && table.overlaps(text.rect)) return text.rect.right();
      return 0.f;
    };
    REQUIRE(right_of("100.25") > 0);
    CHECK(right_of("10") == Approx(right_of("100.25")).margin(1.5));
    CHECK(right_of("60") == Approx(right_of("101.5")).margin(1.5));
    CHECK(right_of("60") > right_of("30") + 20);
  }
}

}  // namespace normscope::test_lesson_tape
