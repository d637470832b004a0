// The task driver has the small lesson of tests/refusals/lesson-exercise.toml for a course, and a folder of its own for
// what is kept. Its run ends below the line of the challenge with Pre-LN, and nowhere else.
#pragma once

#include "app/support/player_driver.h"
#include "app/support/small_lesson.h"

namespace normscope::fixture {

struct TaskDriver : PlayerDriver {
  explicit TaskDriver(ui::Vec size = {1600, 1000}) : PlayerDriver("", size) {
    std::filesystem::current_path(folder.path);
    begin("lessons.json");
  }
  ~TaskDriver() override { std::filesystem::current_path(before); }
  /// Starts the lessons with the progress of a file; without a name nothing is kept.
  void begin(const std::string& progress) {
    course::Course course;
    course.lessons.push_back(parsed_exercise());
    state.screens.lessons.player = std::make_shared<lesson_player::Player>(
        std::move(course),
        std::make_unique<RecordedMeasurer>(
            &started,
            [](const course::Lesson&, lesson_player::MeasureState& measured) {
              const auto it = measured.changes.find("A");
              const bool pre = it != measured.changes.end() && it->second.contains("model.placement") &&
                               it->second.at("model.placement") == "pre";
              measured.curves["loss_A"] = {{1, 2, 3, 4}, {4, 3, 3, pre ? 1.25 : 2.75}};
            }),
        progress, std::make_unique<TrainedMeasurer>());
    driver.frames(3);
  }
  void to_challenge() {
    open("task", course::StepKind::Compare);
    click("lesson/next");
    REQUIRE(player().page() == lesson_player::PageKind::Challenge);
  }
  void choose(const std::string& field, const std::string& label) {
    driver.choose("lesson/challenge/" + field, label);
    driver.frames(2);
  }
  /// "restart" starts the lessons again, "restart safe" in safe mode.
  bool obey(const std::string& verb, const std::string& rest) override {
    if (verb != "restart") return PlayerDriver::obey(verb, rest);
    begin(rest.empty() ? "lessons.json" : "");
    return true;
  }

  const test::Folder folder;
  const std::filesystem::path before = std::filesystem::current_path();
};

}  // namespace normscope::fixture
