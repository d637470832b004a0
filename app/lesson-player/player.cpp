#include "app/lesson-player/player.h"

#include <algorithm>
#include <utility>

#include "app/lesson-player/experiment.h"
#include "app/lesson-player/figures.h"
#include "app/lesson-player/pages/predict_page.h"
#include "app/lesson-player/saved_curves.h"
#include "app/lesson-player/verdict.h"
#include "app/ui/widgets.h"
#include "engine/core/error.h"

namespace normscope::lessons {

using namespace ui;
using namespace course;

Player::Player(Course course, std::unique_ptr<Measurer> measurer, std::string progress_path)
    : course_(std::move(course)),
      measurer_(std::move(measurer)),
      progress_(progress_path),
      folder_(SavedCurves::folder_beside(progress_path)) {
  for (const Lesson& lesson : course_.lessons)
    if (progress_.find(lesson.id)) say_anew(lesson, progress_.of(lesson.id));
  // The course goes on where it was left: at the first lesson that is not done. Lesson 0 is for who has done none.
  const auto done = [&](const Lesson& lesson) { return progress_.of(lesson.id).done; };
  const bool begun = std::ranges::any_of(course_.lessons, done);
  size_t first = 0;
  while (first + 1 < course_.lessons.size() &&
         (done(course_.lessons[first]) || (begun && course_.lessons[first].number == 0)))
    ++first;
  if (!course_.lessons.empty()) choose(first);
}

Player::~Player() { measurer_->stop(); }

void Player::choose(size_t index) {
  measurer_->stop();
  context_ = std::make_unique<LessonContext>(course_, index, *measurer_, progress_, folder_);
  auto predict = make_predict_page(*context_);
  predict_ = predict.get();
  pages_ = {std::move(predict),
            make_run_page(),
            make_compare_page(*context_),
            make_challenge_page(),
            make_explain_page(*context_),
            make_say_page(),
            make_why_page(),
            make_review_page()};
  context_->page = context_->locked() ? PageKind::Run : PageKind::Predict;
}

/// To a page of this lesson.
void Player::go(PageKind page) {
  LessonContext& context = *context_;
  context.page = page;
  context.scroll.restart();
  context.fresh = page == PageKind::Predict;
  LessonProgress& kept = context.kept();
  kept.step = std::max(kept.step, static_cast<int>(context.step()));
  progress_.save();
  if (std::exchange(context.again, false)) predict_->take_up(context);  // left without a second one
  if (context.step() < StepKind::Compare) return;
  // In a lesson that is opened again nothing is measured yet, and the text of these steps speaks of it.
  const auto state = measurer_->state();
  if (!context.is_own(*state) || !(state->running || state->done)) context.measure();
  context.figures->tapes.run_all(context.lesson);
}

void Player::carry_out(const Turn& turn) {
  if (turn.lesson) choose(*turn.lesson);
  LessonContext& context = *context_;
  if (turn.again) {
    context.page = PageKind::Predict;
    if (context.locked()) predict_->begin_again(context);
  }
  if (!turn.page) return;
  if (!of_course(*turn.page) && !of_course(context.page)) return go(*turn.page);
  if (!of_course(context.page)) context.left = page_of(context.step());
  context.page = *turn.page;
  context.scroll.restart();
}

void Player::open(std::string_view id, StepKind step, const view::Answer& answer) {
  const Lesson* const lesson = course_.find(id);
  if (!lesson) throw Error("lesson '{}' is not in this course", id);
  choose(static_cast<size_t>(lesson - course_.lessons.data()));
  predict_->offer(answer, *context_);
  if (step == StepKind::Predict) return;
  const LessonProgress& kept = context_->kept();
  if (!kept.committed && !kept.skipped) predict_->commit(*context_, !predict_->complete(*context_));
  context_->turn = {};
  go(page_of(step));
}

view::Answer Player::answer() const { return context_ ? predict_->answer(*context_) : view::Answer{}; }

void Player::lead_to(StepKind step, std::string_view figure) {
  if (!context_->locked()) predict_->next = std::max(PageKind::Run, page_of(step));
  context_->figures->show(context_->lesson, step, figure);
}

const std::string& Player::figure_id() const { return context_->figures->shown(*context_).id; }

Desk Player::draw(Ui& ui, const Rect& area, const LabView& view) {
  const Size size = layout_for(ui.size());
  const bool compact = size == Size::Compact;
  const float margin = compact ? 8 : space::margin, gap = compact ? 6 : space::gap;
  Rect rest = area;
  const Rect footer = rest.take_bottom(compact ? 56.f : 76.f);
  rest = {rest.x + margin, rest.y + gap, rest.w - 2 * margin, rest.h - 2 * gap};
  if (!context_) {
    const Rect content = panel(ui, rest, {course_.words->tr("Lessons"), "", "", 0, false});
    const std::string why = course_.broken.empty()
                                ? course_.words->tr("There are no lessons beside the program.")
                                : words::spoken(course_.broken[0].error);
    ui.paint().text_wrapped(content, {Face::Sans, type::title}, ui.theme().ink2, why, 20);
    ui.mark("lesson/none", rest, why, course_.words->tr("Why there is no course."));
    return {};
  }
  context_->size = size;
  if (context_->just_measured()) {
    for (const auto& page : pages_) page->measured(*context_);
    context_->experiment->measured(*context_);
  }
  if (!compact) draw_list(ui, rest.take_left(size == Size::Full ? 264.f : 56.f, gap), *context_);
  carry_out(std::exchange(context_->turn, {}));
  LessonContext& context = *context_;
  context.size = size;
  shown().draw(ui, rest, context);
  draw_footer(ui, footer, context, shown());
  // The control that is meant, until the user has found it.
  const Control* const meant = ui.registry().find(context.lesson.spotlight);
  if (context.page == PageKind::Predict && meant && !context.locked() && predict_->wants_spotlight())
    spotlight(ui.paint(), ui.theme(), meant->rect);
  Desk desk = std::exchange(context.desk, {});
  carry_out(std::exchange(context.turn, {}));
  context_->fresh = false;
  // Two trainings at once would only slow each other down.
  if (measuring() && view.playing) desk.commands.emplace_back(session::Pause{});
  return desk;
}

}  // namespace normscope::lessons
