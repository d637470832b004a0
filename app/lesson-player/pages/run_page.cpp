// The second page measures: what is trained, how far it is, and the figure as it grows.
#include <algorithm>
#include <cmath>

#include "app/lesson-player/figures.h"
#include "app/lesson-player/text_column.h"
#include "app/ui/widgets.h"
#include "training/io/text.h"

namespace normscope::lessons {

using namespace ui;
using namespace course;

namespace {

/// Whether all that is measured of a run over its steps is complete.
bool curves_known(const Lesson& lesson, const std::string& run, const MeasureState& state) {
  bool any = false;
  for (const Curve& curve : lesson.curves) {
    if (curve.of != Curve::Of::Run || curve.run != run) continue;
    any = true;
    const auto it = state.curves.find(curve.id);
    if (it == state.curves.end() || it->second.x.empty() || it->second.x.back() < curve.to) return false;
  }
  return any;
}

void draw_measuring(Ui& ui, const Rect& rect, const LessonContext& context, const MeasureState& state) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const Rect bar{rect.right() - 160, rect.y - 22, 160, 6};
  if (state.running) {
    p.fill(bar, t.trough, 3);
    p.fill({bar.x, bar.y, bar.w * static_cast<float>(state.share), bar.h}, t.ink, 3);
    if (std::isfinite(state.seconds_left))
      p.text_in({bar.x - 170, bar.y - 9, 160, 24}, {Face::Sans, type::body}, t.ink2,
                context.tr("about {time} left", {{"time", duration_words(state.seconds_left)}}),
                Align::Right);
  }
  if (!state.error.empty())
    p.text_in({rect.x + 320, rect.y - 30, rect.w - 320, 24}, {Face::Sans, type::body}, t.error,
              words::spoken(state.error));
  ui.mark("lesson/measuring", bar,
          state.running      ? state.doing
          : context.measured ? "done"
                             : "waiting",
          context.tr("How far the measurement has come."));
}

class RunPage : public Page {
 public:
  void draw(Ui& ui, Rect rect, LessonContext& context) override {
    TextColumn text(ui, rect, context, TextColumn::Of::Prose);
    text.head();
    text.prose(context.lesson.step(StepKind::Run).text);
    text.close(true);
    Rect rest = figure_panel(ui, rect, context);
    context.figures->draw_head(ui, rest, context);
    Rect foot = figure_foot(ui, rest, context, runs_height(context), !context.lesson.runs.empty());
    context.figures->draw(ui, rest, context);
    const auto state = context.state();
    draw_runs(ui, foot, context, [&](const LessonRun& run) -> RunNote {
      if (state->running && state->run == run.id) return {state->doing};
      if (context.measured || curves_known(context.lesson, run.id, *state)) return {context.tr("measured")};
      return {state->running ? context.tr("waits its turn") : state->stopped ? context.tr("stopped") : ""};
    });
    if (state->lesson == context.lesson.id) draw_measuring(ui, foot, context, *state);
  }
  WayOn way_on(const LessonContext& context) const override {
    const bool running = context.state()->running;
    if (context.measured)
      return {context.tr("Next: Compare"), context.tr("Your prediction beside the measurement."), !running};
    return {running ? context.tr("Measuring …") : context.tr("Run"), context.tr("Measures now."), !running};
  }
  void go_on(LessonContext& context) override {
    if (context.measured)
      context.turn.page = PageKind::Compare;
    else
      context.measure();
  }
  bool work_left(LessonContext& context) const override {
    return context.figures->tapes.left(context, context.figures->shown(context));
  }
};

}  // namespace

std::unique_ptr<Page> make_run_page() { return std::make_unique<RunPage>(); }

}  // namespace normscope::lessons
