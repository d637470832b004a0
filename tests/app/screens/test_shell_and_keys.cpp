// These tests use every control of the Lab by name: the mouse finds it where it says it is and it does something; what
// is pressed does the same under Enter. test_screens.cpp has the keyboard.
#include "app/settings/settings.h"
#include "app/support/lab_driver.h"
#include "app/support/lab_fixture.h"
#include "catch.hpp"

using namespace normscope;
using fixture::LabDriver;

namespace {

std::string text_of(const session::Command& command) {
  std::string text = fmt::format("command {}", command.index());
  if (const auto* edit = std::get_if<session::EditField>(&command))
    text += fmt::format(" {} {}={}", edit->run, edit->key, edit->value);
  if (const auto* fork = std::get_if<session::ForkRequest>(&command)) text += " " + fork->note;
  return text + "\n";
}

// Everything that a user can have changed, as text.
std::string shown(LabDriver& lab) {
  const shell::AppState& s = lab.state;
  std::string text =
      fmt::format("{} {} {} {} {} typing into '{}'\n", s.look.dark, s.look.scale,
                  static_cast<int>(s.screens.shown), s.notice, s.shell.clipboard, lab.ui.edit().name);
  for (const session::Command& command : lab.log) text += text_of(command);
  for (const view::SavePlot& save : lab.saved) text += "saved " + save.plots->front().id + "\n";
  std::istringstream lines(lab.ui.registry().to_text());
  for (std::string line; std::getline(lines, line);)
    if (line.find("sweep/status") == line.npos)
      text += line + "\n";  // what its thread is at, in its own time
  return text;
}

struct Bench {
  explicit Bench(ui::Vec size) : lab(fixture::four_runs(), size), start(lab.state) { begin(); }
  void begin() {
    lab.driver.key("Escape");
    lab.driver.key("Escape");
    lab.ui.close_popup();
    lab.ui.edit() = {};
    lab.ui.focus("");
    lab.driver.move_to({2, 2});
    lab.state = start;
    lab.log.clear();
    lab.saved.clear();
    lab.driver.frames(4);
    before = shown(lab);
  }
  bool changed() { return shown(lab) != before; }

  LabDriver lab;
  shell::AppState start;
  std::string before;
};

// Whether it is where it is pressed to already, so that nothing is left to change.
bool is_chosen_already(const std::string& name) {
  static const std::set<std::string> chosen{"app/tab/lab",
                                            "transport/speed/max",
                                            "diagram/preset/Post",
                                            "lab/left/Diagram",
                                            "plot/tab/Gradient by layer",
                                            "run/A",
                                            "diagram/run/A",
                                            "app/backend/CPU"};
  return chosen.contains(name);
}

constexpr ui::Vec kTwoWindows[] = {{1600, 1000}, {1024, 600}};

}  // namespace

TEST_CASE("every control of the Lab does something under the mouse, and a button the same under Enter") {
  for (ui::Vec size : kTwoWindows) {
    Bench bench(size);
    const std::vector<std::string> all = fixture::controls(bench.lab.ui);
    REQUIRE(all.size() > 30);
    for (const std::string& name : all) {
      if (is_chosen_already(name)) continue;
      INFO(size.x << ": " << name);
      bench.begin();
      bench.lab.driver.click(name);
      bench.lab.driver.move_to({2, 2});
      bench.lab.driver.frames(2);
      if (!bench.changed()) {
        bench.begin();
        bench.lab.driver.drag_by(name, {14, -6});
        bench.lab.driver.move_to({2, 2});
        bench.lab.driver.frames(2);
        if (!bench.changed()) bench.lab.driver.click(name, {0.5f, 0.5f}, 1);  // the right button's menu
        bench.lab.driver.frames(2);
        const bool segments =  // those are pressed themselves
            std::ranges::any_of(all, [&](const auto& n) { return n.starts_with(name + "/"); });
        CHECK((bench.changed() || segments));
        continue;
      }
      if (name.starts_with("diagram/") || name == "timeline") continue;
      const std::string after_click = shown(bench.lab);
      bench.begin();
      bench.lab.ui.focus(name);
      bench.lab.driver.frames(1);
      bench.lab.key("Enter");
      if (bench.changed()) CHECK(shown(bench.lab) == after_click);
    }
  }
}

TEST_CASE("every field of the specification has a row in the settings, or a place of its own elsewhere") {
  Bench bench({1600, 1000});
  std::set<std::string> seen;
  bench.lab.ui.focus("settings/scroll");
  bench.lab.driver.frames(1);
  for (int i = 0; i < 40; ++i) {
    for (const std::string& name : fixture::controls(bench.lab.ui)) seen.insert(name);
    bench.lab.driver.key("Down");
  }
  for (const Field& field : spec_fields()) {
    INFO(field.key);
    const std::string name = fmt::format("settings/{}", field.key), place(settings::place_of(field));
    CHECK(settings::listed(field) == place.empty());
    if (place.empty())
      CHECK((seen.contains(name) || seen.contains(name + "/A")));
    else
      CHECK(std::ranges::any_of(seen, [&](const auto& c) { return c.starts_with(place); }));
  }
}
