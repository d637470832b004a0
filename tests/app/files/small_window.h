// The small window is shared by the tests of files.
#pragma once

#include <unistd.h>

#include "app/headless/frame.h"
#include "app/headless/ui_driver.h"
#include "app/shell/app_state.h"
#include "app/support/program.h"
#include "training/files/session_file.h"

namespace normscope::fixture {

inline std::vector<RunSpec> tiny_runs() {
  std::vector<RunSpec> runs;
  for (const ConfigRun& run :
       parse_config(std::string(test::kTiny) + "[run.A]\n[run.B]\ntrain.warmup = 8\n", "tiny")) {
    runs.push_back(run.spec);
  }
  return runs;
}

/// `SmallWindow` shows two tiny runs without a real window, driven by a UI driver.
struct SmallWindow {
  SmallWindow() {
    lab.post(session::ReplaceRuns{tiny_runs(), {}, false});
    state.session.lab = &lab;
    state.session.undo.stash_in(folder.file("replaced"));
    settle();
  }
  /// `settle` waits until the trainer has done what was asked and the screen has seen it.
  void settle() {
    driver.frames(2);
    lab.wait_idle();
    driver.frames(2);
  }
  void prompt(const char* key, const std::string& path) {
    driver.key(key);
    driver.frames(3);
    driver.key("Ctrl+A");
    driver.type(path);
    driver.frames(2);
    driver.key("Enter");
    driver.frames(3);
    settle();
  }
  /// `drop` acts as if the file were dropped on the window.
  void drop(const std::string& path) {
    shell::begin_opening(state.files, state.session, path, shell::Sure::Dropped, state.notice);
  }
  std::string message() { return driver.value("app/message"); }
  /// `says` is what the prompt for a file says while it is open.
  std::string says() { return driver.value("app/file/says"); }
  bool asks() { return ui.popup_open("app/file"); }
  const LabView& view() { return *state.session.view; }

  test::Folder folder;
  Lab lab{{.threads = 1, .live_text = false}};
  shell::AppState state;
  headless::Frame loop{{1600, 1000}};
  ui::Ui ui{ui::load_fonts()};
  headless::UiDriver driver{loop, ui, [this] { shell::draw_app(state, ui); }};
};

}  // namespace normscope::fixture
