// These tests cover the chain of branches: its curves beside the sums of the layers, its angles in numbers, and what a
// hand, a file and a sheet of paper see of it.
#include "app/course/pictures/chain.h"
#include "app/course/report.h"
#include "app/support/player_driver.h"
#include "app/support/shipped_course.h"
#include "app/support/small_lesson.h"
#include "app/support/well_formed.h"
#include "app/ui/numbers.h"
#include "catch.hpp"
#include "refusals/refusals.h"

namespace normscope::test_chain {
namespace {

using namespace course;
using test::contains;

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

}  // namespace

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

}  // namespace normscope::test_chain
