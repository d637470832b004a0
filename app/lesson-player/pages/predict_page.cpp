#include "app/lesson-player/pages/predict_page.h"

#include <utility>

#include "app/lesson-player/figures.h"
#include "app/lesson-player/text_column.h"
#include "app/ui/widgets.h"

namespace normscope::lessons {

using namespace ui;
using namespace course;

std::unique_ptr<PredictPage> make_predict_page(const LessonContext& context) {
  const Prediction::Kind kind = context.lesson.prediction.kind;
  auto page = kind == Prediction::Kind::Draw    ? make_draw_page()
              : kind == Prediction::Kind::Order ? make_order_page()
                                                : make_value_page();
  page->take_up(context);
  return page;
}

void PredictPage::draw(Ui& ui, Rect rect, LessonContext& context) {
  const Lesson& lesson = context.lesson;
  TextColumn text(ui, rect, context, TextColumn::Of::Prose, lesson.prediction.ask);
  text.head(TextColumn::Head::Question);
  text.prose(lesson.step(StepKind::Predict).text);
  text.close(true);
  draw_right(ui, figure_panel(ui, rect, context), context);
}

WayOn PredictPage::way_on(const LessonContext& context) const {
  if (context.locked()) return {context.tr("Next: Run"), context.tr("To the measurement.")};
  const std::string what = missing(context);
  return {context.tr("Commit and run"),
          what.empty() ? context.tr("Locks the prediction and measures.")
                       : context.tr("{what}. A click where it stands counts.", {{"what", what}}),
          what.empty()};
}

void PredictPage::go_on(LessonContext& context) {
  if (context.locked())
    context.turn.page = PageKind::Run;
  else
    commit(context, false);
}

std::string PredictPage::missing(const LessonContext& context) const {
  return context.locked() ? "" : to_do(context);
}

std::string PredictPage::skip_help(const LessonContext& context) const {
  const LessonProgress& kept = context.kept();
  return kept.committed || kept.skipped ? ""
                                        : context.tr("Goes on without a prediction; that is remembered.");
}

bool PredictPage::work_left(LessonContext& context) const {
  return context.lesson.prediction.kind != Prediction::Kind::Order &&
         context.figures->tapes.left(context, context.figures->shown(context));
}

void PredictPage::commit(LessonContext& context, bool skip) {
  LessonProgress& kept = context.kept();
  if (kept.first.said.empty() && (kept.committed || kept.skipped)) kept.first = kept;
  kept.score.clear();
  kept.measured.clear();
  kept.found.clear();
  context.predicted_for = context.changes();
  context.again = false;
  kept.skipped = skip;
  if (skip) {
    kept.said = context.tr("You skipped the prediction.");
    forget();
  } else {
    kept.committed = true;
    kept.drawn.clear();
    kept.order.clear();
    keep(kept);
  }
  context.measure();
  context.turn.page = std::exchange(next, PageKind::Run);
}

void PredictPage::begin_again(LessonContext& context) {
  context.again = context.fresh = true;
  context.figures->tapes.rewind();
  start_anew(context);
  take(offered_, context);
}

void PredictPage::offer(const view::Answer& answer, const LessonContext& context) {
  offered_ = answer;
  if (!context.locked()) take(offered_, context);
}

view::Answer PredictPage::answer(const LessonContext& context) const {
  return context.kept().skipped && !context.again ? view::Answer{} : given(context);
}

}  // namespace normscope::lessons
