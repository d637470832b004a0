#include "app/shell/session_sidecar.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

#include "app/sweep/screen/sweep_screen.h"
#include "engine/core/error.h"
#include "engine/io/input_value.h"
#include "training/spec/limits.h"

namespace normscope {

using Json = nlohmann::json;

namespace {

constexpr size_t kLongestPath = 4096;
constexpr int kMostRunsOfLog = 999;
constexpr std::string_view kLetters[] = {"A", "B", "C", "D"};
constexpr std::string_view kRecordedLetters[] = {"E", "F", "G", "H"};
constexpr std::string_view kAllLetters[] = {"A", "B", "C", "D", "E", "F", "G", "H"};

Json compare_json(const comparison::KeptChoice& kept) {
  Json files = Json::array();
  for (size_t i = 0; i < kept.files.size(); ++i) {
    files.push_back({{"path", kept.files[i].first}, {"run", kept.files[i].second}});
    if (kept.letters[i] != 0) files.back()["letter"] = std::string(1, kept.letters[i]);
  }
  return {{"baseline", std::string(1, kept.baseline)}, {"align", kept.align},   {"matrix", kept.matrix},
          {"metric", lab::info(kept.metric).id},       {"factor", kept.factor}, {"files", files}};
}

comparison::KeptChoice compare_from(const InputValue& json) {
  comparison::KeptChoice kept;
  kept.baseline = kAllLetters[json.at("baseline").choice(kAllLetters)][0];
  kept.align = json.at("align").whole(0, 2);
  kept.matrix = json.at("matrix").whole(0, 5);
  if (const std::optional<InputValue> metric = json.find("metric"))
    for (const lab::MetricInfo& one : lab::metrics())
      if (metric->text(64) == one.id) kept.metric = one.metric;
  kept.factor = json.at("factor").number(1.01, 1e6);
  const std::vector<InputValue> files = json.at("files").list(0, kept.files.size());
  for (size_t i = 0; i < files.size(); ++i) {
    kept.files[i] = {files[i].at("path").text(kLongestPath),
                     static_cast<size_t>(files[i].at("run").whole(0, kMostRunsOfLog))};
    if (const std::optional<InputValue> letter = files[i].find("letter"))  // sessions of before have none
      kept.letters[i] = kRecordedLetters[letter->choice(kRecordedLetters)][0];
  }
  return kept;
}

Json sweep_json(const sweep::KeptSweep& kept) {
  const sweep::PlanText text = sweep::text_of(kept.plan);
  return {{"set", text.set},     {"axes", text.axes},   {"more_seeds", text.more_seeds},
          {"steps", text.steps}, {"seeds", text.seeds}, {"metric", sweep::info(kept.metric).name}};
}

sweep::KeptSweep sweep_from(const InputValue& json) {
  constexpr size_t kMostTexts = 1000, kLongest = 100'000;
  const auto texts = [&](const char* key) {
    std::vector<std::string> all;
    for (const InputValue& one : json.at(key).list(0, kMostTexts)) all.push_back(one.text(kLongest));
    return all;
  };
  const sweep::PlanText text{texts("set"), texts("axes"), texts("more_seeds"),
                             json.at("steps").whole(0, kMostSteps), json.at("seeds").whole(1, 1000)};
  return {sweep::plan_from(text), sweep::metric_from(json.at("metric").text(64))};
}

tape_screen::KeptTape tape_from(const InputValue& json) {
  constexpr int kMostInstructions = 10'000'000;
  return {kLetters[json.at("run").choice(kLetters)][0], json.at("head").whole(-1, kMostInstructions)};
}

// The screens make themselves when they are drawn; what they are to begin with waits for them.
void restore_screens(const InputValue& json, Screens& screens, bool sweep_and_tab) {
  if (const std::optional<InputValue> kept = json.find("compare"))
    screen_of(screens.compare).restore(compare_from(*kept));
  if (const std::optional<InputValue> kept = json.find("tape")) {
    const tape_screen::KeptTape tape = tape_from(*kept);
    screens.tape.run = tape.run;
    screens.tape.head = tape.head;
    if (screens.tape.screen) screens.tape.screen->restore(tape);
  }
  if (!sweep_and_tab) return;
  if (const std::optional<InputValue> kept = json.find("sweep")) {
    screens.sweep.kept = sweep_from(*kept);
    if (screens.sweep.screen) sweep_of(screens.sweep).restore(*std::exchange(screens.sweep.kept, {}));
  }
  if (const std::optional<InputValue> shown = json.find("screen"))
    screens.shown = static_cast<Screen>(shown->choice(kScreenNames));
}

KeptWindow kept_of(const Screens& screens, const KeptWindow& known, const classroom::Teaching& teaching) {
  KeptWindow kept = known;
  kept.shown = screens.shown;
  if (screens.compare.screen) kept.compare = screens.compare.screen->kept();
  if (screens.sweep.screen)
    kept.sweep = screens.sweep.screen->kept();
  else if (screens.sweep.kept)
    kept.sweep = screens.sweep.kept;
  kept.tape = screens.tape.screen ? screens.tape.screen->kept()
                                  : tape_screen::KeptTape{screens.tape.run, screens.tape.head};
  kept.teaching = teaching.kept;
  return kept;
}

}  // namespace

std::string sidecar_text(const lab::LabScreen& screen, const shell::UndoLog& undo, const KeptWindow& window) {
  Json text;
  text["bookmarks"] = screen.transport().bookmarks;
  text["selected"] = std::string(1, screen.diagram().selected);
  text["undo"] = undo.to_text();
  text["screen"] = kScreenNames[static_cast<size_t>(window.shown)];
  text["compare"] = compare_json(window.compare);
  if (window.sweep) text["sweep"] = sweep_json(*window.sweep);
  text["tape"] = {{"run", std::string(1, window.tape.run)}, {"head", window.tape.head}};
  if (!window.teaching.empty()) text["teacher"] = classroom::teaching_json(window.teaching);
  return text.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void apply_sidecar(Screens& screens, ShownSession& session, const std::string& text,
                   classroom::Teaching* teaching, const ComingBack* own) {
  lab::LabScreen& screen = screens.lab;
  lab::TransportState& transport = screen.transport();
  transport.bookmarks.clear();
  transport.pinned_step.reset();
  const bool in_lesson = teaching && teaching->kept.lesson;  // its tabs are the teacher's
  if (!own) session.undo.clear();
  constexpr size_t kMostBookmarks = 1000, kLongestLog = 32'000'000;
  try {
    const InputValue json = InputValue::parse(text, "session");
    std::vector<int> bookmarks;
    for (const InputValue& step : json.at("bookmarks").list(0, kMostBookmarks))
      bookmarks.push_back(step.whole(0, kMostSteps));
    std::sort(bookmarks.begin(), bookmarks.end());
    transport.bookmarks = std::move(bookmarks);
    screen.diagram().selected = kLetters[json.at("selected").choice(kLetters)][0];
    if (!own) session.undo.from_text(json.at("undo").text(kLongestLog));
    if (teaching) {
      const std::optional<InputValue> kept = json.find("teacher");
      classroom::take_in(*teaching, kept ? classroom::teaching_from(*kept) : classroom::KeptTeaching{});
      if (!in_lesson && teaching->kept.lesson)
        session.undo.clear();  // nothing of before is undone in a lesson
    }
    restore_screens(json, screens, !(own && own->by_undo) && !in_lesson);
  } catch (const Error&) {
  }
}

void keep_sidecar(SidecarState& known, Screens& screens, ShownSession& session,
                  classroom::Teaching& teaching) {
  const lab::LabScreen& screen = screens.lab;
  if (!session.lab) return;
  if (session.view->restored != known.restored) {
    known.restored = session.view->restored;
    std::vector<ComingBack>& coming = session.coming_back;
    const auto own = std::find_if(coming.begin(), coming.end(),
                                  [&](const ComingBack& one) { return one.ticket == known.restored; });
    if (session.view->sidecar)
      apply_sidecar(screens, session, *session.view->sidecar, &teaching,
                    own == coming.end() ? nullptr : &*own);
    std::erase_if(coming, [&](const ComingBack& one) { return one.ticket <= known.restored; });
  }
  SidecarState now{screen.transport().bookmarks, session.undo.changes(), screen.diagram().selected,
                   kept_of(screens, known.window, teaching), known.restored};
  if (now == known) return;
  known = std::move(now);
  session.lab->keep(sidecar_text(screen, session.undo, known.window));
}

}  // namespace normscope
