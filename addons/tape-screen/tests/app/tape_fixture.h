// The tape fixture makes steps of small runs as the Tape screen gets them, and the screen over a real session without a
// window.
#pragma once

#include "addons/tape-screen/app/tape_screen.h"
#include "app/support/live_lab.h"
#include "app/support/made_screen.h"
#include "training/session/played_step.h"

namespace normscope::fixture {

/// Makes steps of a Lab of small runs, one after the other.
struct StepMaker {
  StepMaker() { lab.post(session::ReplaceRuns{.runs = small_runs(), .play = false}); }
  std::shared_ptr<PlayedStep> step_of(int32_t run, int32_t after = 0) {
    if (after > 0) lab.post(session::PlayTo{after});
    lab.wait_idle();  // what is asked for comes between two steps, and so before those that are still to do
    test::view_after(lab, session::PlayStep{run});
    return lab.view()->played;
  }
  Lab lab{quiet_lab()};
};

struct TapeDriver : LiveDriver {
  explicit TapeDriver(bool with_step = true) : TapeDriver(small_runs(), with_step) {}
  TapeDriver(std::vector<RunSpec> runs, bool with_step) : LiveDriver(std::move(runs)) {
    state.look.reduced_motion = true;
    state.screens.shown = Screen::Tape;
    driver.frames(3);
    if (!with_step) return;
    rest();
    REQUIRE(screen().state()->facts);
  }
  tape_screen::TapeScreen& screen() { return made_screen<tape_screen::TapeScreen>(state, Screen::Tape); }
  const tape_screen::StepFacts& facts() { return *screen().state()->facts; }
  const tape_screen::InstructionView& shown() { return *screen().state()->shown; }
  void rest() override {
    for (int quiet = 0, tries = 0; quiet < 3 && tries < 2000; ++tries) {
      driver.frames(1);
      lab.wait_idle();
      const bool busy = screen().busy();
      quiet = busy ? 0 : quiet + 1;
      if (busy) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    REQUIRE_FALSE(screen().busy());
  }
};

}  // namespace normscope::fixture
