// These tests use the Sweep screen by name, window-less: cells, brush, axes, keys, copies and the way to the Lab; every
// control with help and words.

#include <string>
#include <vector>

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

TEST_CASE("sweep screen: key and tab lead there, and what is ready to start is shown at once") {
  SweepDriver s;
  s.driver.key("1");
  CHECK(s.state.screens.shown == Screen::Lab);
  s.driver.key("4");
  CHECK(s.state.screens.shown == Screen::Sweep);
  s.driver.key("1");
  s.driver.click("app/tab/sweep");
  CHECK(s.state.screens.shown == Screen::Sweep);
  CHECK(s.screen().plan() == sweep::preset_plan("warmup"));
  s.driver.click("sweep/preset/depth");
  CHECK(s.screen().plan() == sweep::preset_plan("depth"));
}

TEST_CASE("sweep screen: a click opens the cell as run D from its start, and the Lab is shown") {
  SweepDriver s;
  s.train();
  s.driver.click("sweep/grid", s.of_cell(4, 2));
  const session::ForkRequest* fork = s.last<session::ForkRequest>();
  REQUIRE(fork);
  const sweep::Plan plan = sweep::preset_plan("warmup");
  CHECK(fork->from_start);
  CHECK(get_field(fork->spec, "train.lr") == plan.axes[0].values[4]);
  CHECK(get_field(fork->spec, "train.warmup") == plan.axes[1].values[2]);
  CHECK(s.state.screens.shown == Screen::Lab);
}

TEST_CASE("sweep screen: a drag brushes cells, its corners move, and seeds are asked for there") {
  SweepDriver s;
  s.train();
  const ui::Rect grid = s.driver.control("sweep/grid").rect;
  const float w = grid.w / 7, h = grid.h / 6;
  s.driver.drag_by("sweep/grid", {2 * w, h}, "", 6, s.of_cell(2, 3));
  REQUIRE(s.screen().brush());
  CHECK(s.screen().brush()->columns() == sweep::Span{2, 4});
  CHECK(s.screen().brush()->rows() == sweep::Span{2, 3});
  CHECK_FALSE(s.last<session::ForkRequest>());
  s.driver.drag_by("sweep/corner/2", {w, 0});
  CHECK(s.screen().brush()->columns() == sweep::Span{2, 5});
  s.driver.key("=");
  CHECK(s.screen().plan().seeds_of(3, 2) == 2);
  CHECK(s.screen().plan().seeds_of(0, 0) == 1);
  s.driver.click("sweep/region/narrow");
  CHECK(s.screen().plan().columns() == 4);
  CHECK(s.screen().plan().rows() == 2);
  CHECK_FALSE(s.screen().brush());
}

TEST_CASE("sweep screen: the keys choose, brush, open, clear, train and copy") {
  SweepDriver s;
  for (const char* key : {"Right", "Right", "Right", "Up"}) s.driver.key(key);
  REQUIRE(s.screen().chosen());
  CHECK(*s.screen().chosen() == sweep::Place{2, 1});
  s.driver.key("Shift+Right");
  s.driver.key("Shift+Up");
  REQUIRE(s.screen().brush());
  CHECK(s.screen().brush()->cells() == 4);
  s.driver.key("Escape");
  CHECK_FALSE(s.screen().brush());
  CHECK_FALSE(s.screen().chosen());
  const int before = s.trainer->starts;
  s.driver.key("Space");
  CHECK(s.trainer->starts == before + 1);
  CHECK(s.trainer->trained);
  s.driver.key("C");
  CHECK(test::contains(s.state.shell.clipboard, "normscope sweep"));
  s.driver.key("Right");
  s.driver.key("Enter");
  CHECK(s.last<session::ForkRequest>());
}

TEST_CASE("sweep screen: Ctrl+T copies the grid as the command prints it") {
  SweepDriver s;
  s.train();
  s.driver.key("Ctrl+T");
  CHECK(test::contains(s.state.shell.clipboard, "across: learning rate; up: warm-up, steps"));
  CHECK(test::contains(s.state.shell.clipboard, "1.90"));
}

TEST_CASE("sweep screen: Ctrl+Z takes a change of the plan back, Ctrl+Shift+Z makes it again") {
  SweepDriver s;
  const sweep::Plan first = s.screen().plan();
  s.driver.click("sweep/preset/depth");
  const sweep::Plan depth = s.screen().plan();
  REQUIRE_FALSE(depth == first);
  s.driver.click("sweep/up/kind/log");
  const sweep::Plan spaced = s.screen().plan();
  s.driver.key("Ctrl+Z");
  CHECK(s.screen().plan() == depth);
  s.driver.key("Ctrl+Z");
  CHECK(s.screen().plan() == first);
  s.driver.key("Ctrl+Z");
  CHECK(s.screen().plan() == first);
  CHECK(s.state.notice == "no change of the sweep to take back");
  s.driver.key("Ctrl+Shift+Z");
  s.driver.key("Ctrl+Shift+Z");
  CHECK(s.screen().plan() == spaced);
}

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

TEST_CASE("sweep screen: an axis is typed, spaced, dragged and given up, and a wrong one says why") {
  SweepDriver s;
  s.click("sweep/up/values");
  s.driver.key("Ctrl+A");
  s.driver.type("0 30 90");
  s.key("Enter");
  CHECK(s.screen().plan().axes[1].values == std::vector<std::string>{"0", "30", "90"});
  s.click("sweep/up/values");
  s.driver.key("Ctrl+A");
  s.driver.type("0 much");
  s.key("Enter");
  CHECK(s.screen().plan().axes[1].values.size() == 3);
  CHECK(test::contains(s.screen().message(), "much"));
  s.driver.click("sweep/across/kind/list");
  CHECK(s.screen().plan().axes[0].kind == sweep::Axis::Kind::List);
  CHECK(s.screen().plan().columns() == 7);
  s.driver.click("sweep/across/kind/log");
  const ui::Rect rail = s.driver.control("sweep/across/rail").rect;
  s.driver.drag_by("sweep/across/rail/2", {-rail.w / 6, 0});
  CHECK(s.screen().plan().axes[0].from == "0.0003");
  CHECK(s.screen().plan().axes[0].to != "0.03");
  CHECK(s.screen().plan().axes[0].kind == sweep::Axis::Kind::Log);
  s.click("sweep/up/setting");
  s.click("sweep/up/setting/none");
  CHECK(s.screen().plan().axes.size() == 1);
  const ui::Rect line = s.driver.control("sweep/line").rect;
  CHECK(!s.screen().brush());
  s.driver.drag_by("sweep/line", {line.w / 4, 0});
  REQUIRE(s.screen().brush());
  CHECK(s.screen().brush()->column0 == 3);  // the middle of seven
  CHECK(s.screen().brush()->column1 >= 5);
  CHECK(s.screen().brush()->rows().last == 0);
  CHECK(s.ui.registry().find("sweep/region/seeds"));
  s.click("sweep/up/setting");
  s.driver.click("sweep/up/setting/search");
  s.type("layers");
  s.click("sweep/up/setting/model.layers");
  REQUIRE(s.screen().plan().axes.size() == 2);
  CHECK(s.screen().plan().axes[1].key == "model.layers");
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
  s.driver.key("1");
  s.driver.frames(1);
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
  CHECK(sweep::why_not("[train.lr] 5 is out of range: expected 0 to 0.5") ==
        "Lernrate: 5 liegt außerhalb: erwartet wird 0 bis 0,5");
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

TEST_CASE("sweep screen: the switch of the cores shows the choice, in small windows too") {
  for (const ui::Vec size : {ui::Vec{1024, 600}, ui::Vec{1600, 1000}}) {
    SweepDriver s(size);
    s.state.switches.clock = true;
    s.driver.frames(2);
    CHECK(s.driver.control("sweep/cores").value == "2 cores");
    s.click("sweep/cores/1 core");
    CHECK(s.trainer->cores() == 1);
    CHECK(s.driver.control("sweep/cores").value == "1 core");
  }
}

TEST_CASE("sweep screen: keys choose the cell that is shown, though the mouse rests on the grid") {
  SweepDriver s;
  s.train();
  s.driver.move_to("sweep/grid", s.of_cell(5, 4));
  s.driver.frames(2);
  const std::string under = s.driver.control("sweep/grid").value;
  s.driver.key("Right");
  s.key("Right");
  REQUIRE(s.screen().chosen());
  const std::string chosen = s.driver.control("sweep/grid").value;
  CHECK(chosen != under);
  CHECK(test::contains(chosen, "learning rate " + s.screen().plan().axes[0].values[1]));
  s.driver.move_to("sweep/grid", s.of_cell(5, 3));
  s.driver.frames(2);
  CHECK(s.driver.control("sweep/grid").value != chosen);
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

TEST_CASE("sweep screen: the arrow keys move the corner of a region that has the focus") {
  SweepDriver s;
  s.driver.drag_by("sweep/grid", {s.driver.control("sweep/grid").rect.w / 7, 0}, "", 6, s.of_cell(2, 3));
  s.ui.focus("sweep/corner/2");
  s.driver.frames(1);
  s.driver.key("Right");
  REQUIRE(s.screen().brush());
  CHECK(s.screen().brush()->columns() == sweep::Span{2, 4});
  for (int i = 0; i < 5; ++i) s.driver.key("Left");
  CHECK(s.screen().brush()->columns() == sweep::Span{2, 2});
}

TEST_CASE("sweep screen: settings are found in capital letters too") {
  SweepDriver s;
  s.click("sweep/up/setting");
  s.driver.click("sweep/up/setting/search");
  s.type("LAYERS");
  CHECK(s.ui.registry().find("sweep/up/setting/model.layers"));
}

TEST_CASE("sweep screen: over different data it says that losses do not compare, and names no best cell") {
  SweepDriver s;
  s.screen().show_kept({sweep::plan_from({.axes = {"data.name=corpus,copy", "train.lr=1e-3,3e-3"}}), {}});
  s.driver.frames(2);
  s.train();
  CHECK(
      s.driver.value("sweep/sentence").starts_with("Cells of different data: their losses do not compare."));
  for (const ui::TextRecord& text : s.ui.texts()) CHECK_FALSE(test::contains(text.text, "best cell"));
  CHECK_FALSE(s.ui.registry().find("sweep/key/low"));
}
