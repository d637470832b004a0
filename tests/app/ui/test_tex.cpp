// These tests cover the TeX subset: what parses, what is refused and where, and that the layout puts things where a
// formula has them.
#include "answers.h"
#include "app/course/reader.h"
#include "app/tex/tex.h"
#include "engine/core/error.h"

namespace normscope::test_tex {  // of its own: tests beside it mean another Node
using namespace tex;

namespace {

// Makes every character half an em wide: enough for places, and no font is needed.
float half_em(ui::TextStyle style, std::string_view s) {
  size_t count = 0;
  for (char c : s) count += (static_cast<uint8_t>(c) & 0xC0) != 0x80;
  return 0.5f * style.px * static_cast<float>(count);
}

Layout laid(std::string_view source, bool display = true, float px = 20) {
  return layout(parse(source), px, display, half_em);
}

const Piece& piece(const Layout& l, std::string_view text) {
  for (const Piece& p : l.pieces)
    if (p.text == text) return p;
  FAIL("no piece '" << text << "'");
  return l.pieces[0];
}

}  // namespace

TEST_CASE("a fraction has its parts above and below the bar, centred", "[tex]") {
  const Layout l = laid("\\frac{a}{bcd}");
  const Piece &a = piece(l, "a"), &b = piece(l, "b");
  CHECK(a.at.y < b.at.y);
  CHECK(a.at.x > b.at.x);
  CHECK(l.ascent > 15);
  CHECK(l.descent > 5);
}

TEST_CASE("a layer's letter cannot be taken for a capital I", "[tex]") {
  CHECK(piece(laid("3\\ell"), "\u2113").at.x > 0);
}

TEST_CASE("scripts are smaller, above and below the baseline", "[tex]") {
  const Layout l = laid("x_i^2");
  CHECK(piece(l, "i").at.y > 0);
  CHECK(piece(l, "2").at.y < 0);
  CHECK(piece(l, "2").style.px < piece(l, "x").style.px);
  CHECK(laid("x^{2}_{i}").width == l.width);
}

TEST_CASE("a minus behind another operator is a sign and stands close to its number", "[tex]") {
  const float sign = laid("b").width;  // every character is as wide
  CHECK(laid("a=-b").width == Approx(laid("a=b").width + sign));
  CHECK(laid("-b").width == Approx(2 * sign));
  CHECK(laid("a-b").width > 3 * sign);
}

TEST_CASE("limits of a sum stand over and under it when displayed, beside it in a line", "[tex]") {
  const Layout big = laid("\\sum_{i=1}^N x"), small = laid("\\sum_{i=1}^N x", false);
  CHECK(piece(big, "N").at.x < piece(small, "N").at.x);
  CHECK(big.ascent > small.ascent);
}

TEST_CASE("norms, roots, accents, spaces and words", "[tex]") {
  int lines = 0;
  for (const Piece& p : laid("\\left\\| \\frac{\\partial L}{\\partial W_2} \\right\\|").pieces)
    lines += p.kind == Piece::Kind::Line;
  CHECK(lines == 5);  // two double bars and the fraction's
  CHECK(laid("\\|x\\|").width > laid("x").width);
  CHECK(laid("\\sqrt{x}").width > laid("x").width);
  CHECK(laid("\\sqrt[3]{x}").pieces.size() > laid("\\sqrt{x}").pieces.size());
  CHECK(laid("\\hat x").pieces.size() == 3);
  CHECK(laid("a\\quad b").width == laid("ab").width + 20);
  CHECK(piece(laid("\\text{two words}"), "two words").text == "two words");
  CHECK(piece(laid("\\mathbf{x}"), "x").style.face == ui::Face::Bold);
}

TEST_CASE("a size of twice the em is twice as large", "[tex]") {
  const Layout a = laid("\\frac{x_1}{2} = \\beta", true, 20), b = laid("\\frac{x_1}{2} = \\beta", true, 40);
  CHECK(b.width == Approx(2 * a.width).epsilon(0.02));
  CHECK(b.ascent == Approx(2 * a.ascent).epsilon(0.05));
}

TEST_CASE("what is not known is refused with its position", "[tex][listing]") {
  test::check_answers("tex", [](const std::string& source) {
    parse(source);
    return std::string("read");
  });
}

TEST_CASE("no input makes the parser fail otherwise than by an error", "[tex]") {
  const std::string alphabet = "\\{}_^[]|a1 +-().frcsqtle";
  uint32_t state = 12345;
  for (int round = 0; round < 20000; ++round) {
    std::string s;
    for (int i = 0; i < 12; ++i) {
      state = state * 1664525u + 1013904223u;
      s += alphabet[(state >> 16) % alphabet.size()];
    }
    try {
      (void)layout(parse(s), 16, true, half_em);
    } catch (const Error&) {
    }
  }
  SUCCEED();
}

TEST_CASE("every formula of the course parses and is no wider than its column", "[tex]") {
  const course::Course course = course::read_course(NORMSCOPE_SOURCE_DIR "/lessons");
  CHECK(course.broken.empty());
  int formulas = 0;
  for (const course::Lesson& lesson : course.lessons)
    for (const course::Step& step : lesson.steps)
      for (const course::Block& block : step.text.blocks)
        for (const course::Inline& piece : block.inlines)
          if (piece.kind == course::Inline::Kind::Formula) {
            ++formulas;
            CHECK(layout(piece.formula, 18, true, half_em).width < 480);
          }
  CHECK(formulas > 8);
}

}  // namespace normscope::test_tex
