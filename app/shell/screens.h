// The screens, which of them is shown, and how everything looks.
#pragma once

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/lab/lab_screen.h"
#include "app/link/link.h"
#include "app/ui/ui.h"
#include "app/view/screen.h"
#include "app/words/words.h"
#include "engine/core/error.h"

namespace normscope {
namespace course {
enum class StepKind : uint8_t;
}
namespace lesson_player {
class Player;
}
namespace experiments {
struct StorePlace;
}
}  // namespace normscope

namespace normscope::shell {

struct LessonsScreen {
  std::shared_ptr<lesson_player::Player> player;  // made when the screen is first opened
  std::string language{};  // of window and course, "de"; empty: as NORMSCOPE_LANGUAGE says, or English
  bool remembers = true;   // false in safe mode: the course's progress is neither read nor written
};

// A screen that an add-on brings.
struct OtherScreen {
  std::shared_ptr<AppScreen> screen;  // made when it is first opened
  ScreenSettings kept;                // of a restored session, until the screen is made
};

// The cursor of an opened link, until its runs have reached the cursor's step.
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
  std::shared_ptr<Trainer> trainer{};        // likewise; lessons use it too
  std::optional<LinkedCursor> linked_cursor;
};

// The command line's store of results. Where no folder can be made, nothing is kept.
experiments::StorePlace results_store();

// Returns a screen of an add-on; the first call makes it. Throws Error if it cannot be made.
AppScreen& screen_of(Screens&, Screen);
// Null where it was not made.
AppScreen* made_screen(const Screens&, Screen);
// Restores a session's settings of a screen, at once or when the screen is made. Unreadable ones are left out.
void restore_screen(Screens&, Screen, const ScreenSettings& kept);
ScreenSettings kept_of(const Screens&, Screen);

struct ShownSession;
// Draws the screen that is shown and returns its requests. Without `clock`,
// figures that depend on the machine's speed print as a dash.
ScreenRequests draw_screen(Screens&, const ShownSession&, bool clock, ui::Ui&, const ui::Rect& area);

// Sets the window to the language of the lessons, as far as the window has it (assets/words).
void speak(const LessonsScreen&);
// The language in which a window begins that has no settings: the system's, where there are texts in it and
// NORMSCOPE_LANGUAGE names no other; empty: English.
std::string first_language(const std::string& of_system);
// Changes the language of the window and the course, "en" or "de", at once: runs train on, and an open lesson stays at
// its page.
void set_language(Screens&, const std::string& name);
// The player with the course beside the program and the learner's own progress. Runs that the Lab has finished are not
// measured again.
lesson_player::Player& player_of(Screens&);
// Shows a lesson at a step: "warm-up:compare", or "warm-up" for its prediction. An answer is filled in where the
// learner has made no prediction yet. Throws Error for an unknown lesson or step.
void open_lesson(Screens&, const std::string& name, const view::Answer& answer = {});

// The appearance is how everything looks: chosen by the user, remembered by the window.

struct Appearance {
  bool dark = false;
  float scale = 1;          // asked for by the user; 1 = 100 %
  float monitor_scale = 1;  // of the display the window is on
  bool reduced_motion = false;
};

// Says what a window that is too small for the scale shows: everything smaller, or a part of it.
// It is empty where the window is large enough.
inline std::string scale_note(const Appearance& look, const ui::Ui& ui) {
  const long asked = std::lround(look.scale * 100), now = std::lround(ui.scale() / look.monitor_scale * 100);
  if (now < asked)
    return tr("{asked} % was asked for; a window of this size has room for {now} %",
              {{"asked", asked}, {"now", now}});
  const ImVec2 window = ImGui::GetIO().DisplaySize;
  const auto width = std::lround(ui.size().x * ui.scale()), height = std::lround(ui.size().y * ui.scale());
  if (width <= std::lround(window.x) && height <= std::lround(window.y)) return {};
  return tr(
      "everything at {percent} % takes {width} x {height} pixels; the window shows "
      "{shown_width} x {shown_height} of them, a part that follows the mouse",
      {{"percent", asked},
       {"width", width},
       {"height", height},
       {"shown_width", fmt::format("{:.0f}", window.x)},
       {"shown_height", fmt::format("{:.0f}", window.y)}});
}

// Rounds to whole percent, from 75 to 250.
inline void set_scale(Appearance& look, float scale) {
  look.scale = std::clamp(std::round(scale * 100) / 100, 0.75f, 2.5f);
}

// Links (app/link): from the present view to its link, and from a link to its view.

struct AppState;

/// The present view: runs with their edits, step, cursor, screen, lesson with its prediction, bookmarks, theme.
link::LinkedView linked_view(const ShownSession&, const Screens&, const Appearance&);
/// Copies the link of the present view to the clipboard, after shell.page or as a command for a terminal. Where
/// something does not fit it says so and copies nothing.
void copy_link(AppState&);

/// Shows screen, theme, bookmarks and the chosen run, and the cursor once the runs have come that far. `runs` is the
/// ticket of the command that brings them; none where it is posted with the next frame. A lesson whose prediction the
/// learner has not made opens at the prediction, so that nothing is given away; the link's own prediction is filled
/// in there. Returns a notice for the user; empty: none. Throws Error for a lesson that is not in the course.
Message show_linked(const link::LinkedView&, std::optional<session::Ticket> runs, Screens&, Appearance&);
/// Opens a link from outside: an address or its fragment. Where it cannot be used it says so, starts the
/// default comparison if there are no runs yet, and returns false.
bool open_link(AppState&, std::string_view text);

/// Runs once a frame: it moves the cursor that waits for the runs of a link.
void follow_linked(Screens&, const LabView&);

// The shown session is the session that the window shows and commands, with the user's requests.

struct ShownSession {
  // Null: `view` is shown without a trainer, and commands are only collected in `commands`.
  Lab* lab = nullptr;
  std::shared_ptr<const LabView> view;
  // The user's requests in the last frame; already posted when `lab` is set.
  std::vector<session::Command> commands;
  std::vector<session::Ticket> tickets;  // of the posted commands; without a Lab, numbers that nobody answers
  session::Ticket last_ticket = 0;
  std::vector<session::Command> asked;             // between two frames, for example by a link
  std::vector<view::SavePlot> saves;               // plots of the last frame that became files
  session::Ticket last_change = 0, last_undo = 0;  // of commands that can be taken back, and of Undo

  // Whether there is a change to take back, or to make again: as far as the trainer has answered, and as far as it may
  // still answer.
  bool can_undo() const { return view && (view->can_undo || last_change > view->answered); }
  bool can_redo() const { return view && (view->can_redo || last_undo > view->answered); }
};

}  // namespace normscope::shell
