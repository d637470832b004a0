// The app state combines the parts that a frame reads and changes; draw_app draws a whole frame. Window, screenshot
// command and tests all call draw_app between ImGui::NewFrame and ImGui::Render, each in a frame loop of its own.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "app/shell/files.h"
#include "app/shell/screens.h"
#include "app/shell/session_window.h"
#include "app/shell/shell.h"
#include "app/ui/ui.h"
#include "engine/core/error.h"
#include "training/spec/backend_choice.h"

namespace normscope::shell {

class About {
 public:
  // Starts computing the checksum, once; `wake` is called from another thread when it is known. Destroying the last
  // copy stops the computation and waits for the step under way.
  void ask(std::function<void()> wake);
  // Empty while unknown; the error message if it could not be computed.
  std::string checksum() const;
  std::string text() const;

 private:
  struct Checksum {
    std::string checksum, instructions;
  };
  const Checksum* found() const;  // null while it is not known

  std::shared_future<Checksum> found_;
  std::shared_ptr<std::jthread> thread_;
};

// Where runs are asked to train, and whether CUDA can be chosen.
struct BackendState {
  BackendChoice chosen;  // by the user; LabView::backend says where the runs are
  // Why there is no CUDA, once that is known; invalid: cuda_unavailable() is called when drawing.
  std::shared_future<std::string> cuda;
  std::string no_cuda;  // why CUDA cannot be chosen, as the switch says it in this frame; empty: it can
};

// Switches for tests and pictures, so that a frame can be read and compared.
struct TestSwitches {
  bool record_text = false;  // keep the texts on screen
  bool clock = true;         // false: figures that depend on the machine's speed print as a dash
};

// Passed whole only to functions that use nearly all of it, such as run_act. A function below draw_app
// takes the parts that it uses.
struct AppState {
  ShownSession session;
  Appearance look;
  BackendState backend;
  Screens screens;
  Files files;
  Shell shell;
  WindowParts parts = make_window_parts();
  SavedWindow window;
  About about;
  TestSwitches switches;
  Message notice;  // of the app itself: saved, opened, refused
};

// Draws one frame, window-wide, and posts its commands to the Lab.
void draw_app(AppState&, ui::Ui&);

// The boundary of drawing: a part of a frame that throws is left out and the frame goes on.

// Draws a part between begin_frame and end_frame. It returns an empty string when all went well, or the
// line that says why not (see engine/core/boundary.h). Whatever the part left open (popups, clips, styles) is closed.
Message draw_guarded(ui::Ui& ui, std::string_view doing, const std::function<void()>& draw);

// About is the line on the program below the sheet of keys: its version, its instruction set, and the checksum of the
// default comparison's first steps (experiments/probes.h), computed on a thread of its own.

}  // namespace normscope::shell
