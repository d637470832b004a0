// Everything that the palette offers is chosen as a user would choose it: each entry is done, or says why not.
#pragma once

#include <algorithm>

#include "app/shell/palette.h"
#include "app/support/lab_fixture.h"
#include "app/support/live_lab.h"
#include "app/support/program.h"

namespace normscope::shell {

inline std::vector<PaletteItem> items_now(fixture::LabDriver& lab) {
  return palette_items(lab.ui, lab.state.screens.lab.elsewhere(lab.ui.registry(), *lab.state.session.view),
                       lab.state.backend.no_cuda, lab.state.session.view.get(),
                       [&](const PaletteItem& item) { return refusal_of(lab.state, lab.ui, item); });
}

inline void leave_all(fixture::LabDriver& lab) {
  for (int i = 0; i < 3; ++i) lab.driver.key("Escape");
  lab.ui.edit() = {};
  lab.driver.frames(2);
}

/// Groups what one rule refuses: a command by itself, presets together, the controls of a room together.
/// Once there is a reason the palette asks no control of a room anything of its own, so one of them stands for the
/// room: it fails where the reason is not said or something is done all the same.
inline std::string refused_as(const PaletteItem& item) {
  const std::string what = item.act      ? item.title
                           : item.preset ? "a preset"
                                         : item.control.substr(0, item.control.find('/'));
  return what + ": " + item.refusal;
}

/// Chooses all commands one by one as a user would; presets and hidden controls of `more` too.
inline void choose_all(fixture::LabDriver& lab, const std::function<void()>& settle, bool more = false) {
  const bool holds =
      std::ranges::any_of(lab.state.parts, [](const auto& part) { return part->holds_tabs(); });
  const test::Pictures pictures;
  const Screen shown = lab.state.screens.shown;
  std::set<std::string> refused;
  for (const PaletteItem& listed : items_now(lab)) {
    const bool tried = listed.act || (more && (listed.preset || is_hidden(lab.ui, listed)));
    if (!tried) continue;
    // What was chosen before may have changed what can be.
    lab.state.screens.shown = shown;
    lab.driver.frames(2);
    const std::vector<PaletteItem> now = items_now(lab);
    const auto it = std::ranges::find(now, listed.title, &PaletteItem::title);
    if (it == now.end()) continue;  // a bookmark that an entry before it took away
    const std::string refusal = it->refusal;
    if (!refusal.empty() && !refused.insert(refused_as(*it)).second) continue;
    INFO(listed.title << " (" << refusal << ")");
    const size_t before = lab.log.size();
    lab.state.notice.clear();
    fixture::run_by_name(lab, listed.title);
    if (refusal.empty()) {
      settle();
      for (const std::string& said : {lab.state.notice, lab.state.session.view->message})
        for (const char* no : {"locked", "nothing to", "there is no", "there are no", "no change of",
                               "no run has", "needs a text", "expected"})
          CHECK_FALSE(test::contains(said, no));
    } else {
      CHECK(lab.state.notice == refusal);
      CHECK(lab.log.size() == before);
      CHECK(lab.state.screens.shown == shown);
    }
    leave_all(lab);
    if (!holds) lab.state.parts = make_window_parts();  // what an add-on's command opened
  }
}

inline void choose_all(fixture::LiveDriver& lab, bool more = false) {
  choose_all(
      lab, [&] { lab.settle(); }, more);
}

}  // namespace normscope::shell
