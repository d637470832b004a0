// These tests use widgets by name: mouse, keyboard, dragging, typing, popups, tooltips, focus, fonts.
#include <imgui.h>

#include "app/support/gallery.h"
#include "app/ui/keys.h"
#include "catch.hpp"
#include "engine/core/error.h"
#include "engine/support/helpers.h"

using namespace normscope;
using ui::Vec;

TEST_CASE("buttons are clicked by name") {
  gallery::Stage s;
  CHECK(s.driver.value("transport/play") == "paused");
  s.driver.click("transport/play");
  CHECK(s.state.playing);
  CHECK(s.driver.value("transport/play") == "playing");
  s.driver.click("transport/step");
  s.driver.click("transport/step");
  CHECK(s.state.steps == 2);
  s.driver.click("transport/undo");  // disabled: nothing happens, and it says so
  CHECK(!s.driver.control("transport/undo").enabled);
}

TEST_CASE("a press that leaves the button does nothing") {
  gallery::Stage s;
  s.driver.drag_by("transport/step", {200, 0});
  CHECK(s.state.steps == 0);
}

TEST_CASE("an unknown name is reported with its neighbours") {
  gallery::Stage s;
  try {
    s.driver.click("transport/fly");
    FAIL("found a control that is not there");
  } catch (const Error& e) {
    CHECK(test::contains(std::string(e.what()), "transport/fly"));
    CHECK(test::contains(std::string(e.what()), "transport/play"));
  }
}

TEST_CASE("the keyboard reaches every control") {
  gallery::Stage s;
  std::vector<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    s.driver.key("Tab");
    if (!seen.empty() && s.ui.focused() == seen.front()) break;
    seen.push_back(s.ui.focused());
  }
  CHECK(s.ui.focus_visible());
  auto has = [&](const char* name) { return std::ranges::find(seen, name) != seen.end(); };
  for (const char* name :
       {"transport/play", "transport/reset", "settings/depth", "settings/learning rate", "settings/optimizer",
        "diagram/preset", "bar/search", "bar/theme", "plot/rate/warm-up"}) {
    INFO(name);
    CHECK(has(name));
  }
  CHECK(!has("transport/undo"));  // disabled
  s.driver.key("Shift+Tab");
  CHECK(s.ui.focused() == seen[seen.size() - 1]);
}

TEST_CASE("Enter activates, Space and arrows stay the screen's") {
  gallery::Stage s;
  s.ui.focus("transport/step");
  s.driver.key("Enter");
  CHECK(s.state.steps == 1);
  s.driver.key("Space");
  CHECK(s.state.playing);
  s.driver.key("Right");
  CHECK(s.state.steps == 2);
  // A control that wants the arrows gets them instead.
  s.ui.focus("settings/depth");
  s.driver.frames(2);
  s.driver.key("Right");
  CHECK(s.state.depth == 7);
  CHECK(s.state.steps == 2);
  s.driver.key("Shift+Right");
  CHECK(s.state.depth == 17);
  s.driver.key("Down");
  CHECK(s.state.depth == 16);
  s.driver.key("Escape");
  CHECK(s.ui.focused().empty());
  s.driver.key("Right");
  CHECK(s.state.steps == 3);
}

TEST_CASE("a field is dragged") {
  gallery::Stage s;
  s.driver.drag_by("settings/depth", {120, 0});
  CHECK(s.state.depth > 10);
  CHECK(s.state.depth == std::round(s.state.depth));
  CHECK(s.state.last_change == ui::Change::Done);
  s.driver.drag_by("settings/depth", {-2000, 0});
  CHECK(s.state.depth == 1);
  s.driver.drag_by("settings/depth", {2000, 0});
  CHECK(s.state.depth == 24);
  // On a logarithmic track equal ways are equal factors, in two digits.
  s.driver.drag_by("settings/learning rate", {-100, 0});
  CHECK(s.state.rate < 1.1e-3);
  CHECK(s.state.rate > 1e-4);
  CHECK(ui::number(s.state.rate, 2) == ui::number(s.state.rate, 6));
}

TEST_CASE("a field is typed into") {
  gallery::Stage s;
  s.driver.click("settings/depth");
  CHECK(s.ui.typing());
  s.driver.type("12");
  s.driver.key("Enter");
  CHECK(!s.ui.typing());
  CHECK(s.state.depth == 12);
  CHECK(s.driver.value("settings/depth") == "12");
  // Past the soft end of the track, but not below the hard one.
  s.driver.click("settings/depth");
  s.driver.type("64");
  s.driver.key("Enter");
  CHECK(s.state.depth == 64);
  s.driver.click("settings/depth");
  s.driver.type("-3");
  s.driver.key("Enter");
  CHECK(s.state.depth == 1);
  // Escape takes it back, nonsense is refused, Tab commits and moves on.
  s.driver.click("settings/learning rate");
  s.driver.type("0.5");
  s.driver.key("Escape");
  CHECK(s.state.rate == Approx(3e-3));
  s.driver.click("settings/learning rate");
  s.driver.type("fast");
  s.driver.key("Enter");
  CHECK(s.state.rate == Approx(3e-3));
  s.driver.click("settings/learning rate");
  s.driver.type("1e-3");
  s.driver.key("Tab");
  CHECK(s.state.rate == Approx(1e-3));
  CHECK(s.ui.focused() == "settings/optimizer");
}

TEST_CASE("a click elsewhere commits what was typed") {
  gallery::Stage s;
  s.driver.click("settings/depth");
  s.driver.type("9");
  s.driver.click("transport/play");
  CHECK(s.state.depth == 9);
}

TEST_CASE("Space and letters go into the text while one types") {
  gallery::Stage s;
  s.driver.click("bar/search");
  s.driver.key("Space");
  s.driver.type("norm");
  CHECK(!s.state.playing);
  s.driver.key("Enter");
  CHECK(s.state.search == " norm");
}

TEST_CASE("segments and choices") {
  gallery::Stage s;
  s.driver.click("diagram/preset/Pre");
  CHECK(s.state.preset == 2);
  CHECK(s.driver.value("diagram/preset") == "Pre");
  s.ui.focus("diagram/preset");
  s.driver.frames(2);
  s.driver.key("Left");
  CHECK(s.state.preset == 1);
  s.driver.click("settings/optimizer");
  s.driver.click("settings/optimizer/SGD");
  CHECK(s.state.optimizer == 1);
  s.driver.frames(2);
  CHECK(s.ui.registry().find("settings/optimizer/SGD") == nullptr);  // the list is closed
  s.driver.click("settings/optimizer");
  CHECK(s.ui.popup_open("settings/optimizer"));
  s.driver.key("Escape");
  CHECK(!s.ui.popup_open("settings/optimizer"));
  s.driver.click("settings/optimizer");
  s.driver.move_to(Vec{800, 500});
  s.driver.press();
  s.driver.release();
  CHECK(!s.ui.popup_open("settings/optimizer"));
}

TEST_CASE("help appears after a moment of rest") {
  gallery::Stage s;
  auto shows = [&](const char* text) {
    for (const ui::TextRecord& t : s.ui.texts())
      if (t.layer == 3 && t.text.find(text) != std::string::npos) return true;
    return false;
  };
  s.driver.move_to("transport/play");
  CHECK(!shows("Trains or pauses"));
  CHECK(s.ui.animating());
  s.driver.frames(30);
  CHECK(shows("Trains or pauses"));
  s.driver.move_to(Vec{800, 400});
  s.driver.frames(2);
  CHECK(!shows("Trains or pauses"));
}

TEST_CASE(
    "help waits for the mouse to rest, goes when a button is held, and covers nothing that it explains") {
  gallery::Stage s;
  const auto help = [&] {
    ui::Rect all;
    for (const ui::TextRecord& t : s.ui.texts())
      if (t.layer == 3) all = joined(all, t.rect);
    return all;
  };
  const ui::Rect play = s.driver.control("transport/play").rect;
  for (int i = 0; i < 60; ++i) {  // it wanders over the control for a second
    s.driver.move_to(play.centre() + Vec{i % 2 ? 3.f : -3.f, 0});
    CHECK(help().empty());
  }
  s.driver.frames(30);
  CHECK_FALSE(help().empty());
  CHECK_FALSE(help().overlaps(play));
  s.driver.press();
  s.driver.frames(40);
  CHECK(help().empty());
  s.driver.release();
}

TEST_CASE("a box beside what is asked about never lies on it, wherever that stands") {
  const Vec window{1024, 600}, box{298, 80};
  for (const Vec size : {Vec{20, 20}, Vec{300, 96}, Vec{900, 28}, Vec{60, 110}})
    for (float x = 0; x + size.x <= window.x; x += 31)
      for (float y = 0; y + size.y <= window.y; y += 23) {
        const ui::Rect asked{x, y, size.x, size.y};
        const ui::Rect at = ui::beside(asked, asked.centre(), box, window);
        INFO(x << ' ' << y << ' ' << size.x << 'x' << size.y);
        REQUIRE_FALSE(at.overlaps(asked));
        REQUIRE(ui::Rect{0, 0, window.x, window.y}.contains(at));
      }
}

TEST_CASE("a control that disappears gives the focus back") {
  gallery::Stage s;
  s.ui.focus("nobody");
  s.driver.frames(1);
  CHECK(s.ui.focused().empty());
}

TEST_CASE("scale and theme can change while a control is held") {
  gallery::Stage s;
  s.driver.move_to("settings/depth");
  s.driver.press();
  s.options.dark = true;
  s.driver.frames(2);
  s.options.scale = 1.5f;
  s.driver.frames(2);
  s.driver.release();
  CHECK(s.ui.theme().dark);
  CHECK(s.ui.scale() == 1.5f);
}

TEST_CASE("a window that is too small for the scale shows the part that the mouse or Tab comes to") {
  gallery::Stage s({1280, 720});
  s.options.scale = s.options.least_scale = 1.5f;
  s.driver.frames(2);  // drawn so before the mouse comes, as what is under it would stay there
  s.driver.move_to(Vec{400, 300});
  CHECK(s.ui.scale() == 1.5f);
  CHECK(s.ui.size().x == 1024);
  CHECK(s.ui.size().y == 600);
  CHECK(s.ui.pan().x == 0);
  CHECK(s.ui.pan().y == 0);
  const auto shown = [&] { return s.frame.draw_data()->DisplayPos; };
  s.driver.move_to(Vec{1012, 592});  // the far corner
  CHECK(s.ui.pan().x == 1536 - 1280);
  CHECK(s.ui.pan().y == 900 - 720);
  CHECK(shown().x == s.ui.pan().x);
  CHECK(shown().y == s.ui.pan().y);
  CHECK(s.frame.draw_data()->DisplaySize.x == 1280);
  s.driver.move_to(Vec{500, 350});  // in the middle nothing moves
  CHECK(s.ui.pan().x == 1536 - 1280);
  s.driver.move_to(Vec{10, 10});
  CHECK(s.ui.pan().x == 0);
  CHECK(s.ui.pan().y == 0);
  // What is under the mouse stays under it.
  s.driver.move_to(Vec{512, 300});
  s.options.scale = s.options.least_scale = 1.f;
  s.driver.frames(2);
  CHECK(s.ui.pan().x == 0);
  s.options.scale = s.options.least_scale = 2.f;
  s.driver.frames(1);
  const Vec under{s.ui.pan().x + 768, s.ui.pan().y + 450};
  CHECK(under.x == 2 * 768);
  CHECK(under.y == 2 * 450);
  s.options.scale = s.options.least_scale = 1.5f;
  // The whole of it again where there is room.
  s.driver.move_to(Vec{1012, 592});
  s.frame.resize({1600, 1000});
  s.driver.frames(2);
  CHECK(s.ui.pan().x == 0);
  CHECK(s.ui.pan().y == 0);
}

TEST_CASE("while the mouse rests at an edge the part moves on, and the mouse points at what is under it") {
  gallery::Stage s({1280, 720});
  s.options.scale = s.options.least_scale = 1.5f;
  s.driver.frames(2);
  s.frame.make_current();
  const auto frame = [&] {
    ui::new_frame(s.ui.pan(), s.ui.panned());
    s.ui.begin_frame(s.options);
    s.ui.end_frame();
    ImGui::Render();
    headless::serve_textures();
  };
  ImGui::GetIO().AddMousePosEvent(1279, 300);  // as a window says it
  frame();
  const float first = s.ui.pan().x;
  CHECK(first > 0);
  CHECK(s.ui.animating());
  frame();
  CHECK(s.ui.pan().x > first);
  for (int i = 0; i < 40; ++i) frame();
  CHECK(s.ui.pan().x == 1536 - 1280);
  CHECK(s.ui.pan().y == 0);
  CHECK_FALSE(s.ui.animating());
  CHECK(s.ui.mouse().x == Approx(1535 / 1.5f));
  CHECK(s.ui.mouse().y == Approx(200));
  ImGui::GetIO().AddMousePosEvent(640, 360);
  frame();
  CHECK(s.ui.mouse().x == Approx((640 + 256) / 1.5f));
  CHECK(s.ui.pan().x == 256);
}

TEST_CASE("easing reaches its end in its time and jumps under reduced motion") {
  gallery::Stage s;
  float value = -1;
  float target = 0;
  auto frame = [&] {
    s.ui.begin_frame({.reduced_motion = false});
    value = s.ui.ease("halo", target, 80);
    s.ui.end_frame();
  };
  s.frame.step(frame);
  CHECK(value == 0);
  target = 1;
  s.frame.step(frame);
  s.frame.step(frame);
  CHECK(value > 0.3f);
  CHECK(value < 1);
  for (int i = 0; i < 6; ++i) s.frame.step(frame);
  CHECK(value == 1);
  target = 0;
  s.frame.step([&] {
    s.ui.begin_frame({.reduced_motion = true});
    value = s.ui.ease("halo", target, 80);
    s.ui.end_frame();
  });
  CHECK(value == 0);
}

TEST_CASE("scripts") {
  gallery::Stage s;
  auto complaint = [&](const char* script) -> std::string {
    try {
      s.driver.script(script);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  auto says = [&](const char* script, const char* words) {
    return complaint(script).find(words) != std::string::npos;
  };
  s.driver.script(
      "# a comment\n\nclick transport/play\nkey Right\nclick settings/depth\ntype 8\nkey Enter\nframes 3\n");
  CHECK(s.state.playing);
  CHECK(s.state.steps == 1);
  CHECK(s.state.depth == 8);
  CHECK(says("click transport/play\njump high", "script line 2"));
  CHECK(says("drag transport/play", "lacks an argument"));
  CHECK(says("key Hyper+Q", "unknown key"));
  CHECK(says("frames -1", "frames"));
  for (const char* wrong :
       {"wheel", "at transport/play 0.5", "wheel much", "wheel 3x", "wheel nan", "wheel 1e9", "frames 2.5",
        "frames 0", "frames 100001", "at transport/play 0.5 low", "at transport/play -1 0",
        "at transport/play 0 1.5", "at transport/play inf 0"}) {
    INFO(wrong << ": " << complaint(wrong));
    CHECK(says(wrong, "script line 1: "));
    CHECK(
        (says(wrong, " a number from ") || says(wrong, "whole number") || says(wrong, "lacks an argument")));
  }
}

TEST_CASE("missing fonts fall back to the built-in one with one line of notice") {
  headless::Frame frame({1280, 800});
  ui::Ui ui(ui::load_fonts({}));
  CHECK(test::contains(ui.fonts().notice, "Inter Regular"));
  CHECK_FALSE(test::contains(ui.fonts().notice, "\n"));
  gallery::State state;
  for (int i = 0; i < 2; ++i)
    frame.step([&] {
      ui.begin_frame({});
      gallery::draw(ui, state);
      ui.end_frame();
    });
  CHECK(frame.draw_data()->TotalVtxCount > 1000);
}

TEST_CASE("numbers as people write them") {
  CHECK(ui::with_minus("-0.25") == "−0.25");
  CHECK(ui::with_minus("-0.00") == "0.00");
  CHECK(ui::with_minus("-inf") == "−inf");
  CHECK(ui::with_minus("-1e-05") == "−1e-05");
  CHECK(ui::with_minus("0.5") == "0.5");
  CHECK(ui::number(0.003, 4) == "0.003");
  CHECK(ui::number(0) == "0");
  CHECK(ui::number(16000) == "16\u2009000");
  CHECK(ui::number(999.6) == "1\u2009000");
  CHECK(ui::number(1.2) == "1.2");
  CHECK(ui::number(-0.25) == "−0.25");
  CHECK(ui::number(3.1e-7, 2) == "3.1×10⁻⁷");
  CHECK(ui::number(1e-6) == "10⁻⁶");
  CHECK(ui::number(1.0 / 0.0) == "∞");
  CHECK(ui::grouped(1234567) == "1\u2009234\u2009567");
  CHECK(ui::grouped(-1000) == "−1\u2009000");
  CHECK(ui::power_of_ten(-12) == "10⁻¹²");
  CHECK(ui::power_of_ten(0) == "1");
}

TEST_CASE("a narrow field shows its whole value before anything else") {
  gallery::Stage s;
  for (float width : {30.f, 46.f, 60.f, 90.f, 140.f, 260.f})
    for (const char* label : {"", "learning rate"}) {
      double value = 300;
      ui::FieldOptions options;
      options.unit = "steps";
      options.note = "differs";
      for (int i = 0; i < 2; ++i)
        s.frame.step([&] {
          s.ui.begin_frame(s.options);
          ui::field(s.ui, "narrow", {100, 100, width, 24}, label, value, "A number.", options);
          s.ui.end_frame();
        });
      INFO(width << ' ' << label);
      bool whole = false;
      for (const ui::TextRecord& t : s.ui.texts()) whole = whole || t.text == "300";
      CHECK(whole);
      for (const ui::TextRecord& a : s.ui.texts())
        for (const ui::TextRecord& b : s.ui.texts())
          if (&a != &b) CHECK(!a.rect.inset(0.5f).overlaps(b.rect.inset(0.5f)));
    }
}
