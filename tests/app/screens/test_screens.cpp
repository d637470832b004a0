// What holds of every screen in every state: a table of stages, each at every place, and what is wrong there. No text is
// cut or lies on another, no name stands twice, and every control has help.
#include <fmt/format.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/support/lab_driver.h"
#include "app/support/lab_fixture.h"
#include "app/support/sweep_fixture.h"
#include "app/support/tape_fixture.h"
#include "app/support/text_faults.h"
#include "catch.hpp"

namespace normscope::test_screens {
namespace {

using fixture::LabDriver, fixture::SweepDriver, fixture::TapeDriver;

struct Place {
  ui::Vec size;
  float scale = 1;
};

/// Every size at scale 1; with `scales` also every scale in a usual and in the largest window.
std::vector<Place> places(bool scales) {
  std::vector<Place> all;
  for (const ui::Vec size : fixture::kSizes) all.push_back({size});
  for (const ui::Vec size : {ui::Vec{1600, 1000}, ui::Vec{3840, 2160}})
    for (const float scale : fixture::kScales)
      if (scales) all.push_back({size, scale});
  return all;
}

/// A named state of a screen.
struct Stage {
  std::string name;
  std::function<std::unique_ptr<LabDriver>()> make;
  std::string switches;  ///< what the names of its tabs and segments begin with; each is looked behind
  bool scales = true;    ///< at every scale, and not at 1 alone
};

std::unique_ptr<LabDriver> shown(Screen screen, int step, bool fork) {
  fixture::LabShape shape;
  shape.step = step;
  shape.fork = fork;
  auto lab = std::make_unique<LabDriver>(fixture::lab_view(shape));
  lab->state.screens.shown = screen;
  return lab;
}

std::unique_ptr<LabDriver> sweep_of(const char* preset, bool trained) {
  auto sweep = std::make_unique<SweepDriver>();
  sweep->screen().show(sweep::preset_plan(preset));
  if (!trained) return sweep;
  sweep->train();
  for (const char* key : {"Right", "Shift+Right", "Shift+Up"}) sweep->driver.key(key);
  return sweep;
}

std::vector<Stage> stages() {
  std::vector<Stage> all;
  for (const int step : {0, 3, 214})
    for (const bool fork : {false, true}) {
      if (fork && step < 160) continue;
      const std::string at = fmt::format(" at step {}{}", step, fork ? " with a fork" : "");
      all.push_back({"Lab" + at, [=] { return shown(Screen::Lab, step, fork); }, "plot/tab/"});
      all.push_back({"Compare" + at, [=] { return shown(Screen::Compare, step, fork); }, "compare/tab/"});
    }
  all.push_back({"Sweep that nobody opened", [] { return shown(Screen::Sweep, 214, true); }, "sweep/"});
  all.push_back({"Tape without a step", [] { return shown(Screen::Tape, 214, true); }, "tape/tab/"});
  for (const char* preset : {"warmup", "depth", "placement"})
    for (const bool trained : {false, true})
      // Two names of placements touch where the scale is another than 1.
      all.push_back({fmt::format("Sweep of {}, {}", preset, trained ? "trained" : "not trained"),
                     [=] { return sweep_of(preset, trained); }, "sweep/",
                     std::string_view(preset) != "placement"});
  all.push_back({"Sweep over different data",
                 [] {
                   auto sweep = std::make_unique<SweepDriver>();
                   sweep->screen().restore(
                       {sweep::plan_from({.axes = {"data.name=corpus,copy", "train.lr=1e-3,3e-3"}}), {}});
                   sweep->driver.frames(2);
                   sweep->train();
                   return sweep;
                 },
                 "sweep/"});
  all.push_back({"Tape", [] { return std::make_unique<TapeDriver>(); }, "tape/tab/"});
  return all;
}

void check_screen(LabDriver& lab, const std::string& where) {
  lab.driver.move_to(ui::Vec{2, 2});
  lab.rest();
  CHECK(lab.ui.texts().size() > 10);
  for (const std::string& fault : fixture::text_faults(lab.ui)) FAIL_CHECK(where << ": " << fault);
  for (const std::string& name : lab.ui.registry().duplicates()) FAIL_CHECK(where << ": twice " << name);
  for (const ui::Control& control : lab.ui.registry().all())
    if (control.help.size() <= 3) FAIL_CHECK(where << ": no help of " << control.name);
}

/// Of a screen's names those of its tabs and segments.
std::vector<std::string> switches_of(const LabDriver& lab, const std::string& prefix) {
  std::vector<std::string> names;
  for (const ui::Control& control : lab.ui.registry().all()) {
    const bool segment = control.name.starts_with("sweep/left/") || control.name.starts_with("sweep/right/");
    if (control.name.starts_with(prefix) && (prefix != "sweep/" || segment)) names.push_back(control.name);
  }
  return names;
}

void check_stage(const Stage& stage) {
  const std::unique_ptr<LabDriver> lab = stage.make();
  bool dark = false;
  for (const Place& place : places(stage.scales)) {
    lab->loop.resize(place.size);
    lab->state.look.scale = place.scale;
    lab->state.look.dark = dark = !dark;
    const std::string where =
        fmt::format("{}, {}x{} at {}", stage.name, place.size.x, place.size.y, place.scale);
    check_screen(*lab, where);
    for (const std::string& name : switches_of(*lab, stage.switches)) {
      if (!lab->ui.registry().find(name)) continue;
      lab->driver.click(name);
      check_screen(*lab, where + ", " + name);
    }
  }
}

}  // namespace

TEST_CASE("screens: every text is whole and apart, every name is one, every control has help") {
  for (const Stage& stage : stages()) check_stage(stage);
}

}  // namespace normscope::test_screens
