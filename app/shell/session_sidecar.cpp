#include "app/shell/session_sidecar.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

#include "app/shell/app_state.h"
#include "engine/core/error.h"
#include "engine/io/input_value.h"
#include "engine/spec/limits.h"

namespace normscope {

using Json = nlohmann::json;

std::string sidecar_text(const AppState& state) {
  Json text;
  text["bookmarks"] = state.lab_screen.transport().bookmarks;
  text["selected"] = std::string(1, state.lab_screen.diagram().selected);
  text["undo"] = state.shell.undo.to_text();
  return text.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void apply_sidecar(AppState& state, const std::string& text) {
  lab::TransportState& transport = state.lab_screen.transport();
  transport.bookmarks.clear();
  transport.pinned_step.reset();
  const bool own_log = std::exchange(state.shell.swapping, false);  // that of this window goes on
  if (!own_log) state.shell.undo.clear();
  constexpr size_t kMostBookmarks = 1000, kLongestLog = 32'000'000;
  constexpr std::string_view kLetters[] = {"A", "B", "C", "D"};
  try {
    const InputValue json = InputValue::parse(text, "session");
    std::vector<int> bookmarks;
    for (const InputValue& step : json.at("bookmarks").list(0, kMostBookmarks))
      bookmarks.push_back(step.whole(0, kMostSteps));
    std::sort(bookmarks.begin(), bookmarks.end());
    transport.bookmarks = std::move(bookmarks);
    state.lab_screen.diagram().selected = kLetters[json.at("selected").choice(kLetters)][0];
    if (!own_log) state.shell.undo.from_text(json.at("undo").text(kLongestLog));
  } catch (const Error&) {
  }
}

void keep_sidecar(AppState& state) {
  if (!state.lab) return;
  SidecarState& known = state.sidecar;
  if (state.view->restored != known.restored) {
    known.restored = state.view->restored;
    if (state.view->sidecar) apply_sidecar(state, *state.view->sidecar);
  }
  const std::vector<int>& bookmarks = state.lab_screen.transport().bookmarks;
  const uint64_t changes = state.shell.undo.changes();
  const char selected = state.lab_screen.diagram().selected;
  if (bookmarks == known.bookmarks && changes == known.undo_changes && selected == known.selected) return;
  known.bookmarks = bookmarks;
  known.undo_changes = changes;
  known.selected = selected;
  state.lab->keep(sidecar_text(state));
}

}  // namespace normscope
