// The screens, and which of them is shown.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/lab/lab_screen.h"
#include "app/sweep/cells.h"
#include "app/view/answer.h"
#include "app/view/screen.h"

namespace normscope {
namespace course {
enum class StepKind : uint8_t;
}
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
namespace inside {
class InsideScreen;
}
namespace experiments {
struct StorePlace;
}
}  // namespace normscope

namespace normscope::shell {

struct LessonsScreen {
  std::shared_ptr<lessons::Player> player;  // made when the screen is first opened
  std::string language{};  // of the course, "de"; empty: that of NORMSCOPE_LANGUAGE, or English
  bool remembers = true;   // false in safe mode: the course's progress is neither read nor written
};

struct SweepPart {
  std::shared_ptr<sweep::SweepScreen> screen;  // made when it is first opened
  bool keeps = false;                          // with the results that all programs share: in a window
  std::optional<sweep::KeptSweep> kept;        // of a restored session, until the screen is made
};

struct TapePart {
  std::shared_ptr<tape_screen::TapeScreen> screen;  // made when it is first opened
  char run = 'A';                                   // as in a restored session
  int32_t head = -1;
};

// The cursor of an opened link, until its runs have come that far.
struct LinkedCursor {
  int32_t step = 0;
  std::optional<session::Ticket> ticket{};  // of the command that brings the runs; none: not posted yet
  std::shared_ptr<const RunSpec> runs{};    // the first run as it was at step 0, once the runs are there
  int32_t reached = 0;                      // the step that they reached; if it falls, they were reset
};

struct Screens {
  Screen shown = Screen::Lab;
  std::function<void()> wake;  // called from the threads of screens when something is new
  lab::LabScreen lab;
  std::optional<Desk::Replacing> replacing;  // runs that wait for an answer: those shown would be lost
  LessonsScreen lessons;
  std::shared_ptr<compare_screen::CompareScreen> compare;  // made when it is first opened
  SweepPart sweep;
  TapePart tape;
  std::shared_ptr<inside::InsideScreen> inside;  // made when it is first opened
  std::optional<LinkedCursor> linked_cursor;
};

compare_screen::CompareScreen& compare_of(Screens&);

// Where the command line keeps what it trained. Where no folder can be made, nothing is kept.
experiments::StorePlace results_store();

// The Sweep screen over the results that all programs share. Throws Error where no thread can be started.
sweep::SweepScreen& sweep_of(Screens&);

// The Tape screen; with `times` it times instructions. Throws Error where no thread can be started.
tape_screen::TapeScreen& tape_of(Screens&, bool times);

inside::InsideScreen& inside_of(Screens&);

struct ShownSession;
// Draws the screen that is shown and returns what it asks for. Without `clock`,
// figures that depend on the machine's speed print as a dash.
Desk draw_screen(Screens&, const ShownSession&, bool clock, ui::Ui&, const ui::Rect& area);

// Sets the window to the language of the lessons, as far as the window has it (assets/words).
void speak(const LessonsScreen&);
// The player with the course beside the program and the learner's own progress. Runs that `lab` has
// finished are not measured again; `lab` may be null.
lessons::Player& player_of(Screens&, Lab* lab);
// A step of a lesson.
struct LessonPlace {
  std::string lesson;
  course::StepKind step;
};
// Reads "warm-up:compare"; the first step where none is named. Throws Error for an unknown step.
LessonPlace lesson_place(const std::string& name);
// Shows a lesson at the step that lesson_place() reads. An answer is filled in where the learner has
// made no prediction yet. Throws Error for an unknown lesson.
void open_lesson(Screens&, Lab* lab, const std::string& name, const view::Answer& answer = {});

}  // namespace normscope::shell
