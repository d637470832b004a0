// The tab walk goes through a screen by Tab, and through its groups by arrows: what it does not come to, whether a control
// answers keys, and after how many presses the farthest is reached. It is for
// test_screens.cpp and test_shell_elsewhere.cpp.
#pragma once

#include <imgui.h>

#include <algorithm>
#include <initializer_list>
#include <map>

#include "app/support/lab_driver.h"

namespace normscope::fixture {

/// Everything that the user can have changed, as text. It includes where each control is, because names
/// alone would not tell a scrolled text from one at rest.
inline std::string seen_state(LabDriver& lab) {
  const shell::AppState& s = lab.state;
  std::string text =
      fmt::format("{} {} {} {} {} {} {}\n", s.look.dark, s.look.scale, static_cast<int>(s.screens.shown),
                  s.notice, s.shell.clipboard, lab.ui.edit().name, s.screens.lab.diagram().selected);
  for (const session::Command& command : lab.log) {
    text += fmt::format("command {}", command.index());
    if (const auto* edit = std::get_if<session::EditField>(&command))
      text += fmt::format(" {} {}={}", edit->run, edit->key, edit->value);
    if (const auto* fork = std::get_if<session::ForkRequest>(&command)) text += " " + fork->note;
    text += "\n";
  }
  for (const view::SavePlot& save : lab.saved) text += "saved " + save.plots->front().id + "\n";
  for (const ui::Control& c : lab.ui.registry().all())
    if (c.name != "sweep/status")  // what its thread is at, in its own time
      text += fmt::format("{} = {} at {:.0f} {:.0f}\n", c.name, c.value, c.rect.x, c.rect.y);
  return text;
}

/// A number for all that is drawn: two different numbers mean two different pictures.
inline size_t picture_of(const LabDriver& lab) {
  size_t picture = 0;
  for (const ImDrawList* list : lab.loop.draw_data()->CmdLists) {
    const std::string_view bytes(reinterpret_cast<const char*>(list->VtxBuffer.Data),
                                 static_cast<size_t>(list->VtxBuffer.Size) * sizeof(ImDrawVert));
    picture = picture * 31 + std::hash<std::string_view>()(bytes);
  }
  return picture;
}

struct TabWalk {
  std::set<std::string> stops;
  std::string last;                 ///< the stop before Tab is where it began
  std::vector<std::string> unseen;  ///< stops at which nothing shows the focus
};

/// The arrow that leads on in the control's group, which the control does not take itself; none of a lone control.
inline const char* way_on(const ui::Control& control) {
  if (control.group.empty() || control.arrows == ui::Arrows::Both) return nullptr;
  return control.arrows == ui::Arrows::Up ? "Right" : "Down";
}

/// Starts with no focus and presses Tab until it is back where it began, and goes through each group that it comes to.
inline TabWalk walk_by_tab(LabDriver& lab, size_t most) {
  TabWalk walk;
  std::set<std::string> groups;
  const size_t without_focus = picture_of(lab);
  const auto note = [&] {
    if (!walk.stops.insert(walk.last = lab.ui.focused()).second) return false;
    if (!lab.ui.focus_visible() || picture_of(lab) == without_focus) walk.unseen.push_back(walk.last);
    return true;
  };
  for (size_t i = 0; i < most; ++i) {
    lab.driver.key("Tab");
    const ui::Control* const stop = lab.ui.registry().find(lab.ui.focused());
    if (!stop) break;
    const std::string place = stop->group.empty() ? stop->name : stop->region + ", " + stop->group;
    if (!groups.insert(place).second) break;
    note();
    if (stop->group.empty()) continue;
    for (const char* end : {"End", "Home"}) {
      lab.driver.key(end);
      note();
    }
    for (size_t members = 0; members < most; ++members) {
      const ui::Control* const here = lab.ui.registry().find(lab.ui.focused());
      const char* const key = here ? way_on(*here) : nullptr;
      if (!key) break;
      const std::string before = here->name;
      lab.driver.key(key);
      if (lab.ui.focused() == before) break;
      note();
    }
  }
  return walk;
}

/// The fewest presses from no focus to each control that can have it: F6 or Shift+F6 to a region, Tab or Shift+Tab to a
/// group, arrows, Home and End within it. Changes nothing but the focus and which layer of the diagram is open.
inline std::map<std::string, int> fewest_presses(LabDriver& lab, int most) {
  std::map<std::string, int> presses;
  const auto note = [&](int count) {
    const auto [at, fresh] = presses.emplace(lab.ui.focused(), count);
    const bool nearer = fresh || count < at->second;
    at->second = std::min(at->second, count);
    return nearer;
  };
  const auto press_on = [&](const std::string& from, int count, const char* key) {
    lab.ui.focus(from);
    if (from.empty()) lab.driver.frames(1);
    while (count < most) {
      lab.driver.key(key);
      if (!note(++count)) break;
    }
  };
  press_on("", 0, "F6");
  press_on("", 0, "Shift+F6");
  for (const auto& [entry, count] : std::map(presses))
    for (const char* key : {"Tab", "Shift+Tab"}) press_on(entry, count, key);
  const diagram::DiagramState start = lab.state.screens.lab.diagram();
  for (int count = 1; count < most; ++count)
    for (const auto& [name, reached] : std::map(presses)) {
      if (reached != count) continue;
      for (const char* key : {"Left", "Right", "Up", "Down", "Home", "End"}) {
        int layer = 0;  // of a slot, which has to be open
        if (std::sscanf(name.c_str(), "diagram/layer%d/", &layer) == 1) {
          lab.state.screens.lab.diagram().open(view::Side::Main) = layer - 1;
          lab.driver.frames(1);
        }
        const ui::Control* const control = lab.ui.registry().find(name);
        if (!control || control->group.empty()) break;
        const bool across = *key == 'L' || *key == 'R', up = *key == 'U' || *key == 'D';
        const bool own = (across && control->arrows == ui::Arrows::Across) ||
                         (up && control->arrows == ui::Arrows::Up) ||
                         ((across || up) && control->arrows == ui::Arrows::Both && control->group != "slots");
        if (own) continue;
        lab.ui.focus(name);
        lab.driver.key(key);
        lab.driver.frames(1);
        note(count + 1);
        lab.state.screens.lab.diagram() = start;
      }
    }
  presses.erase("");
  return presses;
}

/// Whether Tab comes to the control, to the box of its segment (arrows walk it), or to its own handles.
inline bool in_reach(const std::string& name, const std::set<std::string>& stops) {
  if (stops.contains(name) || stops.contains(name.substr(0, name.rfind('/')))) return true;
  const auto handle = stops.lower_bound(name + "/");
  if (handle != stops.end() && handle->starts_with(name + "/")) return true;
  if (name.starts_with("diagram/layer")) return true;  // one stop, arrows from there: test_diagram_input
  if (name.starts_with("app/backend")) return true;    // nothing to choose on a machine without CUDA
  // The list of a tape is one stop: its keys move the head from row to row and open them.
  const bool in_list = name.starts_with("tape/row/") || name.starts_with("tape/open/") || name == "tape/head";
  return in_list && stops.contains("tape/fold");
}

/// Gives the control the focus and presses keys until one of them changes something.
inline bool changed_by_keys(LabDriver& lab, const std::string& name,
                            std::initializer_list<const char*> keys = {"Enter", "Right", "Up", "Left",
                                                                       "Down"}) {
  const std::string before = seen_state(lab);
  lab.ui.focus(name);
  lab.driver.frames(1);
  return std::ranges::any_of(keys, [&](const char* key) {
    lab.ui.focus(name);
    lab.key(key);
    return seen_state(lab) != before;
  });
}

}  // namespace normscope::fixture
