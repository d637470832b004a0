#include "app/shell/session_sidecar.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/compare_screen/compare_screen.h"
#include "app/sweep/screen/sweep_screen.h"
#include "engine/core/error.h"
#include "training/io/input_value.h"
#include "training/spec/codec.h"
#include "training/spec/limits.h"

namespace normscope::shell {

namespace {

constexpr std::string_view kRecordedLetters[] = {"E", "F", "G", "H"};
constexpr std::string_view kAllLetters[] = {"A", "B", "C", "D", "E", "F", "G", "H"};

/// Keeps a metric by its id; an unknown id leaves what was there.
struct MetricId {
  codec::Json write(panels::Metric metric) const { return panels::info(metric).id; }
  void read(const InputValue& json, panels::Metric& metric) const {
    const std::string id = json.text(64);
    for (const panels::MetricInfo& one : panels::metrics())
      if (id == one.id) metric = one.metric;
  }
};

constexpr codec::Object kComparedFile{[](auto& io, auto& file) {
  io("path", file.path, codec::Text{4096});
  io("run", file.run, codec::Whole{0, 999});
  io.optional("letter", file.letter, codec::Words{kRecordedLetters});  // sessions of before have none
}};

constexpr codec::Object kCompare{[](auto& io, auto& kept) {
  io("baseline", kept.baseline, codec::Words{kAllLetters});
  io("align", kept.align, codec::Whole{0, 2});
  io("matrix", kept.matrix, codec::Whole{0, 5});
  io.optional("metric", kept.metric, MetricId{}, compare_screen::KeptChoice{}.metric);
  io("factor", kept.factor, codec::Number{1.01, 1e6});
  io("files", kept.files, codec::List{0, compare::kMost, kComparedFile});
}};

/// Keeps a sweep as the texts of its plan.
struct SweepText {
  static constexpr codec::List kTexts{0, 1000, codec::Text{100'000}};
  static constexpr codec::Object kRule{[](auto& io, auto& all) {
    auto& [plan, metric] = all;
    io("set", plan.set, kTexts);
    io("axes", plan.axes, kTexts);
    io("more_seeds", plan.more_seeds, kTexts);
    io("steps", plan.steps, codec::Whole{0, kMostSteps});
    io("seeds", plan.seeds, codec::Whole{1, 1000});
    io("metric", metric, codec::Text{64});
  }};
  codec::Json write(const sweep::KeptSweep& kept) const {
    return kRule.write(std::pair(sweep::text_of(kept.plan), std::string(sweep::info(kept.metric).name)));
  }
  void read(const InputValue& json, sweep::KeptSweep& kept) const {
    std::pair<sweep::PlanText, std::string> text;
    kRule.read(json, text);
    kept = {sweep::plan_from(text.first), sweep::metric_from(text.second)};
  }
};

constexpr codec::Object kInside{[](auto& io, auto& kept) {
  io("text", kept.text, codec::Text{inside::kLongestKept});
  io("runs", kept.runs, codec::Text{2});
}};

constexpr codec::Object kTape{[](auto& io, auto& kept) {
  io("run", kept.run, codec::Words{kLetters});
  io("head", kept.head, codec::Whole{-1, 10'000'000});
}};

/// What stands in the Lab.
struct Marks {
  std::vector<int> bookmarks;
  char selected = 'A';
};

constexpr codec::Object kMarks{[](auto& io, auto& marks) {
  io("bookmarks", marks.bookmarks, codec::List{0, 1000, codec::Whole{0, kMostSteps}});
  io("selected", marks.selected, codec::Words{kLetters});
}};

constexpr codec::Object kOtherScreens{[](auto& io, auto& kept) {
  io.optional("screen", kept.shown, codec::Maybe{codec::Words{kScreenNames}});
  io.optional("compare", kept.compare, codec::Maybe{kCompare});
  io.optional("sweep", kept.sweep, codec::Maybe{SweepText{}});
  io.optional("tape", kept.tape, codec::Maybe{kTape});
  io.optional("inside", kept.inside, codec::Maybe{kInside});
}};

// Keeps what a screen begins with until the screen makes itself, which it does when it is drawn.
void restore_screens(const KeptWindow& kept, Screens& screens, bool sweep_and_tab) {
  if (kept.compare) compare_of(screens).restore(*kept.compare);
  if (kept.tape) {
    screens.tape.run = kept.tape->run;
    screens.tape.head = kept.tape->head;
    if (screens.tape.screen) screens.tape.screen->restore(*kept.tape);
  }
  if (kept.inside) inside_of(screens).restore(*kept.inside);
  if (!sweep_and_tab) return;
  if (kept.sweep) {
    screens.sweep.kept = kept.sweep;
    if (screens.sweep.screen) sweep_of(screens);  // which takes it in
  }
  if (kept.shown) screens.shown = *kept.shown;
}

KeptWindow kept_of(const Screens& screens, const KeptWindow& known, const WindowParts& parts) {
  KeptWindow kept = known;
  kept.parts.clear();
  kept.shown = screens.shown;
  if (screens.compare) kept.compare = screens.compare->kept();
  if (screens.sweep.screen)
    kept.sweep = screens.sweep.screen->kept();
  else if (screens.sweep.kept)
    kept.sweep = screens.sweep.kept;
  kept.tape = screens.tape.screen ? screens.tape.screen->kept()
                                  : tape_screen::KeptTape{screens.tape.run, screens.tape.head};
  if (screens.inside) kept.inside = screens.inside->kept();
  for (const auto& part : parts)
    if (std::string text = part->kept(); !text.empty())
      kept.parts[std::string(part->key())] = std::move(text);
  return kept;
}

bool hold_tabs(const WindowParts& parts) {
  return std::any_of(parts.begin(), parts.end(), [](const auto& part) { return part->holds_tabs(); });
}

}  // namespace

std::string sidecar_text(const lab::LabScreen& screen, const UndoLog& undo, const KeptWindow& window) {
  codec::Json json = kMarks.write(Marks{screen.transport().bookmarks, screen.diagram().selected});
  json.update(kOtherScreens.write(window));
  for (const auto& [key, text] : window.parts) json[key] = codec::Json::parse(text);
  json["undo"] = undo.to_json();
  return codec::text_of(json);
}

void apply_sidecar(Screens& screens, ShownSession& session, const std::string& text, const WindowParts& parts,
                   const ComingBack* own) {
  lab::LabScreen& screen = screens.lab;
  lab::TransportState& transport = screen.transport();
  transport.bookmarks.clear();
  transport.pinned_step.reset();
  const bool held = hold_tabs(parts);
  if (!own) session.undo.clear();
  try {
    const InputValue json = InputValue::parse(text, "session");
    auto marks = codec::read<Marks>(json, kMarks);
    std::sort(marks.bookmarks.begin(), marks.bookmarks.end());
    transport.bookmarks = std::move(marks.bookmarks);
    screen.diagram().selected = marks.selected;
    if (!own) session.undo.restore(json.at("undo"));
    for (const auto& part : parts) {
      const std::optional<InputValue> own_part = json.find(part->key());
      part->restore(own_part ? &*own_part : nullptr);
    }
    if (!held && hold_tabs(parts)) session.undo.clear();
    KeptWindow kept;
    kOtherScreens.read(json, kept);
    restore_screens(kept, screens, !(own && own->by_undo) && !held);
  } catch (const Error&) {
  }
}

void keep_sidecar(SidecarState& known, Screens& screens, ShownSession& session, const WindowParts& parts) {
  const lab::LabScreen& screen = screens.lab;
  if (!session.lab) return;
  if (session.view->restored != known.restored) {
    known.restored = session.view->restored;
    std::vector<ComingBack>& coming = session.coming_back;
    const auto own = std::find_if(coming.begin(), coming.end(),
                                  [&](const ComingBack& one) { return one.ticket == known.restored; });
    if (session.view->sidecar)
      apply_sidecar(screens, session, *session.view->sidecar, parts, own == coming.end() ? nullptr : &*own);
    std::erase_if(coming, [&](const ComingBack& one) { return one.ticket <= known.restored; });
  }
  SidecarState now{screen.transport().bookmarks, session.undo.changes(), screen.diagram().selected,
                   kept_of(screens, known.window, parts), known.restored};
  if (now == known) return;
  known = std::move(now);
  session.lab->keep(sidecar_text(screen, session.undo, known.window));
}

}  // namespace normscope::shell
