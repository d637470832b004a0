// These tests use the Sweep screen by name, window-less: cells, brush, axes, keys, copies and the way to the Lab; every
// control with help and words.

#include "addons/sweep/app/screen/words.h"
#include "addons/sweep/tests/app/sweep_fixture.h"
#include "app/shell/palette.h"
#include "app/shell/session_window.h"
#include "app/support/english.h"
#include "catch.hpp"

using namespace normscope;
using namespace shell;
using fixture::SweepDriver;
using sweep::Brush;

TEST_CASE("sweep screen: plan and colour travel with the session, and damage is left out") {
  SweepDriver s;
  s.driver.drag_by("sweep/grid", {s.driver.control("sweep/grid").rect.w / 7, 0}, "", 6, s.of_cell(2, 3));
  s.driver.key("=");
  sweep::KeptSweep kept = s.screen().sweep();
  CHECK(kept.plan == s.screen().plan());
  REQUIRE_FALSE(kept.plan.more.empty());
  kept.metric = sweep::Metric::Beta2;
  s.screen().restore(settings_of(kept));
  const std::string rows = window_rows(s.state.screens, s.state.parts);

  SweepDriver other;
  show_window(other.state.screens, other.state.session, other.state.parts, rows);
  CHECK(other.screen().sweep() == kept);
  AppState unopened;
  show_window(unopened.screens, unopened.session, unopened.parts, rows);
  CHECK(unopened.screens.shown == Screen::Sweep);
  CHECK(fixture::made_screen<sweep::SweepScreen>(unopened, Screen::Sweep).sweep() == kept);
  AppState damaged;
  show_window(damaged.screens, damaged.session, damaged.parts,
              R"({"bookmarks": [], "selected": "B", "screens": ["sweep.axis=train.lr"]})");
  CHECK(fixture::made_screen<sweep::SweepScreen>(damaged, Screen::Sweep).plan() ==
        sweep::preset_plan("warmup"));
  CHECK(damaged.screens.lab.diagram().selected == 'B');
}

TEST_CASE("sweep screen: while it trains Space pauses and S stops") {
  SweepDriver s;
  s.trainer->keeps_running = true;
  s.driver.key("Space");
  CHECK(s.screen().busy());
  s.driver.key("Space");
  CHECK(s.trainer->state()->phase == sweep::Phase::Paused);
  s.driver.click("sweep/play");
  CHECK(s.screen().busy());
  s.driver.key("S");
  CHECK(s.trainer->state()->phase == sweep::Phase::Stopped);
  CHECK(s.trainer->shared);  // the Lab's runs train beside it
  auto resting = std::make_shared<LabView>(*s.state.session.view);
  resting->playing = false;
  s.state.session.view = resting;
  s.driver.frames(1);
  CHECK_FALSE(s.trainer->shared);
}

TEST_CASE("sweep screen: a sweep that comes from a session or a link is not trained until play is pressed") {
  SweepDriver s;
  s.trainer->keeps_running = true;
  s.driver.key("Space");
  REQUIRE(s.trainer->state()->phase == sweep::Phase::Training);
  s.screen().show_kept({sweep::preset_plan("depth")});
  CHECK(s.screen().plan() == sweep::preset_plan("depth"));
  CHECK(s.trainer->state()->phase == sweep::Phase::Ready);
  s.driver.click("sweep/play");
  CHECK(s.trainer->state()->phase == sweep::Phase::Training);
}

TEST_CASE("sweep screen: every control has help, and a name in words in the palette") {
  SweepDriver s;
  s.train();
  s.driver.key("Right");
  s.key("Shift+Up");
  int controls = 0;
  for (const ui::Control& c : s.ui.registry().all()) {
    if (!c.name.starts_with("sweep/")) continue;
    INFO(c.name);
    CHECK(c.help.size() > 10);
    if (!c.interactive) continue;
    ++controls;
    CHECK_FALSE(test::contains(shell::control_title(c.name), "/"));
    CHECK_FALSE(test::contains(shell::control_title(c.name), "_"));
  }
  CHECK(controls > 30);
}

TEST_CASE("sweep screen: the runs of the Lab that train are told to the trainer on every screen") {
  SweepDriver s;
  auto view = std::make_shared<LabView>(*s.state.session.view);
  view->playing = true;
  s.state.session.view = view;
  s.key("1");
  CHECK(s.trainer->shared);
}

TEST_CASE("sweep screen: a sweep that dies says why, and so does what is refused") {
  SweepDriver s;
  s.trainer->die("a sweep: the disk is full");
  s.driver.frames(2);
  CHECK(s.driver.control("sweep/status").value == "a sweep: the disk is full");
  sweep::Plan twice = s.screen().plan();
  twice.axes[1] = twice.axes[0];
  s.screen().show(twice);
  s.driver.frames(2);
  CHECK(s.driver.control("sweep/status").value == s.screen().message());
  CHECK(
      s.screen().message().starts_with("both axes are "));  // without the place, which only a terminal needs
  CHECK(s.screen().plan() == sweep::preset_plan("warmup"));
  const fixture::Spoken german("de");
  s.screen().show(twice);
  CHECK(s.screen().message().starts_with("Beide Achsen sind "));
  RunSpec spec;
  CHECK(sweep::why_not(test::error_of([&] { set_field(spec, "train.lr", "500"); })) ==
        "Lernrate: 500 liegt außerhalb: erwartet wird 0 bis 100");
}

TEST_CASE("sweep screen: the grid has the room, and not the panel of a cell that is not there yet") {
  for (const ui::Vec size : {ui::Vec{1280, 720}, ui::Vec{1024, 600}}) {
    SweepDriver s(size);
    INFO(size.x);
    const ui::Rect cell = s.driver.control("sweep/cell").rect, window{0, 0, s.ui.size().x, s.ui.size().y};
    CHECK(cell.right() <= window.w);
    CHECK(cell.w < 0.37f * window.w);  // it was half of 1280
  }
}

TEST_CASE("sweep screen: a handle in the hand is put down by undo and by another screen") {
  for (const char* key : {"Ctrl+Z", "1"}) {
    INFO(key);
    SweepDriver s;
    const sweep::Plan before = s.screen().plan();
    const ui::Rect handle = s.driver.control("sweep/across/rail/2").rect;
    s.driver.move_to("sweep/across/rail/2");
    s.driver.press();
    s.driver.move_to(handle.centre() - ui::Vec{40, 0});
    s.driver.frames(2);
    REQUIRE_FALSE(s.screen().plan() == before);
    s.key(key);
    s.driver.release();
    s.key("4");
    CHECK(s.screen().plan() == before);
    CHECK(s.screen().sweep().plan == before);
    CHECK_FALSE(s.screen().undo());
  }
}
