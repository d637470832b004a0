// Stages are states of every screen that tests look at: at every size, under the keyboard, in every language.
#pragma once

#include "app/support/lab_driver.h"
#include "app/support/lab_fixture.h"

namespace normscope::test_screens {

using fixture::LabDriver;

/// What is asked of a stage's controls: that Tab reaches them; that they answer keys, too, as there is
/// something for each of them to do; and both in the smaller layouts as well.
enum class Keys { Reach, Answer, EveryLayout };

/// A named state of a screen.
struct Stage {
  std::string name;
  std::function<std::unique_ptr<LabDriver>()> make;
  std::string switches{};  ///< what the names of its tabs and segments begin with; each is looked behind
  bool scales = true;      ///< at every scale, and not at 1 alone
  Screen screen = Screen::Lab;
  Keys keys = Keys::Reach;
  bool loose = false;  ///< a user who does anything is let loose on it
  bool told = false;   ///< of stories alone (test_stories.cpp), which look at it at one size
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

/// The stages of an add-on's screens: addons/NAME/stages.def.
#define STAGES(add) void add(std::vector<Stage>& all);
#include "chosen/stages.def"
#undef STAGES

/// A screen that shows the Lab's runs, at several of their steps.
inline void add_at_steps(Screen screen, const char* name, const char* switches, std::vector<Stage>& all) {
  for (const int step : {0, 3, 214})
    for (const bool fork : {false, true}) {
      if (fork && step < 160) continue;
      all.push_back({fmt::format("{} at step {}{}", name, step, fork ? " with a fork" : ""),
                     [=] { return shown(screen, step, fork); }, switches, true, screen,
                     fork ? Keys::EveryLayout : Keys::Reach, fork && screen != Screen::Lab});
    }
}

inline std::vector<Stage> all_stages() {
  std::vector<Stage> all;
  add_at_steps(Screen::Lab, "Lab", "plot/tab/", all);
#define STAGES(add) add(all);
#include "chosen/stages.def"
#undef STAGES
  return all;
}
/// Those that are looked at in every size and language.
inline std::vector<Stage> stages() {
  std::vector<Stage> all = all_stages();
  std::erase_if(all, [](const Stage& stage) { return stage.told; });
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
