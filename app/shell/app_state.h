// Everything the visualizer's screens share, and the one function that draws a whole frame. Window, screenshot
// command and tests all call draw_app between ImGui::NewFrame and ImGui::Render; where the frames come from is up
// to them.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/lab/lab_screen.h"
#include "app/shell/session_sidecar.h"
#include "app/shell/shell.h"
#include "app/ui/ui.h"
#include "engine/spec/backend_choice.h"

namespace normscope {

namespace lessons {
class Player;
}

enum class Screen : uint8_t { Lab, Lessons };

struct AppState {
  // The session that is shown and commanded. Without one, `view` is shown and commands only land in `commands`.
  Lab* lab = nullptr;
  std::shared_ptr<const LabView> view;

  bool dark = false;
  float scale = 1;          // asked by the user; 1 = 100 %
  float monitor_scale = 1;  // of the display the window is on
  bool reduced_motion = false;
  BackendChoice backend;  // as the user chose it; where the runs are stands in the view
  std::shared_future<std::string>
      cuda;                  // why there is no CUDA, once that is known; invalid: asked when drawn
  std::string no_cuda;       // why CUDA cannot be chosen, as the switch says it in this frame; empty: it can
  bool record_text = false;  // keep what is written on screen (tests)
  bool remembers = true;     // false: safe mode, progress in the course is neither read nor written
  std::string stash;         // folder for sessions that others replaced; empty: none are kept
  std::string notice;        // what the app itself has to say: saved, opened, refused
  bool clock = true;         // false: figures that depend on the machine's speed print as a dash

  Screen screen = Screen::Lab;
  lab::LabScreen lab_screen;
  shell::Shell shell;                       // shortcuts, palette, undo, glossary, guessing game
  std::shared_ptr<lessons::Player> player;  // made when its screen is opened first
  SidecarState sidecar;                     // of the saved session, as it was handed over last
  std::function<void()> wake;               // rung by the player's measurements from their thread
  std::vector<lab::Command>
      commands;  // what the hand asked for in the last frame; already posted when lab is set
  std::vector<lab::SavePlot> saves;           // plots of the last frame that became files
  std::vector<lab::Command> asked;            // between two frames, by a file that was dropped
  std::optional<lab::ReplaceRuns> of_lesson;  // waits for an answer where the runs shown could not come back
};

// A file that was dropped on the window: a text to learn, a configuration whose runs replace those shown, a
// kept session; recognised by its content in one of the next frames. All can be undone; where the session
// cannot be stashed for it, the prompt asks first, unless it was `asked`.
void open_file(AppState&, const std::string& path, bool asked = false);

// The Lessons screen with the course beside the program and the learner's own progress.
lessons::Player& lessons_screen(AppState&);

// Draws one frame, window-wide, and posts its commands to the Lab.
void draw_app(AppState&, ui::Ui&);

}  // namespace normscope
