// The screens, and which of them is shown.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/lab/lab_screen.h"
#include "app/sweep/cells.h"
#include "app/view/screen.h"

namespace normscope {

namespace lessons {
class Player;
}
namespace compare_screen {
class CompareScreen;
}
namespace sweep {
class SweepScreen;
}
namespace tape_screen {
class TapeScreen;
}

struct LessonsScreen {
  std::shared_ptr<lessons::Player> player;  // made when the screen is opened first
  std::string language{};      // of the course, "de"; empty: that of NORMSCOPE_LANGUAGE, or English
  bool remembers = true;       // false: safe mode, progress in the course is neither read nor written
  std::function<void()> wake;  // rung by the player's measurements from their thread
};

struct ComparePlace {
  std::shared_ptr<compare_screen::CompareScreen> screen;  // made when it is opened first
  std::function<void()> wake;  // rung from other threads when there is something new
};

struct SweepPart {
  std::shared_ptr<sweep::SweepScreen> screen;  // made when it is opened first
  bool keeps = false;                          // with the store of results that all programs share: a window
  std::function<void()> wake;                  // rung by the training from its thread
  std::optional<sweep::KeptSweep> kept;        // of a session that was restored, until the screen is made
};

struct TapePart {
  std::shared_ptr<tape_screen::TapeScreen> screen;  // made when it is opened first
  std::function<void()> wake;                       // rung by who plays the step, from its thread
  char run = 'A';                                   // as a session that was restored has them
  int32_t head = -1;
};

// The cursor of a link that was opened, until its runs have come so far.
struct LinkedCursor {
  int32_t step = 0;
  std::optional<session::Ticket> ticket{};  // of the command that brings the runs; none: it is not posted yet
  std::shared_ptr<const RunSpec> runs{};    // the first of them as it stood at step 0, once they are there
  int32_t reached = 0;                      // by them: what goes back has been reset
};

struct Screens {
  Screen shown = Screen::Lab;
  lab::LabScreen lab;
  std::optional<Desk::Replacing> replacing;  // runs that wait for an answer: those shown could not come back
  LessonsScreen lessons;
  ComparePlace compare;
  SweepPart sweep;
  TapePart tape;
  std::optional<LinkedCursor> linked_cursor;
};

compare_screen::CompareScreen& screen_of(ComparePlace&);

// The Sweep screen, over the results that all programs share. Throws Error where no thread can be had.
sweep::SweepScreen& sweep_of(SweepPart&);

// The Tape screen; `times`: instructions are timed. Throws Error where no thread can be had.
tape_screen::TapeScreen& tape_of(TapePart&, bool times = true);

// The window speaks the language of the lessons, as far as it has it (assets/words).
void speak(const LessonsScreen&);
// The player, with the course beside the program and the learner's own progress. Runs that `lab` has finished
// are not measured again; it may be null.
lessons::Player& player_of(LessonsScreen&, Lab* lab);
// Shows a lesson, "warm-up:compare"; its first step where none is named. Throws Error for one that is not there.
void open_lesson(Screens&, Lab* lab, const std::string& name);

}  // namespace normscope
