// A Lab screen under a robot's hand, window-less: over a fixed view or over a real session. Shared by the
// Lab's tests.
#pragma once

#include <memory>
#include <string>

#include "app/app_state.h"
#include "app/ui/frame.h"
#include "app/ui/robot.h"

namespace normscope::fixture {

struct LabRobot {
  explicit LabRobot(ui::Vec size = {1600, 1000}, float scale = 1)
      : loop(size), ui(ui::load_fonts()), robot(loop, ui, [this] { draw(); }) {
    state.scale = scale;
    state.record_text = true;
    state.clock = false;
  }
  explicit LabRobot(std::shared_ptr<const LabView> view, ui::Vec size = {1600, 1000}, float scale = 1)
      : LabRobot(size, scale) {
    state.view = std::move(view);
    robot.frames(2);
  }

  void draw() {
    draw_app(state, ui);
    for (const lab::Command& command : state.commands) log.push_back(command);
  }
  // The last command of a kind that the hand gave since the beginning, or nullptr.
  template <typename T>
  const T* last() const {
    for (size_t i = log.size(); i-- > 0;)
      if (const T* command = std::get_if<T>(&log[i])) return command;
    return nullptr;
  }

  ui::Frame loop;
  ui::Ui ui;
  AppState state;
  std::vector<lab::Command> log;
  ui::Robot robot;
};

}  // namespace normscope::fixture
