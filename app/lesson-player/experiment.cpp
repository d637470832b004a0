#include "app/lesson-player/experiment.h"

#include <algorithm>
#include <cmath>

#include "app/course/lesson.h"
#include "app/course/measures.h"
#include "app/lesson-player/figures.h"
#include "app/lesson-player/slider.h"
#include "app/ui/widgets.h"

namespace normscope::lessons {

using namespace ui;
using namespace course;

namespace {

constexpr float kPuzzleLine = 17;
constexpr TextStyle kPuzzle{Face::Sans, type::body};

}  // namespace

void Experiment::draw(Ui& ui, const Rect& rect, LessonContext& context) {
  Rect rest = figure_panel(ui, rect, context);
  context.figures->draw_head(ui, rest, context);
  const auto& asked = context.lesson.puzzle;
  const std::string puzzle = asked && context.step() == StepKind::Explain
                                 ? (solved_ ? context.tr("Solved. ") : context.tr("Puzzle. ")) + asked->text
                                 : "";
  const float high =
      puzzle.empty() ? 0
                     : std::max(36.f, ui.paint().wrapped_height(rest.w, kPuzzle, puzzle, kPuzzleLine)) + 10;
  Rect foot = figure_foot(ui, rest, context, kSliderFoot + high);
  context.figures->draw(ui, rest, context);
  if (high > 0) {
    const Rect row = foot.take_top(high - 10, 12);
    ui.paint().text_wrapped(row, kPuzzle, ui.theme().ink, puzzle, kPuzzleLine);
    ui.mark("lesson/puzzle", row, solved_ ? "solved" : "open",
            context.tr("A question to be answered with a run of your own."));
  }
  draw_setting(ui, foot, context);
}

void Experiment::measured(const LessonContext& context) {
  const auto& puzzle = context.lesson.puzzle;
  if (!puzzle || context.state()->changes.empty()) return;
  const double v = context.number(puzzle->measure);
  solved_ = !std::isnan(v) && (!puzzle->low || v >= *puzzle->low) && (!puzzle->high || v <= *puzzle->high);
}

void Experiment::draw_setting(Ui& ui, Rect rect, LessonContext& context) {
  const Lesson& lesson = context.lesson;
  if (lesson.challenge) return draw_runs(ui, rect, context);
  if (lesson.knobs.empty()) return;
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const auto state = context.state();
  const Knob& knob = lesson.knobs.back();
  Rect head = rect.take_top(24, 8);
  const bool lettered = lesson.has_letter(knob.run);
  if (lettered) tile(ui, {head.x, head.y + 2, 20, 20}, knob.run[0] - 'A');
  const float indent = lettered ? 30.f : 0.f;
  const TextStyle label{Face::Bold, type::title}, number{Face::Mono, type::title};
  p.text_in({head.x + indent, head.y, head.w - indent, head.h}, label, t.ink, knob.label);
  Rect place = rect;
  ButtonOptions options;
  options.enabled = !state->running;
  if (button(ui, "lesson/again", {place.right() - 116, rect.y - 6, 116, 34},
             state->running ? state->doing.substr(0, 14) : context.tr("Run again"),
             context.tr("Measures again with this setting."), options))
    context.measure();
  place.w -= 150;
  double v = context.knob_value(knob);
  const double before = v;
  slider(ui, place, "lesson/knob/" + knob.id, v, {knob.low, knob.high, knob.step}, knob.label + ".");
  if (v != before && !state->running) context.knobs[knob.id] = v;
  // At the slider's end, where the label leaves room.
  const std::string now = shown_value(knob, context.knob_value(knob));
  for (const float right : {std::min(place.right(), head.right()), head.right()}) {
    Rect value{head.x + indent, head.y, right - head.x - indent, head.h};
    value.take_left(p.text_width(label, knob.label), 12);
    if (p.text_width(number, now) > value.w) continue;
    p.text_in(value, number, t.ink, now, Align::Right);
    break;
  }
}

}  // namespace normscope::lessons
