// The live Lab is a Lab screen driven by a UI driver over a real session of small runs. Tests of what the user does to
// it share it.
#pragma once

#include <initializer_list>

#include "app/support/lab_driver.h"
#include "training/support/lab_runs.h"

namespace normscope::fixture {

// The default comparison, small enough for a test.
inline std::vector<RunSpec> small_runs(int layers = 2) {
  std::vector<RunSpec> runs = default_comparison();
  for (RunSpec& run : runs) {
    test::make_tiny(run, layers);
    set_field(run, "train.steps", "60");
  }
  return runs;
}

inline LabOptions quiet_lab() {
  return LabOptions{.threads = 1, .sample_text = false, .validation_every = 0};
}

/// A Lab after some real steps of one small run of each placement; `key` is set in all of them.
inline std::shared_ptr<const LabView> trained_view(std::initializer_list<const char*> placements, int layers,
                                                   const char* key, const char* value, int steps) {
  std::vector<RunSpec> runs;
  for (const char* placement : placements) {
    runs.push_back(preset_run("post"));
    set_field(runs.back(), "model.placement", placement);
    test::make_tiny(runs.back(), layers);
    set_field(runs.back(), key, value);
  }
  Lab lab{quiet_lab()};
  lab.post(session::ReplaceRuns{std::move(runs), {}, false});
  return test::view_after(lab, session::PlayTo{steps});
}

struct LiveDriver : LabDriver {
  explicit LiveDriver(int layers = 2) : LiveDriver(small_runs(layers)) {}
  explicit LiveDriver(std::vector<RunSpec> runs, LabOptions options = quiet_lab()) : lab(std::move(options)) {
    state.session.lab = &lab;
    state.screens.trainer = lab.trainer();
    ask(session::ReplaceRuns{std::move(runs), {}, false});
  }
  /// Waits until the trainer has done what was asked and the screen has seen it.
  void rest() override { settle(); }
  void settle() {
    driver.frames(1);
    lab.wait_idle();
    driver.frames(3);
  }
  /// Gives a command and waits until its effect is on screen.
  void ask(session::Command command) {
    lab.post(std::move(command));
    settle();
  }
  void train(int steps) { ask(session::PlayTo{lab.view()->step + steps}); }
  const LabView& view() { return *state.session.view; }
  const RunView& run(char letter) {
    return state.session.view->runs.at(static_cast<size_t>(view::find_run(*state.session.view, letter)));
  }
  bool has_run(char letter) { return view::find_run(*state.session.view, letter) >= 0; }
  // Waits for run D, which is built asynchronously.
  void wait_for_d() {
    for (int i = 0; i < 500 && !has_run('D'); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      settle();
    }
    REQUIRE(has_run('D'));
  }

  /// "train 60" goes on by so many steps, "wait" waits for run D, which is built beside.
  bool obey(const std::string& verb, const std::string& rest) override {
    if (verb == "train") train(std::stoi(rest));
    if (verb == "wait") wait_for_d();
    return verb == "train" || verb == "wait";
  }

  Lab lab;
};

}  // namespace normscope::fixture
