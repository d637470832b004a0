// The tab walk goes through a screen by Tab: what it does not come to, and whether a control answers keys. It is for
// test_screens.cpp and test_shell_elsewhere.cpp.
#pragma once

#include <imgui.h>

#include <algorithm>
#include <initializer_list>

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

/// Starts with no focus and presses Tab until it is back where it began.
inline TabWalk walk_by_tab(LabDriver& lab, size_t most) {
  TabWalk walk;
  std::string first;
  const size_t without_focus = picture_of(lab);
  for (size_t i = 0; i < most; ++i) {
    lab.driver.key("Tab");
    const std::string now = lab.ui.focused();
    if (now == first) break;
    if (first.empty()) first = now;
    walk.stops.insert(walk.last = now);
    if (!lab.ui.focus_visible() || picture_of(lab) == without_focus) walk.unseen.push_back(now);
  }
  return walk;
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
    lab.key(key);
    return seen_state(lab) != before;
  });
}

}  // namespace normscope::fixture
