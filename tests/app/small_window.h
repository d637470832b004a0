// Two tiny runs in a window without a window, under a robot's hand. Shared by the tests of files.
#pragma once

#include <unistd.h>

#include "app/app_state.h"
#include "app/config/session_file.h"
#include "app/ui/frame.h"
#include "app/ui/robot.h"
#include "program.h"

namespace normscope::fixture {

inline std::vector<RunSpec> tiny_runs() {
  std::vector<RunSpec> runs;
  for (const ConfigRun& run :
       parse_config(std::string(test::kTiny) + "[run.A]\n[run.B]\ntrain.warmup = 8\n", "tiny")) {
    runs.push_back(run.spec);
  }
  return runs;
}

/// Two tiny runs in a window without a window, under a robot's hand.
struct SmallWindow {
  SmallWindow() {
    lab.start(tiny_runs(), false);
    state.lab = &lab;
    state.aside = folder.file("replaced");
    settle();
  }
  /// Until the trainer has done what was asked and the screen has seen it.
  void settle() {
    robot.frames(2);
    lab.wait_idle();
    robot.frames(2);
  }
  void prompt(const char* key, const std::string& path) {
    robot.key(key);
    robot.frames(3);
    robot.key("Ctrl+A");
    robot.type(path);
    robot.frames(2);
    robot.key("Enter");
    robot.frames(3);
    settle();
  }
  std::string message() { return robot.value("app/message"); }
  /// What the prompt for a file says, where it stands open.
  std::string says() { return robot.value("app/file/says"); }
  bool asks() { return ui.popup_open("app/file"); }
  const LabView& view() { return *state.view; }

  test::Folder folder;
  Lab lab{{.threads = 1, .live_text = false}};
  AppState state;
  ui::Frame loop{{1600, 1000}};
  ui::Ui ui{ui::load_fonts()};
  ui::Robot robot{loop, ui, [this] { draw_app(state, ui); }};
};

}  // namespace normscope::fixture
