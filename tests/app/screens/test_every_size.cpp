// These tests look for every control at every size: what the largest window shows is in every other one, on screen, in
// another tab or in a menu, and always in the palette. What is drawn under the mouse is what a click meets.
#include <algorithm>

#include "app/shell/palette.h"
#include "app/support/lab_driver.h"
#include "app/support/lab_fixture.h"
#include "app/support/text_faults.h"

using namespace normscope;
using fixture::LabDriver;

namespace {

struct Window {
  ui::Vec size;
  float scale = 1;
  bool dark = false;
};
constexpr Window kWindows[] = {{{640, 480}},  {{1024, 600}, 1, true}, {{1280, 720}, 1.5f},
                               {{1280, 800}}, {{1366, 768}, 1, true}, {{1440, 900}},
                               {{1598, 975}}, {{1600, 1000}, 1.5f},   {{1600, 1000}, 1, true},
                               {{1920, 1080}}};
// One window of each layout, where every control is tried.
constexpr Window kLayouts[] = {{{640, 480}}, {{1440, 900}}, {{1600, 1000}}};

std::string where(const Window& w) { return fmt::format("{}x{} at {}", w.size.x, w.size.y, w.scale); }

// Names what comes with the window's shape: gaps, scroll bars, what opens a tab or a menu, and what puts
// plots away where they do not stand in tabs.
bool of_the_layout(const std::string& name) {
  return name.starts_with("split/") || name == "settings/scroll" || name.starts_with("lab/left") ||
         name.starts_with("plot/tab") || name == "transport/pace" || name == "lab/less";
}

// Gives one control one name. Where there is no room for a row of presets there is a list of all, and
// each is in the palette by its name; a smaller cell has one choice of a matrix and of a stack.
std::string same_control(const std::string& name) {
  static const std::map<std::string, std::string> same{{"plot/matrix-over-time", "plot/matrix"},
                                                       {"plot/matrix-below", "plot/matrix"},
                                                       {"plot/stack-over-time", "plot/stack"},
                                                       {"diagram/preset-more", "diagram/preset"}};
  if (const auto at = same.find(name); at != same.end()) return at->second;
  if (name.starts_with("diagram/preset/")) return "diagram/preset";
  return name;
}

std::set<std::string> controls(const ui::Ui& ui) {
  std::set<std::string> names;
  for (const ui::Control& c : ui.registry().all())
    if (c.interactive && c.enabled && !of_the_layout(c.name)) names.insert(same_control(c.name));
  return names;
}

const shell::PaletteItem* listed(const std::vector<shell::PaletteItem>& items, const std::string& control) {
  const auto at = std::ranges::find_if(
      items, [&](const shell::PaletteItem& item) { return same_control(item.control) == control; });
  return at == items.end() ? nullptr : &*at;
}

}  // namespace

TEST_CASE("every control of the largest window is on screen, in a tab or in a menu of every other one") {
  const auto view = fixture::four_runs();
  std::set<std::string> all;
  {
    LabDriver lab(view, {1920, 1200});
    all = controls(lab.ui);
    for (const lab::Elsewhere& e : lab.state.screens.lab.elsewhere(lab.ui.registry(), *view))
      all.insert(e.name);  // the menus, too
    for (const char* name : {"transport/budget", "transport/speed", "transport/play", "lab/luck", "timeline",
                             "plot/loss/menu", "plot/dependency/batch"})
      REQUIRE(all.contains(name));
    REQUIRE(all.size() > 100);
  }
  for (const Window& window : kWindows) {
    LabDriver lab(view, window.size, window.scale);
    lab.state.look.dark = window.dark;
    const shell::AppState start = lab.state;
    lab.driver.frames(2);
    const bool tried = std::any_of(std::begin(kLayouts), std::end(kLayouts),
                                   [&](const Window& w) { return where(w) == where(window); });
    const auto items =
        shell::palette_items(lab.ui, lab.state.screens.lab.elsewhere(lab.ui.registry(), *view));
    for (const std::string& name : all) {
      INFO(where(window) << ": " << name);
      // More of them stand open in a higher window.
      const bool layers = name.starts_with("diagram/layer") || name == "diagram/collapse";
      const bool search = name == "app/search" || name.starts_with("term/");
      if (!layers && !search) CHECK(listed(items, name));
      if (controls(lab.ui).contains(name)) continue;
      const bool setting = name.starts_with("settings/");
      if (layers || name.starts_with("term/") || !tried) continue;
      const shell::PaletteItem* item = listed(items, name);
      if (!item) continue;  // said above
      lab.state.screens.lab.reveal(item->control, lab.ui.registry());
      lab.driver.frames(4);
      CHECK(controls(lab.ui).contains(name));
      CHECK((setting || fixture::text_faults(lab.ui).empty()));
      lab.driver.key("Escape");
      lab.state = start;
      lab.driver.frames(3);
    }
  }
}

TEST_CASE(
    "budget and speed are changed at every size, by mouse through what is on screen, and by the palette") {
  for (const Window& window : kWindows) {
    INFO(where(window));
    LabDriver lab(fixture::four_runs(), window.size, window.scale);
    lab.driver.frames(2);
    if (lab.ui.registry().find("transport/pace")) lab.click("transport/pace");
    lab.driver.click("transport/speed/slow");
    REQUIRE(lab.last<session::SetSpeed>());
    lab.click("transport/budget");
    lab.driver.key("Ctrl+A");
    lab.driver.type("450");
    lab.key("Enter");
    REQUIRE(lab.last<session::SetBudget>());
    CHECK(lab.last<session::SetBudget>()->steps == 450);
    CHECK(fixture::text_faults(lab.ui).empty());
    lab.driver.key("Escape");
    lab.key("Escape");
    lab.log.clear();

    fixture::run_by_name(lab, "speed slow");
    lab.key("Escape");
    fixture::run_by_name(lab, "speed max");
    REQUIRE(lab.last<session::SetSpeed>());
    CHECK(lab.last<session::SetSpeed>()->steps_per_second == 0);
    lab.key("Escape");
    fixture::run_by_name(lab, "budget of steps");
    CHECK(lab.ui.edit().name == "transport/budget");
  }
}

TEST_CASE("a click meets the control that is drawn there, at every size") {
  for (const Window& window : kLayouts)
    for (const char* tab : {"lab/left/Diagram", "lab/left/Settings"}) {
      if (window.size.x == 1600 && std::string_view(tab) == "lab/left/Settings")
        continue;  // both stand there
      LabDriver lab(fixture::four_runs(), window.size, window.scale);
      if (lab.ui.registry().find(tab)) lab.driver.click(tab);
      lab.driver.frames(2);
      std::map<std::string, ui::Rect> places;
      for (const ui::Control& c : lab.ui.registry().all())
        if (c.interactive && c.enabled && !c.rect.empty()) places.emplace(c.name, c.rect);
      for (const auto& [name, rect] : places) {
        lab.driver.move_to(rect.centre());
        INFO(where(window) << ": " << name << " under the mouse: " << lab.ui.under_mouse());
        // Itself, a part of it, or what lies on it: handles on a plot, events on the timeline.
        const auto met = places.find(lab.ui.under_mouse());
        REQUIRE(met != places.end());
        const bool on_it =
            rect.contains(met->second.centre()) && met->second.w * met->second.h < rect.w * rect.h;
        CHECK((met->first == name || on_it));
      }
    }
}

TEST_CASE("the dots of every plot open its menu with SVG, PNG and CSV wherever they are hit, at every size") {
  for (const Window& window : kWindows) {
    LabDriver lab(fixture::four_runs(), window.size, window.scale);
    lab.driver.frames(2);
    std::vector<std::string> tabs;
    for (const ui::Control& c : lab.ui.registry().all())
      if (c.name.starts_with("plot/tab/")) tabs.push_back(c.name);
    if (tabs.empty()) tabs.emplace_back();
    std::set<std::string> seen;
    for (const std::string& tab : tabs) {
      if (!tab.empty()) lab.click(tab);
      std::vector<std::string> menus;
      for (const ui::Control& c : lab.ui.registry().all())
        if (c.name.ends_with("/menu")) menus.push_back(c.name);
      for (const std::string& menu : menus) {
        if (!seen.insert(menu).second) continue;
        for (const ui::Vec at : {ui::Vec{0.71f, 0.5f}, {0.1f, 0.1f}, {0.92f, 0.1f}}) {
          INFO(where(window) << ": " << menu << " at " << at.x << " " << at.y);
          lab.click(menu, at);
          REQUIRE(lab.ui.popup_open(menu));
          for (const char* entry : {"svg", "png", "csv"})
            CHECK(lab.ui.registry().find(fmt::format("{}/{}", menu, entry)));
          CHECK(fixture::text_faults(lab.ui).empty());
          lab.key("Escape");
        }
      }
    }
    CHECK(seen.size() == 6);
  }
}
