// The Compare screen in a window without one, with logs that a story writes.
#pragma once

#include "addons/compare/app/screen/compare_screen.h"
#include "app/support/lab_driver.h"
#include "app/support/lab_fixture.h"
#include "app/support/made_screen.h"
#include "folder.h"

namespace normscope::fixture {

inline std::string log_line(int step, double loss) {
  return fmt::format("{{\"run\":\"port\",\"seed\":7,\"step\":{},\"loss\":{}}}\n", step, loss);
}

inline std::string a_log(int steps, double start = 3) {
  std::string log;
  for (int step = 1; step <= steps; ++step) log += log_line(step, start - 0.001 * step);
  return log;
}

/// Begins on the tab of the screen.
struct CompareDriver : LabDriver {
  explicit CompareDriver(std::shared_ptr<const LabView> view = lab_view(), ui::Vec size = {1600, 1000})
      : LabDriver(std::move(view), size) {
    driver.click("app/tab/compare");
    driver.move_to(ui::Vec{4, 4});
    driver.frames(3);
  }
  compare_screen::CompareScreen& screen() {
    return made_screen<compare_screen::CompareScreen>(state, Screen::Compare);
  }
  void open(const std::string& path) {
    screen().open(path, *state.session.view);
    driver.frames(3);
  }
  /// "log port 40 [4.0]" writes port.jsonl of so many steps, from a loss on; "add port TEXT" writes another line of it;
  /// "file no.jsonl TEXT" writes a file; "open port.jsonl" opens one.
  bool obey(const std::string& verb, const std::string& rest) override {
    std::istringstream words(rest);
    std::string name, text;
    words >> name >> std::ws;
    if (verb == "log") {
      int steps = 0;
      double start = 3;
      words >> steps;
      if (double other = 0; words >> other) start = other;
      logs.write(name + ".jsonl", a_log(steps, start));
    } else if (verb == "add") {
      std::getline(words, text);
      std::ofstream(logs.file(name + ".jsonl"), std::ios::app) << text << "\n";
    } else if (verb == "file") {
      std::getline(words, text);
      logs.write(name, text + "\n");
    } else if (verb == "open") {
      open(logs.file(name));
    } else {
      return false;
    }
    return true;
  }

  const test::Folder logs;
};

}  // namespace normscope::fixture
