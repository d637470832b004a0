// A picture as an SVG document has the same shapes and texts as on the screen, in one theme or in both.
#include "app/headless/frame.h"
#include "app/support/well_formed.h"
#include "app/ui/paint.h"
#include "app/ui/ui.h"
#include "app/ui/widgets.h"
#include "catch.hpp"
#include "engine/core/error.h"

namespace normscope::ui {
using test::times_in;

namespace {

constexpr TextStyle kBody{Face::Sans, type::body};

/// Paints something of everything that a picture can hold.
Vec paint_all(Painter& p, const Theme& t) {
  p.begin_group("a < b");
  p.fill({10, 10, 80, 40}, t.accent, 4);
  p.fill_bottom({10, 60, 80, 40}, t.sunk, 4);
  p.accent_box(t, {100, 10, 40, 20}, 4);  // its outline is there in the light theme alone
  p.outline({10, 10, 80, 40}, t.ink.alpha(0.5f), 2);
  p.dashed_outline({10, 110, 80, 40}, t.strong, 1, {3, 3}, 3);
  p.dashed_line({0, 5}, {200, 5}, t.ink, 1, {2, 2});
  p.hatch({100, 110, 40, 20}, t.error, 1.7f, 7);
  p.hatch({140, 110, 40, 20}, t.error, 1.7f, 7);
  p.end_group();
  p.push_clip({0, 0, 100, 100});
  const Vec line[] = {{0, 0}, {50, 80}, {100, 20}};
  p.dashed(line, t.runs[1].line, 2, t.runs[1].dash, 1.5f);
  p.pop_clip();
  for (const Marker marker : {Marker::Square, Marker::Triangle, Marker::Circle, Marker::Diamond})
    p.marker({150, 50}, marker, 4, t.runs[2].line, t.panel);
  p.arc({150, 90}, 8, 0, 3, t.ink, 2);
  p.text({10, 170}, kBody, t.ink, "norm of W_Q & more", Align::Left);
  p.text_in({10, 180, 180, 16}, kBody, t.ink, "a line in its box", Align::Right);
  return {200, 200};
}

}  // namespace

TEST_CASE("svg: light and dark are one drawing whose pairs of colours are classes") {
  const std::string both = to_svg("all & more", paint_all);
  CHECK(test::well_formed(both));
  CHECK(times_in(both, "<title>all &amp; more</title>") == 1);
  CHECK(times_in(both, "<g><title>a &lt; b</title>") == 1);
  CHECK(times_in(both, "@media (prefers-color-scheme:dark)") == 1);
  for (const bool dark : {false, true}) CHECK(times_in(both, to_hex(theme(dark).runs[1].line)) == 1);
  CHECK(times_in(both, " style=") == 0);
  CHECK(times_in(both, "<pattern ") == 1);
  CHECK(times_in(both, "stroke-dashoffset=\"1.5\"") == 1);
  CHECK(times_in(both, "W<tspan dy=\"2.64\" font-size=\"8.88\">Q</tspan><tspan dy=\"-2.64\"") == 1);

  const std::string light = to_svg("all", paint_all, theme(false));
  CHECK(test::well_formed(light));
  CHECK(times_in(light, "class=") == 0);
  CHECK(times_in(light, "<style") == 0);
  CHECK(times_in(light, to_hex(theme(true).runs[1].line)) == 0);
  CHECK_THROWS_AS(to_svg("odd",
                         [](Painter& p, const Theme& t) {
                           if (t.dark) p.fill({0, 0, 1, 1}, t.ink);
                           return Vec{1, 1};
                         }),
                  Error);
}

TEST_CASE("svg: a text is measured without a font nearly as with it") {
  headless::Frame frame({200, 200});
  Ui ui(load_fonts());
  if (!ui.fonts().notice.empty()) return;  // other faces
  frame.step([&] {
    ui.begin_frame({});
    for (const Face face : {Face::Sans, Face::Bold, Face::Mono})
      for (const char* text :
           {"Half of the seeds learn in 24 of 42 cells.", "nats per letter, mean of all 20 steps", "W_Q",
            "L03.attn output at step 23"}) {
        float width = 0;
        to_svg("", [&](Painter& p, const Theme&) {
          width = p.text_width({face, 12}, text);
          return Vec{1, 1};
        });
        CHECK(width == Approx(ui.paint().text_width({face, 12}, text)).epsilon(0.05));
      }
    ui.end_frame();
  });
}

TEST_CASE("svg: file and screen have the same words") {
  headless::Frame frame({200, 200});
  Ui ui(load_fonts());
  FrameOptions options;
  options.record_text = true;
  frame.step([&] {
    ui.begin_frame(options);
    paint_all(ui.paint(), ui.theme());
    ui.end_frame();
  });
  const std::string svg = to_svg("", paint_all, theme(false));
  CHECK(ui.texts().size() == times_in(svg, "<text "));
  for (const TextRecord& text : ui.texts())
    if (text.text.find('_') == text.text.npos) CHECK(times_in(svg, ">" + text.text + "</text>") == 1);
}

}  // namespace normscope::ui
