// The palette's other names are what a person calls a thing without knowing our word for it. They stand in
// assets/words, for an act in shortcuts.toml, for a control in controls.toml.
#include <fmt/format.h>

#include "app/panels/panels.h"
#include "app/shell/palette.h"
#include "app/view/shortcuts.h"
#include "app/words/words.h"

namespace normscope::shell {
namespace {

/// Looks for a control's whole name, or for its end after a '*'; nullptr where there are no words.
const std::string* words_of(std::string_view control) {
  const words::Language& said = words::of_window();
  const std::string* found = said.find(fmt::format("controls.other.{}", control));
  for (size_t slash = control.find('/'); !found && slash != control.npos;
       slash = control.find('/', slash + 1))
    found = said.find(fmt::format("controls.other.*{}", control.substr(slash)));
  return found;
}

}  // namespace

std::string_view other_words(view::Act act) { return view::shortcut_of(act).words; }

std::string other_words(std::string_view control) {
  if (const panels::PanelControl* own = panels::panel_control(control)) return std::string(own->words);
  constexpr std::string_view kTab = "plot/tab/";
  if (control.starts_with(kTab))
    for (const panels::Panel* panel : panels::tab_panels())
      if (control.substr(kTab.size()) == panel->place.tab) return panel->words;
  const panels::Panel* panel = panels::panel_of(control);
  const std::string more = panel && control.ends_with("/menu") ? std::string(" ") + panel->words : "";
  const std::string* found = words_of(control);
  return found ? *found + more : "";
}

}  // namespace normscope::shell
