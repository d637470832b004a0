// Every event of the timeline is named, or can be identified under the mouse.
#include <fmt/format.h>

#include <algorithm>

#include "catch.hpp"
#include "lab_fixture.h"
#include "lab_robot.h"
#include "text_faults.h"

using namespace normscope;
using fixture::LabRobot;

namespace {

bool says(LabRobot& lab, const std::string& text) {
  const auto& texts = lab.ui.texts();
  return std::any_of(texts.begin(), texts.end(), [&](const auto& t) { return t.text == text; });
}

std::shared_ptr<const LabView> view_with(std::vector<std::pair<int, int>> left, int steps) {
  fixture::LabShape shape;
  shape.step = 40, shape.budget = steps;
  auto view = std::const_pointer_cast<LabView>(fixture::lab_view(shape));
  for (auto [run, step] : left)
    std::const_pointer_cast<History>(view->runs[static_cast<size_t>(run)].history)
        ->add_event({step, RunEvent::Kind::LeftPlateau, "leaves the plateau"});
  view->step = steps;
  return view;
}

}  // namespace

TEST_CASE("events that stand close are named in two rows") {
  for (ui::Vec size : {ui::Vec{1600, 1000}, ui::Vec{1440, 900}}) {
    LabRobot lab(view_with({{2, 21}, {1, 77}, {0, 150}}, 900), size);
    INFO(size.x);
    for (const char* text : {"A leaves the plateau", "B leaves the plateau", "C leaves the plateau"}) {
      INFO(text);
      CHECK(says(lab, text));
    }
    CHECK(fixture::text_faults(lab.ui).empty());
  }
}

TEST_CASE("an event without room for its name says it under the mouse") {
  LabRobot lab(view_with({{0, 100}, {1, 104}, {2, 108}, {0, 112}, {1, 116}, {2, 120}}, 900));
  CHECK(fixture::text_faults(lab.ui).empty());
  for (int event = 0; event < 6; ++event) {
    lab.robot.move_to(lab.robot.control(fmt::format("timeline/event{}", event)).rect.centre());
    lab.robot.frames(30);
    const int step = 100 + 4 * event;
    bool named = false;
    for (const auto& t : lab.ui.texts())
      named |= t.text.find(fmt::format("at step {}", step)) != std::string::npos;
    INFO(step);
    CHECK(named);
  }
}
