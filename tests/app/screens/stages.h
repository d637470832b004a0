// Stages are states of every screen that tests look at: at every size, under the keyboard, in every language.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <vector>

#include "addons/inside/tests/app/inside_driver.h"
#include "app/support/lab_driver.h"
#include "app/support/lab_fixture.h"
#include "addons/sweep/tests/app/sweep_fixture.h"
#include "addons/tape-screen/tests/app/tape_fixture.h"

namespace normscope::test_screens {

using fixture::LabDriver, fixture::SweepDriver, fixture::TapeDriver;

/// What is asked of a stage's controls: that Tab reaches them; that they answer keys, too, as there is
/// something for each of them to do; and both in the smaller layouts as well.
enum class Keys { Reach, Answer, EveryLayout };

/// A named state of a screen.
struct Stage {
  std::string name;
  std::function<std::unique_ptr<LabDriver>()> make;
  std::string switches;  ///< what the names of its tabs and segments begin with; each is looked behind
  bool scales = true;    ///< at every scale, and not at 1 alone
  Screen screen = Screen::Lab;
  Keys keys = Keys::Reach;
};

inline std::unique_ptr<LabDriver> shown(Screen screen, int step, bool fork) {
  auto lab = std::make_unique<LabDriver>(fixture::lab_view({.step = step, .fork = fork}));
  lab->state.screens.shown = screen;
  lab->driver.frames(2);
  // A comparison is made beside the window.
  for (int i = 0; i < 200 && lab->ui.registry().find("compare/none"); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    lab->driver.frames(1);
  }
  return lab;
}

inline std::unique_ptr<LabDriver> sweep_of(const char* preset, bool trained) {
  auto sweep = std::make_unique<SweepDriver>();
  sweep->screen().show(sweep::preset_plan(preset));
  if (!trained) return sweep;
  sweep->train();
  for (const char* key : {"Right", "Shift+Right", "Shift+Up"}) sweep->driver.key(key);
  return sweep;
}

inline std::vector<Stage> stages() {
  std::vector<Stage> all;
  for (const int step : {0, 3, 214})
    for (const bool fork : {false, true}) {
      if (fork && step < 160) continue;
      const std::string at = fmt::format(" at step {}{}", step, fork ? " with a fork" : "");
      for (const auto& [screen, name, switches] :
           {std::tuple{Screen::Lab, "Lab", "plot/tab/"}, {Screen::Compare, "Compare", "compare/tab/"}})
        all.push_back({name + at, [=, screen = screen] { return shown(screen, step, fork); }, switches, true,
                       screen, fork ? Keys::EveryLayout : Keys::Reach});
    }
  for (const auto& [screen, name, switches] :
       {std::tuple{Screen::Sweep, "Sweep that nobody opened", "sweep/"},
        {Screen::Tape, "Tape without a step", "tape/tab/"}})
    all.push_back({name, [screen = screen] { return shown(screen, 214, true); }, switches, true, screen});
  for (const char* preset : {"warmup", "depth", "placement"})
    for (const bool trained : {false, true})
      // Two names of placements touch where the scale is another than 1.
      all.push_back({fmt::format("Sweep of {}, {}", preset, trained ? "trained" : "not trained"),
                     [=] { return sweep_of(preset, trained); }, "sweep/",
                     std::string_view(preset) != "placement", Screen::Sweep,
                     trained && std::string_view(preset) == "warmup" ? Keys::EveryLayout : Keys::Answer});
  all.push_back({"Sweep over different data",
                 [] {
                   auto sweep = std::make_unique<SweepDriver>();
                   sweep->screen().restore(
                       {sweep::plan_from({.axes = {"data.name=corpus,copy", "train.lr=1e-3,3e-3"}}), {}});
                   sweep->driver.frames(2);
                   sweep->train();
                   return sweep;
                 },
                 "sweep/", true, Screen::Sweep, Keys::Answer});
  all.push_back({"Tape", [] { return std::make_unique<TapeDriver>(); }, "tape/tab/", true, Screen::Tape,
                 Keys::EveryLayout});
  all.push_back({"Inside of two models",
                 [] {
                   auto window = std::make_unique<fixture::InsideDriver>(fixture::models({"gpt2", "olmo2"}));
                   window->driver.click("inside/run/B");
                   window->rest();
                   return window;
                 },
                 "inside/tab/", true, Screen::Inside, Keys::EveryLayout});
  all.push_back({"Inside of a run that reads letters",
                 [] { return std::make_unique<fixture::InsideDriver>(fixture::small_runs()); }, "inside/tab/",
                 true, Screen::Inside});
  return all;
}

/// The names of a screen's tabs and segments.
inline std::vector<std::string> switches_of(const LabDriver& lab, const std::string& prefix) {
  std::vector<std::string> names;
  for (const ui::Control& control : lab.ui.registry().all()) {
    const bool segment = control.name.starts_with("sweep/left/") || control.name.starts_with("sweep/right/");
    if (control.name.starts_with(prefix) && (prefix != "sweep/" || segment)) names.push_back(control.name);
  }
  return names;
}

}  // namespace normscope::test_screens
