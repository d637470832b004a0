// These tests use the Sweep screen by name, window-less: cells, brush, axes, keys, copies and the way to the Lab; every
// control with help and words.
#include <random>

#include "addons/sweep/app/sweep_writers.h"
#include "addons/sweep/tests/app/sweep_fixture.h"
#include "app/shell/palette.h"
#include "app/shell/screens.h"
#include "app/shell/session_window.h"
#include "app/support/english.h"
#include "app/support/live_lab.h"

using namespace normscope;
using namespace shell;
using fixture::SweepDriver, sweep::Brush;

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
  view = std::make_shared<LabView>(*view);
  view->playing = false;
  s.state.session.view = view;
  s.driver.frames(1);
  CHECK_FALSE(s.trainer->shared);
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

// What a link and a session keep of a sweep.

using namespace link;
using fixture::LiveDriver;

namespace {

std::string why_no_link(const std::string& text) {
  return test::error_of([&] { read_link(text); }, "");
}

LinkedView linked_sweep(const sweep::KeptSweep& kept) {
  LinkedView view;
  view.runs.push_back({'A', preset_run("pre"), {}});
  view.screen = Screen::Sweep;
  view.settings = link_of(kept);
  return view;
}

class RandomSweep {
 public:
  sweep::KeptSweep next() {
    sweep::Plan plan;
    std::vector<std::string> axes{
        one_of({"train.lr=0.0003:0.03:log7", "model.layers=2,4,6", "model.norm=ln,rms,simple"}),
        "train.warmup=0,10,50"};
    if (below(2) == 0) axes.pop_back();
    if (below(2) == 0) plan.set = {"model.placement=" + one_of({"pre", "keel"}), "model.d_model=32"};
    plan.steps = below(2) * 300;
    plan.seeds = 1 + below(5);
    return {sweep::plan_from(plan, axes), below(2) == 0 ? sweep::Metric::Loss : sweep::Metric::Since};
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  std::string one_of(const std::vector<std::string>& all) {
    return all[static_cast<size_t>(below(static_cast<int>(all.size())))];
  }
  std::mt19937 random_{7};
};

}  // namespace

TEST_CASE("links of sweeps are read back as they were written") {
  RandomSweep random;
  for (int i = 0; i < 40; ++i) {
    const sweep::KeptSweep kept = random.next();
    const LinkedView back = read_link(link_fragment(linked_sweep(kept)));
    CHECK(sweep::sweep_from(back.settings) == kept);
  }
}

TEST_CASE("a sweep in a link names no file, asks for little work and stands on its own screen") {
  const std::string sweep = "1&screen=sweep&sweep.axis=train.lr=0.001,0.01";
  CHECK(why_no_link(sweep + "&end").empty());
  std::string many;
  for (int i = 0; i < 70; ++i) many += "&sweep.set=model.layers=4";
  CHECK(test::contains(why_no_link(sweep + many + "&end"), "64 parts"));
  sweep::KeptSweep kept{sweep::preset_plan("warmup")};
  const std::string whole = link_fragment(linked_sweep(kept));
  CHECK(test::contains(whole, "screen=sweep&sweep.axis=train.lr="));
  kept.plan.more.push_back(sweep::more_seeds_from("2@train.lr=0.0014:0.0065", kept.plan));
  CHECK(link_fragment(linked_sweep(kept)) == whole);  // regions stay behind
  kept.plan.more.clear();
  kept.plan.set = {"data.text=/home/me/diary.txt"};
  CHECK_THROWS_AS(link_fragment(linked_sweep(kept)), Error);
}

TEST_CASE("Sweep opens as it was set") {
  LiveDriver from, to;
  const auto screen = [](LiveDriver& lab) -> sweep::SweepScreen& {
    return fixture::made_screen<sweep::SweepScreen>(lab.state, Screen::Sweep);
  };
  const sweep::Plan plan = sweep::plan_from({.set = {"model.placement=pre"}, .steps = 60, .seeds = 2},
                                            {"model.layers=2,4", "train.lr=0.001,0.01"});
  screen(from).show_kept({plan, sweep::Metric::Since});
  const sweep::KeptSweep swept = screen(from).sweep();
  REQUIRE(swept.plan == plan);
  from.state.screens.shown = Screen::Sweep;
  REQUIRE_FALSE(screen(to).sweep() == swept);
  CHECK(shell::open_link(
      to.state, link_fragment(shell::linked_view(from.state.session, from.state.screens, from.state.look))));
  to.settle();
  CHECK(to.state.screens.shown == Screen::Sweep);
  CHECK(screen(to).sweep() == swept);
}
