// The small window is shared by the tests of files.
#pragma once

#include <unistd.h>

#include "app/support/live_lab.h"
#include "app/support/program.h"
#include "training/session/session_file.h"

namespace normscope::fixture {

inline std::vector<RunSpec> tiny_runs() {
  std::vector<RunSpec> runs;
  for (const ConfigRun& run :
       parse_config(std::string(test::kTiny) + "[run.A]\n[run.B]\ntrain.warmup = 8\n", "tiny")) {
    runs.push_back(run.spec);
  }
  return runs;
}

/// A Lab of two tiny runs, with the prompt for a file.
struct SmallWindow : LiveDriver {
  static LabOptions options() { return {.threads = 1, .live_text = false}; }
  explicit SmallWindow(LabOptions given = options()) : LiveDriver(tiny_runs(), std::move(given)) {}
  ~SmallWindow() override {
    lab.wait_idle();
  }  // the folder goes before the Lab, which may still write into it
  void prompt(const char* key, const std::string& path) {
    LabDriver::key(key);
    driver.key("Ctrl+A");
    type(path);
    driver.key("Enter");
    settle();
  }
  /// Acts as if the file were dropped on the window.
  void drop(const std::string& path) {
    shell::begin_opening(state.files, state.session, path, false, state.notice);
  }
  std::string message() { return driver.value("app/message"); }
  /// What the prompt for a file says while it is open.
  std::string says() { return driver.value("app/file/says"); }
  bool asks() { return ui.popup_open("app/file"); }

  test::Folder folder;
};

}  // namespace normscope::fixture
