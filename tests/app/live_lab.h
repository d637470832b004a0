// A Lab screen under a robot's hand over a real session of small runs. Shared by tests of what the hand does
// to it.
#pragma once

#include <chrono>
#include <thread>

#include "lab_robot.h"

namespace normscope::fixture {

// The hero comparison, small enough for a test.
inline std::vector<RunSpec> small_runs() {
  std::vector<RunSpec> runs = hero_runs();
  for (RunSpec& run : runs)
    for (auto [key, value] : {std::pair{"model.layers", "2"},
                              {"model.width", "16"},
                              {"model.feed_forward", "32"},
                              {"model.heads", "2"},
                              {"model.sequence", "16"},
                              {"train.batch", "4"},
                              {"train.steps", "60"}})
      set_field(run, key, value);
  return runs;
}

inline LabOptions quiet_lab() {
  LabOptions options;
  options.threads = 1, options.sample_text = false, options.validation_every = 0;
  return options;
}

struct LiveRobot : LabRobot {
  LiveRobot() {
    lab.start(small_runs(), false);
    state.lab = &lab;
    settle();
  }
  // Until the trainer has done what was asked and the screen has seen it.
  void settle() {
    robot.frames(1);
    lab.wait_idle();
    robot.frames(3);
  }
  void train(int steps) {
    lab.play_to(lab.view()->step + steps);
    settle();
  }
  const LabView& view() { return *state.view; }

  Lab lab{quiet_lab()};
};

}  // namespace normscope::fixture
