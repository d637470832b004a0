// These tests cover the bars of a vector under a norm's two knobs: what a move leaves as it is, by the algebra of the
// norm and by replay; where the bars lie; and what a user, a file and a sheet of paper see of them.
#include "app/course/pictures/pictures.h"
#include "app/course/report.h"
#include "app/support/shipped_course.h"
#include "app/support/well_formed.h"
#include "app/ui/numbers.h"

namespace normscope::test_bars {
namespace {

using namespace course;
using test::contains;
using Row = std::vector<double>;
using Last = BarsHand::Last;

const Lesson& norm_gradient() { return *fixture::shipped_course().find("norm-gradient"); }
const SmallTape& plain() { return norm_gradient().tape("plain")->tape; }
const Words& english() { return words::language("en"); }

/// Allows for the engine's 32 bits.
bool near(const Row& a, const Row& b, double room = 1e-5) {
  double off = a.size() == b.size() ? 0 : 1;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) off = std::max(off, std::abs(a[i] - b[i]));
  return off <= room;
}

Row times(Row row, double factor) {
  for (double& v : row) v *= factor;
  return row;
}

}  // namespace

TEST_CASE("a norm notices neither of the two knobs, and multiplying divides the gradient", "[lesson]") {
  const Bars written = bars_of(plain(), {});
  CHECK(written.in.now == Row{1, 2, 3, 6});
  CHECK((written.mean == 3 && written.spread == Approx(std::sqrt(3.5))));
  for (size_t i = 0; i < 4; ++i)
    CHECK(written.out.now[i] == Approx((written.in.now[i] - 3) / std::sqrt(3.5)).margin(1e-6));
  // By the formula of the page: (g less its mean, less its part along y) over the spread.
  const Row g{1, 2, 0, 3}, &y = written.out.now;
  const double along = std::inner_product(g.begin(), g.end(), y.begin(), 0.0) / 4;
  for (size_t i = 0; i < 4; ++i)
    CHECK(written.back.now[i] == Approx((g[i] - 1.5 - along * y[i]) / written.spread).margin(1e-6));
  const Bars added = bars_of(plain(), {Last::Add, 7.5, 1});
  CHECK(added.in.now == Row{8.5, 9.5, 10.5, 13.5});
  CHECK(near(added.out.now, written.out.now));
  CHECK(near(added.back.now, written.back.now));
  for (const double factor : {0.1, 2.0, 10.0}) {
    const Bars larger = bars_of(plain(), {Last::Times, 0, factor});
    CHECK(larger.spread == Approx(written.spread * factor));
    CHECK(near(larger.out.now, written.out.now));
    CHECK(near(times(larger.back.now, factor), written.back.now));
    CHECK(larger.length == Approx(written.length / factor));
    CHECK(larger.in.written == written.in.now);
  }
  const Bars moved = bars_of(plain(), with_bar(plain(), {}, 1, 9));
  CHECK(moved.in.now == Row{1, 9, 3, 6});
  CHECK_FALSE(near(moved.out.now, written.out.now, 0.1));
  // With the knobs turned, the bar still goes to where the mouse is.
  const Bars both = bars_of(plain(), with_bar(plain(), {Last::Times, 4, 2}, 3, 5));
  CHECK(near(both.in.now, {6, 8, 10, 5}));
  CHECK_THROWS_AS(bars_of(plain(), {Last::Bar, 0, 1, {2, 2, 2, 2}}), Error);
}

TEST_CASE("beside a norm another one lets back what y does not notice", "[lesson]") {
  const Lesson& lesson = *fixture::shipped_course().find("inside-layernorm");
  const Figure& figure = *lesson.figure("two");
  const SmallTape& whole = lesson.tape("whole")->tape;
  const SmallTape* detached = tape_beside(lesson, figure);
  REQUIRE(detached);
  CHECK(tape_beside(norm_gradient(), *norm_gradient().figure("knobs")) == nullptr);
  for (const BarsHand& hand : {BarsHand{}, BarsHand{Last::Times, 3, 2}, with_bar(whole, {}, 1, 9)}) {
    const Bars bars = bars_of(whole, hand, detached);
    REQUIRE(bars.beside);
    // By the formula of the page: what is detached no longer takes the part along y away.
    const Row g{1, 2, 0, 3}, &y = bars.out.now;
    const double along = std::inner_product(g.begin(), g.end(), y.begin(), 0.0) / 4;
    double square = 0;
    for (size_t i = 0; i < 4; ++i) {
      CHECK(bars.beside->back.now[i] == Approx((g[i] - 1.5) / bars.spread).margin(1e-5));
      CHECK(bars.back.now[i] == Approx((g[i] - 1.5 - along * y[i]) / bars.spread).margin(1e-5));
      square += (g[i] - 1.5) * (g[i] - 1.5);
    }
    CHECK(bars.unnoticed == Approx(0).margin(1e-6));
    CHECK(bars.beside->unnoticed == Approx(4 * along * along / square).margin(1e-6));
    CHECK((bars.back.low == bars.beside->back.low && bars.back.high == bars.beside->back.high));
    for (const std::vector<ui::Rect>& strip : bar_boxes(bars, {0, 0, 560, 300}))
      for (const ui::Rect& bar : strip) CHECK(ui::Rect{0, 0, 560, 300}.contains(bar.inset(0.01f)));
  }
  const std::string sentence = bars_sentence(whole, {Last::Times, 0, 2}, true, english(), detached);
  CHECK(contains(sentence,
                 "y stays as it is, and the gradient is divided by 2. Of the square of the gradient 0 %"));
  CHECK(contains(sentence, "(variance detached: 36 %)."));
  CHECK_FALSE(contains(bars_sentence(whole, {}, false, english(), detached), "%"));
}

TEST_CASE("the bars stand on zero, as high as their numbers, inside the picture", "[lesson]") {
  for (const BarsHand& hand : {BarsHand{}, BarsHand{Last::Add, -10, 1}, BarsHand{Last::Times, 0, 10}})
    for (const ui::Rect rect : {ui::Rect{10, 20, 560, 260}, ui::Rect{0, 0, 1000, 500}}) {
      const Bars bars = bars_of(plain(), hand);
      const auto boxes = bar_boxes(bars, rect);
      const Bars::Strip* strips[] = {&bars.in, &bars.out, &bars.back};
      for (size_t which = 0; which < 3; ++which) {
        const Bars::Strip& strip = *strips[which];
        float scale = 0;  // px of 1
        for (size_t i = 0; i < 4; ++i) {
          CHECK(rect.contains(boxes[which][i].inset(0.01f)));
          if (i > 0) CHECK(boxes[which][i].x > boxes[which][i - 1].right());
          if (std::abs(strip.now[i]) > 0.05)
            scale = boxes[which][i].h / static_cast<float>(std::abs(strip.now[i]));
        }
        for (size_t i = 0; i < 4; ++i)
          CHECK(boxes[which][i].h ==
                Approx(std::abs(strip.now[i]) * static_cast<double>(scale)).margin(0.01));
        CHECK((strip.low <= 0 && strip.high >= 0));
      }
      // What the user sees at a bar's end is the bar's number.
      const std::vector<ui::Rect> slots = bar_slots(bars, rect);
      for (size_t i = 0; i < 4; ++i) {
        const float end = bars.in.now[i] > 0 ? boxes[0][i].y : boxes[0][i].bottom();
        CHECK(bar_value(bars, slots[i], end) == Approx(bars.in.now[i]).margin(1e-3));
        CHECK(slots[i].contains(boxes[0][i].centre()));
      }
      CHECK(bar_value(bars, slots[0], -1000) == bars.in.high);
    }
}

TEST_CASE("the bars go to the report whole", "[lesson]") {
  const std::optional<Results> kept = load_results(norm_gradient());
  REQUIRE(kept);
  const Bars bars = bars_of(plain(), {});
  const std::string length = "length " + ui::number(bars.length, 3);
  for (const bool dark : {false, true}) {
    const std::string svg =
        kept_svg(norm_gradient(), *norm_gradient().figure("knobs"), *kept, ui::theme(dark), {640, 400});
    CHECK(test::well_formed(svg));
    CHECK(contains(svg, length));
    for (const Row* row : {&bars.in.now, &bars.out.now, &bars.back.now})
      for (const double v : *row) CHECK(contains(svg, ">" + ui::number(v, 2) + "</text>"));
  }
}

}  // namespace normscope::test_bars
