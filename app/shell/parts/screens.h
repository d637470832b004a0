// The screens, and which of them is shown.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/lab/lab_screen.h"
#include "app/view/answer.h"
#include "app/view/app_screen.h"

namespace normscope {
namespace course {
enum class StepKind : uint8_t;
}
namespace lessons {
class Player;
}
namespace experiments {
struct StorePlace;
}
}  // namespace normscope

namespace normscope::shell {

struct LessonsScreen {
  std::shared_ptr<lessons::Player> player;  // made when the screen is first opened
  std::string language{};  // of the course, "de"; empty: as NORMSCOPE_LANGUAGE says, or English
  bool remembers = true;   // false in safe mode: the course's progress is neither read nor written
};

// A screen that an add-on brings.
struct OtherScreen {
  std::shared_ptr<AppScreen> screen;  // made when it is first opened
  ScreenSettings kept;                // of a restored session, until the screen is made
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
  LessonsScreen lessons;
  std::array<OtherScreen, kScreens> others;  // by Screen; Lab and Lessons have none
  bool keeps = false;                        // ScreenSetup::keeps
  std::optional<LinkedCursor> linked_cursor;
};

// Where the command line keeps what it trained. Where no folder can be made, nothing is kept.
experiments::StorePlace results_store();

// A screen of an add-on, which is made where it is not yet. Throws Error where it cannot be made.
AppScreen& screen_of(Screens&, Screen);
// Null where it was not made.
AppScreen* made_screen(const Screens&, Screen);
// Brings back what a session kept of a screen, at once or when the screen is made. What cannot be read is left out.
void restore_screen(Screens&, Screen, const ScreenSettings& kept);
ScreenSettings kept_of(const Screens&, Screen);

struct ShownSession;
// Draws the screen that is shown and returns what it asks for. Without `clock`,
// figures that depend on the machine's speed print as a dash.
ScreenRequests draw_screen(Screens&, const ShownSession&, bool clock, ui::Ui&, const ui::Rect& area);

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
