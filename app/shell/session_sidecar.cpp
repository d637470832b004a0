#include "app/shell/session_sidecar.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

#include "engine/core/error.h"
#include "engine/io/input_value.h"
#include "engine/spec/limits.h"

namespace normscope {

using Json = nlohmann::json;

namespace {

constexpr size_t kLongestPath = 4096;
constexpr int kMostRunsOfLog = 999;
constexpr std::string_view kLetters[] = {"A", "B", "C", "D"};

Json compare_json(const comparison::KeptChoice& kept) {
  Json files = Json::array();
  for (const auto& [path, run] : kept.files) files.push_back({{"path", path}, {"run", run}});
  return {{"baseline", std::string(1, kept.baseline)},
          {"align", kept.align},
          {"matrix", kept.matrix},
          {"factor", kept.factor},
          {"files", files}};
}

comparison::KeptChoice compare_from(const InputValue& json) {
  comparison::KeptChoice kept;
  kept.baseline = kLetters[json.at("baseline").choice(kLetters)][0];
  kept.align = json.at("align").whole(0, 2);
  kept.matrix = json.at("matrix").whole(0, 5);
  kept.factor = json.at("factor").number(1.01, 1e6);
  const std::vector<InputValue> files = json.at("files").list(0, kept.files.size());
  for (size_t i = 0; i < files.size(); ++i)
    kept.files[i] = {files[i].at("path").text(kLongestPath),
                     static_cast<size_t>(files[i].at("run").whole(0, kMostRunsOfLog))};
  return kept;
}

void restore_tape(const InputValue& json, TapePart& tape) {
  constexpr int kMostInstructions = 10'000'000;
  tape.run = kLetters[json.at("run").choice(kLetters)][0];
  tape.head = json.at("head").whole(-1, kMostInstructions);
  if (tape.screen) tape.screen->restore({tape.run, tape.head});
}

}  // namespace

std::string sidecar_text(const lab::LabScreen& screen, const shell::UndoLog& undo,
                         const comparison::KeptChoice& compare, const tape_screen::KeptTape& tape) {
  Json text;
  text["bookmarks"] = screen.transport().bookmarks;
  text["selected"] = std::string(1, screen.diagram().selected);
  text["undo"] = undo.to_text();
  text["compare"] = compare_json(compare);
  text["tape"] = {{"run", std::string(1, tape.run)}, {"head", tape.head}};
  return text.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void apply_sidecar(lab::LabScreen& screen, ShownSession& session, const std::string& text,
                   ComparePlace* compare, TapePart* tape) {
  lab::TransportState& transport = screen.transport();
  transport.bookmarks.clear();
  transport.pinned_step.reset();
  const bool own_log = std::exchange(session.swapping, false);  // that of this window goes on
  if (!own_log) session.undo.clear();
  constexpr size_t kMostBookmarks = 1000, kLongestLog = 32'000'000;
  try {
    const InputValue json = InputValue::parse(text, "session");
    std::vector<int> bookmarks;
    for (const InputValue& step : json.at("bookmarks").list(0, kMostBookmarks))
      bookmarks.push_back(step.whole(0, kMostSteps));
    std::sort(bookmarks.begin(), bookmarks.end());
    transport.bookmarks = std::move(bookmarks);
    screen.diagram().selected = kLetters[json.at("selected").choice(kLetters)][0];
    if (!own_log) session.undo.from_text(json.at("undo").text(kLongestLog));
    if (const std::optional<InputValue> kept = json.find("compare"); kept && compare)
      screen_of(*compare).restore(compare_from(*kept));
    if (const std::optional<InputValue> kept = json.find("tape"); kept && tape) restore_tape(*kept, *tape);
  } catch (const Error&) {
  }
}

void keep_sidecar(SidecarState& known, Screens& screens, ShownSession& session) {
  lab::LabScreen& screen = screens.lab;
  if (!session.lab) return;
  if (session.view->restored != known.restored) {
    known.restored = session.view->restored;
    if (session.view->sidecar)
      apply_sidecar(screen, session, *session.view->sidecar, &screens.compare, &screens.tape);
  }
  const std::vector<int>& bookmarks = screen.transport().bookmarks;
  const uint64_t changes = session.undo.changes();
  const char selected = screen.diagram().selected;
  const comparison::KeptChoice compare =
      screens.compare.screen ? screens.compare.screen->kept() : known.compare;
  const tape_screen::KeptTape tape = screens.tape.screen
                                         ? screens.tape.screen->kept()
                                         : tape_screen::KeptTape{screens.tape.run, screens.tape.head};
  if (bookmarks == known.bookmarks && changes == known.undo_changes && selected == known.selected &&
      compare == known.compare && tape == known.tape)
    return;
  known.bookmarks = bookmarks;
  known.undo_changes = changes;
  known.selected = selected;
  known.compare = compare;
  known.tape = tape;
  session.lab->keep(sidecar_text(screen, session.undo, compare, tape));
}

}  // namespace normscope
