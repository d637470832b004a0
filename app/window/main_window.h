// The window: GLFW, OpenGL 3.3, the event loop. It draws when something happened (input, a new view of the trainer) and
// sleeps otherwise; training goes on in the Lab's own threads. main calls it; draw_app draws all that it shows.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/link/link.h"
#include "engine/io/output_file.h"
#include "training/files/config_file.h"
#include "training/session/lab.h"
#include "training/spec/backend_choice.h"

namespace normscope::window {

struct WindowOptions {
  std::vector<ConfigRun> runs{};  // the runs to start at once; empty: the default comparison
  LabOptions lab{};
  // Logs and saved runs to open side by side; with any, `runs` are not started.
  std::vector<std::string> files{};
  bool play = true;
  bool instant = false;                    // see session::ReplaceRuns::instant
  Screen shown = Screen::Lab;              // the screen that comes first
  std::optional<link::LinkedView> link{};  // its runs are trained to its step and shown in its view
  std::optional<bool> dark{};              // otherwise as remembered
  std::optional<float> scale{};            // as requested; 1 = 100 % of the display's
  std::optional<BackendChoice> backend{};  // otherwise as remembered
  std::string language{};                  // of the lessons; empty: as remembered
  bool safe_mode = false;                  // neither settings nor autosave
  std::string frame_log{};                 // a file for what every frame costs; empty: none
  std::string title = "normscope";
  std::function<bool()> interrupted{};  // true: a signal asks the window to end; the session is kept
};

// The results of run_window. kWindowNoDisplay, kWindowNoOpenGl: nothing was started; the caller reports it and goes
// headless. kDisplayLost: the display server went away under the window; the process ends with this code, and the
// autosave, if there is one, is complete.
inline constexpr int kDisplayLost = 6;
inline constexpr int kWindowClosed = 0, kWindowNoDisplay = -1, kWindowNoOpenGl = -2, kWindowInterrupted = -3;

int run_window(const WindowOptions& options);

// When to draw. It is separate from the window so that a test can drive it with a clock of its own. Times are seconds.
class FramePacer {
 public:
  explicit FramePacer(bool software_gl) : software_(software_gl) {}

  void hand(double now) { hand_ = now; }         // an input event came in
  void changed(double) { changed_ = true; }      // the trainer has a new view
  void animating(double) { animating_ = true; }  // the last frame ended in the middle of a motion
  void drawn(double now);                        // a frame that began at `now` is on the screen
  // The seconds until the next frame is due: 0 = now, negative = nothing to draw until something happens.
  double wait(double now) const;

 private:
  double period(double now) const;

  bool software_, changed_ = true, animating_ = false, settled_ = true;
  bool echo_ = false;  // one more frame after input, in which other controls light up for the hovered one
  double last_ = -1e9, hand_ = -1e9;
};

// Writes what the window's frames cost, one line of CSV each: for `make bench-window` and for finding slow frames.

struct FrameCost {
  double build_ms = 0;  // wall time from the views to ImGui's vertices
  double draw_ms = 0;   // wall time of OpenGL and the buffer swap
  int vertices = 0;
  int step = 0;  // the step of the lockstep that the frame shows
  // How many seeds of every run it shows; 0: it shows a run that is not of the settings yet, or the trainer has not
  // carried out every command yet.
  int seeds = 0;
};

class FrameLog {
 public:
  // Logs nothing with an empty path. It throws Error when the file cannot be written.
  explicit FrameLog(const std::string& path);
  // Returns when the line is complete on the disk, so none is lost when the window is ended.
  void write(const FrameCost& cost);
  // Empty while all is well.
  const std::string& error() const { return file_.error(); }

 private:
  LineFile file_;
};

}  // namespace normscope::window
