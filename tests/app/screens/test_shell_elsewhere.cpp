// What test_shell_and_keys asks of the Lab's resting screen, asked of everything else: the controls of every
// step of a lesson, the medium layout with its settings, and what a control opens. Each does something under
// the mouse and something under the keys, and Tab comes to it.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "app/lessons/player.h"
#include "app/support/lab_driver.h"
#include "app/support/lab_fixture.h"
#include "app/support/recorded_measurer.h"
#include "catch.hpp"
#include "test_paths.h"

using namespace normscope;
using namespace normscope::lab;
using fixture::LabDriver;

namespace {

int measurements = 0;  // that lessons asked for

std::string seen_state(LabDriver& lab) {
  const AppState& s = lab.state;
  std::string text =
      fmt::format("{} {} {} {} {} {} {}\n", s.look.dark, s.look.scale, static_cast<int>(s.screens.shown),
                  s.notice, lab.ui.edit().name, s.screens.lab.diagram().selected, measurements);
  for (const Command& command : lab.log) text += fmt::format("command {}\n", command.index());
  for (const SavePlot& save : lab.saved) text += "saved " + save.plots->front().id + "\n";
  // Values, and what there is: names alone would not tell a scrolled text from a resting one.
  for (const ui::Control& c : lab.ui.registry().all())
    text += fmt::format("{} = {} at {:.0f} {:.0f}\n", c.name, c.value, c.rect.x, c.rect.y);
  return text;
}

void rest(LabDriver& lab) {
  lab.driver.key("Escape");
  lab.driver.key("Escape");
  lab.ui.close_popup();
  lab.ui.edit() = {};
  lab.ui.focus("");
  lab.log.clear();
  lab.saved.clear();
  lab.driver.move_to(ui::Vec{2, 2});
  lab.driver.frames(4);
}

// Names that Tab comes to, from no focus at all until it is where it began.
std::set<std::string> tab_stops(LabDriver& lab, size_t most) {
  std::set<std::string> seen;
  std::string first;
  for (size_t i = 0; i < most; ++i) {
    lab.driver.key("Tab");
    if (lab.ui.focused() == first) break;
    if (first.empty()) first = lab.ui.focused();
    seen.insert(lab.ui.focused());
  }
  return seen;
}

// A control of a text that is longer than its column is scrolled into view first, as a person does.
void scroll_to(LabDriver& lab, const std::string& name) {
  const float end = lab.ui.size().y - 64;  // above the footer
  for (int i = 0; i < 40; ++i) {
    const ui::Control* control = lab.ui.registry().find(name);
    if (!control || !name.starts_with("lesson/drag/") || control->rect.bottom() < end) return;
    lab.driver.move_to(ui::Vec{control->rect.centre().x, end / 2});
    lab.driver.wheel(-1);
    lab.driver.frames(2);
  }
}

bool changed_by_mouse(LabDriver& lab, const std::string& name, const std::function<void()>& start) {
  const auto begin = [&] {
    start();
    scroll_to(lab, name);
  };
  begin();
  const std::string before = seen_state(lab);
  lab.driver.click(name);
  lab.driver.move_to(ui::Vec{2, 2});
  lab.driver.frames(2);
  if (seen_state(lab) != before) return true;
  for (const ui::Vec way : {ui::Vec{120, -9}, ui::Vec{-24, 60}, ui::Vec{0, -60}}) {
    begin();
    lab.driver.drag_by(name, way);
    lab.driver.move_to(ui::Vec{2, 2});
    lab.driver.frames(2);
    if (seen_state(lab) != before) return true;
  }
  begin();
  lab.driver.click(name, {0.5f, 0.5f}, 1);  // a menu of its own
  lab.driver.move_to(ui::Vec{2, 2});
  lab.driver.frames(2);
  return seen_state(lab) != before;
}

bool changed_by_keys(LabDriver& lab, const std::string& name, const std::function<void()>& begin) {
  begin();
  const std::string before = seen_state(lab);
  lab.ui.focus(name);
  lab.driver.frames(1);
  for (const char* key : {"Enter", "Right", "Up", "Left", "Down"}) {
    lab.driver.key(key);
    lab.driver.frames(2);
    if (seen_state(lab) != before) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("every control of every step of every lesson answers mouse and keys, and Tab comes to it") {
  for (ui::Vec size : {ui::Vec{1600, 1000}, ui::Vec{1024, 600}}) {
    LabDriver lab(fixture::four_runs(), size);
    lab.state.screens.shown = Screen::Lessons;
    lab.state.look.reduced_motion = true;
    const lessons::Course course = lessons::read_course(NORMSCOPE_SOURCE_DIR "/lessons");
    for (const lessons::Lesson& lesson : course.lessons)
      for (lessons::StepKind step : lessons::kSteps) {
        const auto begin = [&] {
          lab.state.screens.shown = Screen::Lessons;
          lab.state.look.dark = false;
          lab.state.look.scale = 1;
          lab.state.screens.lessons.player = std::make_shared<lessons::Player>(
              course, std::make_unique<fixture::RecordedMeasurer>(&measurements), std::string());
          lab.state.screens.lessons.player->open(lesson.id, step);
          rest(lab);
          measurements = 0;
        };
        begin();
        const std::vector<std::string> all = fixture::controls(lab.ui);
        REQUIRE(all.size() > 8);
        std::set<std::string> on;
        for (const std::string& name : all)
          if (lab.driver.value(name) == "on") on.insert(name);
        const std::set<std::string> stops = tab_stops(lab, 3 * all.size());
        const std::string here = fmt::format("{}, {}, {}", size.x, lesson.id, lessons::to_string(step));
        for (const std::string& name : all) {
          INFO(here << ": " << name);
          if (name.starts_with("app/backend")) continue;  // nothing to choose on a machine without CUDA
          CHECK((stops.contains(name) || stops.contains(name.substr(0, name.rfind('/')))));
          if (name.starts_with("app/") || on.contains(name)) continue;  // the bar's: test_shell_and_keys
          if (name == "lesson/list/" + lesson.id ||
              name == fmt::format("lesson/step/{}", lessons::to_string(step)))
            continue;  // where we are
          const bool of_the_frame = name.starts_with("lesson/list/") || name.starts_with("lesson/step/");
          if (of_the_frame && &lesson != &course.lessons.front()) continue;  // the same in every lesson
          // Segments are pressed by the mouse; their box takes the keys.
          const bool box =
              std::any_of(all.begin(), all.end(), [&](const auto& n) { return n.starts_with(name + "/"); });
          const bool segment = !stops.contains(name);
          if (!box) CHECK(changed_by_mouse(lab, name, begin));
          if (!segment) CHECK(changed_by_keys(lab, name, begin));
        }
      }
  }
}

TEST_CASE("the medium layout and its settings answer mouse and keys, and Tab comes to them") {
  for (const char* tab : {"Diagram", "Settings"}) {
    LabDriver lab(fixture::four_runs(), {1440, 900});
    const AppState start = lab.state;
    const auto begin = [&] {
      rest(lab);
      lab.state = start;
      lab.driver.frames(3);
      lab.driver.click(fmt::format("lab/left/{}", tab));
      lab.log.clear();
      lab.saved.clear();
      rest(lab);
    };
    begin();
    const std::vector<std::string> all = fixture::controls(lab.ui);
    const std::set<std::string> stops = tab_stops(lab, 3 * all.size());
    static const std::set<std::string> chosen{"transport/speed/max", "run/A", "diagram/run/A",
                                              "settings/edits/all"};
    for (const std::string& name : all) {
      INFO(tab << ": " << name);
      if (name.starts_with("app/") || chosen.contains(name) || name == fmt::format("lab/left/{}", tab))
        continue;
      if (!name.starts_with("diagram/layer"))  // one stop, arrows from there
        CHECK((stops.contains(name) || stops.contains(name.substr(0, name.rfind('/')))));
      // The others are those of the full layout: test_shell_and_keys.
      if (!name.starts_with("lab/left") && !name.starts_with("settings/") &&
          !name.starts_with("diagram/preset"))
        continue;
      const bool segments =  // those are pressed themselves
          std::any_of(all.begin(), all.end(), [&](const auto& n) { return n.starts_with(name + "/"); });
      CHECK((segments || changed_by_mouse(lab, name, begin)));
      CHECK(changed_by_keys(lab, name, begin));
    }
  }
}

TEST_CASE("what a control opens can be walked and chosen by the keys alone") {
  for (ui::Vec size : {ui::Vec{1600, 1000}, ui::Vec{1024, 600}}) {
    LabDriver lab(fixture::four_runs(), size);
    const AppState start = lab.state;
    const auto begin = [&] {
      rest(lab);
      lab.state = start;
      lab.log.clear();
      lab.saved.clear();
      lab.driver.frames(3);
    };
    begin();
    const std::vector<std::string> resting = fixture::controls(lab.ui);
    const std::set<std::string> known(resting.begin(), resting.end());
    int opened = 0;
    for (const std::string& name : resting) {
      begin();
      lab.ui.focus(name);
      lab.driver.frames(1);
      lab.driver.key("Enter");
      lab.driver.frames(4);
      std::vector<std::string> items;
      for (const std::string& item : fixture::controls(lab.ui))
        if (!known.contains(item) && item.starts_with(name + "/")) items.push_back(item);
      if (items.empty() || !lab.ui.popup_open(name)) continue;
      ++opened;
      const std::set<std::string> stops = tab_stops(lab, 2 * known.size() + 2 * items.size());
      for (const std::string& item : items) {
        INFO(size.x << ": " << item);
        CHECK(stops.contains(item));
      }
      lab.ui.focus(items.back());
      lab.driver.frames(1);
      const std::string before = seen_state(lab);
      lab.driver.key("Enter");
      lab.driver.frames(3);
      INFO(items.back());
      CHECK(seen_state(lab) != before);
    }
    CHECK(opened >= 5);
  }
}
