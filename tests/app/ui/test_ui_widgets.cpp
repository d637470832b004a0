// These tests use widgets by name: mouse, keyboard, dragging, typing, popups, tooltips, focus, fonts.
#include <imgui.h>

#include <algorithm>

#include "answers.h"
#include "app/headless/system_fonts.h"
#include "app/headless/ui_driver.h"
#include "app/shell/app_state.h"
#include "app/support/lab_fixture.h"
#include "app/support/listing.h"
#include "app/ui/ui.h"
#include "app/ui/widgets.h"
#include "engine/support/helpers.h"

using namespace normscope;
using ui::Vec;

namespace {

/// A window with a widget of each kind.
struct Stage {
  explicit Stage(Vec size = {1600, 1000}) : frame(size) { driver.frames(3); }

  void draw() {
    ui.begin_frame(options);
    if (ui::icon_button(ui, "transport/play", {60, 900, 46, 36}, ui::Icon::Play, "Trains or pauses.", {},
                        playing ? "playing" : "paused") ||
        ui.shortcut("Space"))
      playing = !playing;
    if (ui::icon_button(ui, "transport/step", {120, 900, 32, 30}, ui::Icon::Step, "One step.") ||
        ui.shortcut("Right"))
      ++steps;
    ui::button(ui, "transport/undo", {400, 900, 80, 28}, "Undo", "Takes the last edit back.",
               {.enabled = false});
    const auto changed = [&](ui::Change change) {
      if (change != ui::Change::None) last_change = change;
    };
    changed(ui::field(ui, "settings/depth", {20, 100, 400, 24}, "depth", depth, "How many layers.",
                      {.lo = 1, .hi = 24, .integer = true, .unit = "layers"}));
    changed(ui::field(ui, "settings/learning rate", {20, 130, 400, 24}, "learning rate", rate,
                      "Peak learning rate.", {.lo = 1e-5, .hi = 1e-1, .log = true}));
    const std::vector<std::string> kinds{"Adam", "SGD", "SGD with momentum"}, presets{"None", "Post", "Pre"};
    ui::choice(ui, "settings/optimizer", {20, 160, 400, 24}, ui::labels_of(kinds), optimizer,
               "How the weights move.");
    ui::segmented(ui, "diagram/preset", {20, 190, 400, 26}, ui::labels_of(presets), preset,
                  "Sets every norm at once.");
    ui::text_field(ui, "bar/search", {1220, 8, 230, 28}, "Find a control or command", search,
                   "Finds any control by its name.");
    ui.end_frame();
  }

  double depth = 6, rate = 3e-3;
  int preset = 1, optimizer = 0, steps = 0;
  bool playing = false;
  std::string search;
  ui::Change last_change = ui::Change::None;
  headless::Frame frame;
  ui::Ui ui{ui::load_fonts()};
  ui::FrameOptions options{.reduced_motion = true, .record_text = true};
  headless::UiDriver driver{frame, ui, [this] { draw(); }};
};

/// It under a hand, line by line in tests/answers/widgets.txt: a script's line, "poke" a control that may be
/// greyed, "pull" one to the right by px, "focus" one; and what came of it.
struct WidgetScript {
  std::string obey(const std::string& line) {
    const auto [verb, rest] = test::verb_and_rest(line);
    if (verb == "new") {
      stage = std::make_unique<Stage>();
    } else if (verb == "poke") {
      stage->driver.click(rest);
    } else if (verb == "pull") {
      const size_t blank = rest.rfind(' ');
      stage->driver.drag_by(rest.substr(0, blank), {std::stof(rest.substr(blank)), 0});
    } else if (verb == "open") {  // a click in the open
      stage->driver.move_to(Vec{800, 500});
      stage->driver.press();
      stage->driver.release();
    } else if (verb == "focus") {
      stage->ui.focus(rest);
    } else {
      stage->driver.script(line);
    }
    stage->driver.frames(2);
    const std::vector<std::string> now = state();
    const std::string text = fixture::changes(before, now);
    before = now;
    return verb == "new" ? "" : text;
  }

  std::vector<std::string> state() const {
    const ui::Ui& u = stage->ui;
    const Stage& s = *stage;
    std::vector<std::string> lines =
        fixture::lines_of(u, {"transport/", "settings/optimizer", "settings/depth", "settings/learning",
                              "diagram/preset", "bar/search"});
    lines.push_back(
        fmt::format("has steps {}, depth {}, rate {:.6g}, preset {}, optimizer {}, search '{}'{}{}", s.steps,
                    s.depth, s.rate, s.preset, s.optimizer, s.search, s.playing ? ", playing" : "",
                    s.last_change == ui::Change::Done ? ", done" : ""));
    lines.push_back("focus " + u.focused() + (u.typing() ? ", typing" : ""));
    return lines;
  }

  std::unique_ptr<Stage> stage;
  std::vector<std::string> before;
};

std::string told(const ui::Typed& typed) {
  switch (typed.kind) {
    case ui::Typed::Kind::Number:
      return fmt::format("{:.9g}", typed.value);
    case ui::Typed::Kind::Fraction:
      return "a fraction";
    case ui::Typed::Kind::TwoMeanings:
      return fmt::format("{:.9g} or {:.9g}", typed.value, typed.value / 1000);
    case ui::Typed::Kind::Nonsense:
      break;
  }
  return "no number";
}

}  // namespace

TEST_CASE("a number that rounds up to the next power of ten is written as that power") {
  CHECK(ui::number(9.999e9, 2) == "10¹⁰");
  CHECK(ui::number(-9.999e-6, 3) == "−10⁻⁵");
  CHECK(ui::number(9.94e9, 2) == "9.9×10⁹");
}

TEST_CASE("a number with fixed decimals is short however large it is") {
  CHECK(ui::decimals(2.934, 2) == "2.93");
  CHECK(ui::decimals(-123456.789, 1) == "-123456.8");
  CHECK(ui::decimals(3e38, 2) == "3×10³⁸");
  CHECK(ui::decimals(-3.40282e38, 2) == "−3.403×10³⁸");
}

TEST_CASE("widgets answer mouse and keyboard as told", "[listing]") {
  WidgetScript used;
  test::check_answers("widgets", [&](const std::string& line) { return used.obey(line); });
}

TEST_CASE("numbers as people write them", "[listing]") {
  test::check_answers("numbers", [](const std::string& line) {
    const auto [verb, rest] = test::verb_and_rest(line);
    std::istringstream words(rest);
    double value = 0;
    int digits = 3;
    if (verb == "minus") return ui::with_minus(rest);
    if (verb == "typed" || verb == "whole") return told(ui::typed_number(rest, verb == "whole"));
    const std::string text = rest.substr(0, rest.find(' '));
    value = std::stod(text);
    if (verb == "grouped") return ui::grouped(static_cast<long long>(value));
    if (verb == "power") return ui::power_of_ten(static_cast<int>(value));
    if (rest.size() > text.size()) digits = std::stoi(rest.substr(text.size()));
    return ui::number(value, digits);
  });
}

TEST_CASE("the keyboard reaches every control") {
  Stage s;
  std::vector<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    s.driver.key("Tab");
    if (!seen.empty() && s.ui.focused() == seen.front()) break;
    seen.push_back(s.ui.focused());
  }
  CHECK(s.ui.focus_visible());
  auto has = [&](const char* name) { return std::ranges::find(seen, name) != seen.end(); };
  for (const char* name : {"transport/play", "settings/depth", "settings/learning rate", "settings/optimizer",
                           "diagram/preset", "bar/search"}) {
    INFO(name);
    CHECK(has(name));
  }
  CHECK(!has("transport/undo"));  // disabled
  s.driver.key("Shift+Tab");
  CHECK(s.ui.focused() == seen[seen.size() - 1]);
}

TEST_CASE(
    "help waits for the mouse to rest, goes when a button is held, and covers nothing that it explains") {
  Stage s;
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
  CHECK(s.ui.animating());
  s.driver.frames(30);
  CHECK_FALSE(help().empty());
  CHECK_FALSE(help().overlaps(play));
  CHECK(std::ranges::any_of(s.ui.texts(), [](const auto& t) { return t.text == "Trains or pauses."; }));
  s.driver.move_to(Vec{800, 400});
  s.driver.frames(2);
  CHECK(help().empty());
  s.driver.move_to(play.centre());
  s.driver.frames(30);
  s.driver.press();
  s.driver.frames(40);
  CHECK(help().empty());
  s.driver.release();
}

TEST_CASE("a screen does not see the mouse under a layer, unless it was pressed before") {
  headless::Frame frame({800, 600});
  ui::Ui ui(ui::load_fonts());
  ui::FrameOptions options{.reduced_motion = true};
  ui::Vec below{}, above{};
  const auto draw = [&] {
    ui.begin_frame(options);
    ui.hit("screen", {0, 0, 800, 600}, "", "The screen.", {.overlap = true});
    below = ui.mouse();
    ui.begin_layer("panel", {300, 200, 200, 100});
    above = ui.mouse();
    ui.end_layer();
    ui.end_frame();
  };
  headless::UiDriver driver{frame, ui, draw};
  const Vec open{100, 100}, covered{400, 250};
  const auto sees = [](Vec seen, Vec place) { return std::hypot(seen.x - place.x, seen.y - place.y) < 1; };
  driver.frames(3);
  driver.move_to(open);
  driver.frames(2);
  CHECK(sees(below, open));
  driver.move_to(covered);
  driver.frames(2);
  CHECK_FALSE(ui::Rect{0, 0, 800, 600}.contains(below));
  CHECK(sees(above, covered));
  CHECK(ui.under_mouse().empty());
  driver.press();
  driver.frames(2);
  CHECK_FALSE(sees(below, covered));  // the press belongs to the layer
  driver.release();
  driver.move_to(open);
  driver.press();
  driver.move_to(covered);
  driver.frames(2);
  CHECK(sees(below, covered));  // a drag that began on the screen
  driver.release();
}

TEST_CASE("a sign that no face has comes from a font of the system, asked for once") {
  headless::Frame frame({300, 100});
  ui::Ui ui(ui::load_fonts({}));  // the built-in font alone
  std::vector<char32_t> asked;
  const headless::FindFont before = headless::ask_for_fonts([&](char32_t sign) {
    asked.push_back(sign);
    for (const std::string& folder : ui::default_font_folders())
      if (const std::string path = folder + "/DejaVuSans.ttf"; std::filesystem::exists(path))
        return headless::FontFile{path, 0};
    return headless::FontFile{};
  });
  constexpr ImWchar kSign = 0x10D0;  // Georgian, which DejaVu has and the built-in font lacks
  const auto draw = [&] {
    frame.step([&] {
      ui.begin_frame({});
      ui.paint().text({10, 50}, {ui::Face::Sans, 12}, ui.theme().ink, "\u10D0\u10D0");
      ui.end_frame();
    });
  };
  draw();
  CHECK_FALSE(ui.fonts()[ui::Face::Sans].font->IsGlyphInFont(kSign));
  draw();
  CHECK(asked == std::vector<char32_t>{kSign});
  CHECK(ui.fonts()[ui::Face::Sans].font->IsGlyphInFont(kSign));
  draw();
  CHECK(asked.size() == 1);
  headless::ask_for_fonts(before);
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

TEST_CASE("scale and theme can change while a control is held") {
  Stage s;
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
  Stage s({1280, 720});
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
  Stage s({1280, 720});
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
  Stage s;
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
  Stage s;
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
  CHECK(s.playing);
  CHECK(s.steps == 1);
  CHECK(s.depth == 8);
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
  shell::AppState state;
  state.session.view = fixture::lab_view();
  for (int i = 0; i < 2; ++i) frame.step([&] { shell::draw_app(state, ui); });
  CHECK(frame.draw_data()->TotalVtxCount > 1000);
}

TEST_CASE("a narrow field shows its whole value before anything else") {
  Stage s;
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
