#include "app/shell/session_sidecar.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

#include "engine/core/error.h"
#include "engine/io/input_value.h"
#include "engine/spec/limits.h"

namespace normscope {

using Json = nlohmann::json;

std::string sidecar_text(const lab::LabScreen& screen, const shell::UndoLog& undo) {
  Json text;
  text["bookmarks"] = screen.transport().bookmarks;
  text["selected"] = std::string(1, screen.diagram().selected);
  text["undo"] = undo.to_text();
  return text.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void apply_sidecar(lab::LabScreen& screen, ShownSession& session, const std::string& text) {
  lab::TransportState& transport = screen.transport();
  transport.bookmarks.clear();
  transport.pinned_step.reset();
  const bool own_log = std::exchange(session.swapping, false);  // that of this window goes on
  if (!own_log) session.undo.clear();
  constexpr size_t kMostBookmarks = 1000, kLongestLog = 32'000'000;
  constexpr std::string_view kLetters[] = {"A", "B", "C", "D"};
  try {
    const InputValue json = InputValue::parse(text, "session");
    std::vector<int> bookmarks;
    for (const InputValue& step : json.at("bookmarks").list(0, kMostBookmarks))
      bookmarks.push_back(step.whole(0, kMostSteps));
    std::sort(bookmarks.begin(), bookmarks.end());
    transport.bookmarks = std::move(bookmarks);
    screen.diagram().selected = kLetters[json.at("selected").choice(kLetters)][0];
    if (!own_log) session.undo.from_text(json.at("undo").text(kLongestLog));
  } catch (const Error&) {
  }
}

void keep_sidecar(SidecarState& known, lab::LabScreen& screen, ShownSession& session) {
  if (!session.lab) return;
  if (session.view->restored != known.restored) {
    known.restored = session.view->restored;
    if (session.view->sidecar) apply_sidecar(screen, session, *session.view->sidecar);
  }
  const std::vector<int>& bookmarks = screen.transport().bookmarks;
  const uint64_t changes = session.undo.changes();
  const char selected = screen.diagram().selected;
  if (bookmarks == known.bookmarks && changes == known.undo_changes && selected == known.selected) return;
  known.bookmarks = bookmarks;
  known.undo_changes = changes;
  known.selected = selected;
  session.lab->keep(sidecar_text(screen, session.undo));
}

}  // namespace normscope
