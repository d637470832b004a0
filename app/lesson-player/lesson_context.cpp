#include "app/lesson-player/lesson_context.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/course/curves.h"
#include "app/course/lesson.h"
#include "app/lesson-player/experiment.h"
#include "app/lesson-player/figures.h"
#include "engine/core/boundary.h"
#include "training/spec/small_size.h"

namespace normscope::lessons {
using namespace course;

StepKind step_of(PageKind page) {
  switch (page) {
    case PageKind::Predict:
      return StepKind::Predict;
    case PageKind::Run:
      return StepKind::Run;
    case PageKind::Compare:
    case PageKind::Challenge:
      return StepKind::Compare;
    default:
      return StepKind::Explain;
  }
}

PageKind page_of(StepKind step) {
  constexpr PageKind kPages[] = {PageKind::Predict, PageKind::Run, PageKind::Compare, PageKind::Explain};
  return kPages[static_cast<size_t>(step)];
}

void Scroll::restart() {
  at = 0;
  followed.clear();
}

void Scroll::move(ui::Ui& ui, const ui::Rect& rect, float room, float furthest) {
  if (rect.contains(ui.mouse())) at -= ImGui::GetIO().MouseWheel * 40;
  if (ui.shortcut("PageDown")) at += room * 0.8f;
  if (ui.shortcut("PageUp")) at -= room * 0.8f;
  at = std::clamp(at, 0.f, furthest);
}

void Scroll::follow_focus(const ui::Ui& ui, const std::string& name, const ui::Rect& rect,
                          const ui::Rect& seen) {
  constexpr float kMargin = 8;
  if (!ui.focus_visible() || ui.focused() != name || followed == name) return;
  followed = name;
  if (rect.y < seen.y + kMargin) at -= seen.y + kMargin - rect.y;
  if (rect.bottom() > seen.bottom() - kMargin) at += rect.bottom() - seen.bottom() + kMargin;
}

LessonContext::LessonContext(const Course& course, size_t index, Measurer& measurer, Progress& progress,
                             const std::string& folder)
    : course(course),
      index(index),
      lesson(course.lessons[index]),
      measurer(measurer),
      progress(progress),
      folder(folder),
      figures(std::make_unique<Figures>()),
      experiment(std::make_unique<Experiment>()) {
  reference_error = guarded("lesson " + lesson.id, [&] { reference = load_results(lesson); });
}

LessonContext::~LessonContext() = default;

void LessonContext::leave() {
  if (index + 1 < course.lessons.size())
    turn.lesson = index + 1;
  else
    turn.page = course.why ? PageKind::Why : PageKind::Review;
}

void LessonContext::measure() {
  measured = false;
  measurer.start(lesson, changes());
}

bool LessonContext::just_measured() {
  const auto now = state();
  return !measured && now->done && now->lesson == lesson.id && (measured = true);
}

bool LessonContext::is_own(const MeasureState& state) const {
  return state.lesson == lesson.id && (state.running || state.done || !state.curves.empty());
}

double LessonContext::number(const std::string& measure) const {
  return evaluate(lesson, *lesson.measure(measure), state()->curves);
}

double LessonContext::knob_value(const Knob& knob) const {
  const auto it = knobs.find(knob.id);
  return it != knobs.end() ? it->second : first_value(lesson, knob);
}

std::string LessonContext::chosen_value(const Challenge::Choice& choice) const {
  const auto it = chosen.find(choice.field);
  return it != chosen.end() ? it->second : get_field(lesson.run(lesson.challenge->run)->spec, choice.field);
}

Changes LessonContext::changes() const {
  Changes out;
  for (const Knob& knob : lesson.knobs) {
    const double v = knob_value(knob);
    if (v == first_value(lesson, knob)) continue;
    if (is_slot(knob)) {  // all slots of a run together are its wiring
      out[knob.run].merge(
          wiring_of_slots(lesson, knob.run, [this](const Knob& one) { return knob_value(one); }));
      continue;
    }
    out[knob.run][knob.field] =
        v == std::floor(v) ? std::to_string(static_cast<int64_t>(v)) : fmt::format("{:.6g}", v);
  }
  if (const auto& task = lesson.challenge)
    for (const Challenge::Choice& choice : task->choices)
      if (const std::string value = chosen_value(choice);
          value != get_field(lesson.run(task->run)->spec, choice.field))
        out[task->run][choice.field] = value;
  return out;
}

Changes LessonContext::shown_changes() const {
  const auto now = state();
  return is_own(*now) ? now->changes : changes();
}

FigureData LessonContext::figure_data() const {
  FigureData data;
  data.reference = seeds();
  if (reference) data.level = reference->level;
  data.changes = shown_changes();
  return data;
}

FlowContext LessonContext::flow() const {
  FlowContext c;
  c.lesson = &lesson;
  c.words = course.words;
  const auto now = state();
  const bool own = measured && now->lesson == lesson.id;
  c.number = [this, now, own](const std::string& measure) -> std::optional<double> {
    if (!own) return std::nullopt;
    if (measure == kChanged) return now->changes.empty() ? 0 : 1;
    return evaluate(lesson, *lesson.measure(measure), now->curves);
  };
  c.unknown = now->running ? tr("(being measured)") : tr("(not measured)");
  c.text = [this, now, own, changes = shown_changes()](const Inline& piece) -> std::string {
    if (piece.kind == Inline::Kind::Name) return run_label(lesson, piece.text, changes);
    if (piece.kind == Inline::Kind::Sample) {
      const auto it = now->texts.find(piece.text);
      return !own || it == now->texts.end() ? "–" : it->second;
    }
    const Measure& m = *lesson.measure(piece.text);
    if (piece.kind == Inline::Kind::Value)
      return own ? shown(evaluate(lesson, m, now->curves), m, *lesson.words) : "–";
    if (!reference || !reference->measures.contains(m.id)) return "–";
    const Spread& s = reference->measures.at(m.id).spread;
    return piece.kind == Inline::Kind::Reference ? shown(s.mean, m, *lesson.words)
                                                 : range_text(s, m, *lesson.words);
  };
  c.knob = [this](const Knob& knob) { return shown_value(knob, knob_value(knob)); };
  c.can_drag = !now->running;
  if (compact()) c.line = 25;
  return c;
}

session::ReplaceRuns LessonContext::runs() const {
  session::ReplaceRuns out;
  out.play = out.known = locked();
  for (const LessonRun& run : lesson.runs) {
    out.runs.push_back(spec_of(lesson, run.id, 1, changes()));
    out.edits.push_back(run.edits);
    out.letters += run.id;
  }
  return out;
}

session::ReplaceRuns LessonContext::small_runs() const {
  session::ReplaceRuns out = runs();
  out.known = false;
  out.instant = true;
  for (RunSpec& spec : out.runs) spec = at_small_size(std::move(spec));
  return out;
}

}  // namespace normscope::lessons
