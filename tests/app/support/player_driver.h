// The player driver has the Lessons screen without a window, with the course's own numbers instead of a training.
#pragma once

#include <algorithm>

#include "app/lesson-player/player.h"
#include "app/support/lab_driver.h"
#include "app/support/recorded_measurer.h"
#include "app/support/shipped_course.h"

namespace normscope::fixture {

struct PlayerDriver : LabDriver {
  explicit PlayerDriver(std::string progress = "", ui::Vec size = {1600, 1000}, float scale = 1,
                        RecordedMeasurer::Adapt adapt = {})
      : LabDriver(size, scale) {
    state.switches.clock = true;
    state.look.reduced_motion = true;
    state.screens.shown = Screen::Lessons;
    state.screens.lessons.player = std::make_shared<lesson_player::Player>(
        shipped_course(), std::make_unique<RecordedMeasurer>(&started, std::move(adapt)), std::move(progress),
        std::make_unique<TrainedMeasurer>());
    // Whoever has done none begins with lesson 0, which has no run; most tests are about runs.
    if (player().lesson() && player().lesson()->number == 0)
      player().open("warm-up", course::StepKind::Predict);
    driver.frames(3);
  }
  lesson_player::Player& player() { return *state.screens.lessons.player; }
  void open(const std::string& lesson, course::StepKind step) {
    player().open(lesson, step);
    rest();
  }
  /// "open warm-up compare" opens a page of a lesson.
  bool obey(const std::string& verb, const std::string& rest) override {
    const size_t space = rest.find(' ');
    for (const course::StepKind step : course::kSteps)
      if (verb == "open" && space != rest.npos && rest.substr(space + 1) == to_string(step)) {
        open(rest.substr(0, space), step);
        return true;
      }
    return false;
  }
  /// Presses Tab until the control or its group has the focus, and walks the group to it.
  void focus(const std::string& name) {
    const auto in_its_group = [&] {
      const ui::Control *const to = ui.registry().find(name), *const at = ui.registry().find(ui.focused());
      return to && at && !to->group.empty() && to->region == at->region && to->group == at->group;
    };
    for (int i = 0; i < 80 && ui.focused() != name && !in_its_group(); ++i) driver.key("Tab");
    if (ui.focused() != name) driver.key("Home");
    for (int i = 0; i < 80 && ui.focused() != name; ++i) driver.key("Down");
    REQUIRE(ui.focused() == name);
  }
  void press(const std::string& name, bool keyboard) {
    if (!keyboard) return driver.click(name);
    focus(name);
    driver.key("Enter");
    driver.frames(2);
  }

  /// Decides the case at the end of a lesson and has it trained.
  void decide(size_t answer, bool keyboard = false) {
    press(answer_button(answer), keyboard);
    press("lesson/case/train", keyboard);
    driver.frames(2);
  }
  /// The name of the control of an answer; 0 is the right one.
  std::string answer_button(size_t answer) {
    const std::vector<size_t> order = course::offered_order(*player().lesson()->closing);
    return fmt::format("lesson/case/{}", std::ranges::find(order, answer) - order.begin() + 1);
  }

  int started = 0;
};

/// The Lessons screen with the app's own worker: a tape takes no time.
struct LessonTapes : PlayerDriver {
  LessonTapes() {
    state.screens.lessons.player = std::make_shared<lesson_player::Player>(
        shipped_course(), std::make_unique<lesson_player::Worker>(std::function<void()>{}, 1), "");
    driver.frames(3);
  }
  void rest() override {
    for (; player().measuring(); driver.frames(1)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    driver.frames(3);
  }
  /// "run 6" runs so many of its lines.
  bool obey(const std::string& verb, const std::string& rest) override {
    if (verb != "run") return PlayerDriver::obey(verb, rest);
    for (int i = std::stoi(rest); i > 0; --i) driver.click("lesson/tape/next");
    return true;
  }
};

}  // namespace normscope::fixture
