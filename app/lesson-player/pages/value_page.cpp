// A number is predicted by a slider, and stands in the figure as a stroke.
#include <algorithm>

#include "app/course/measures.h"
#include "app/lesson-player/figures.h"
#include "app/lesson-player/pages/predict_page.h"
#include "app/lesson-player/slider.h"
#include "app/ui/numbers.h"
#include "app/ui/widgets.h"

namespace normscope::lessons {

using namespace ui;
using namespace course;

bool asks_value_of(const Lesson& lesson, const Figure& figure) {
  return lesson.prediction.kind == Prediction::Kind::Value &&
         figure.id == lesson.step(StepKind::Predict).figures[0];
}

void keep_levels_clear(const Prediction& asked, double value, plot::PlotSpec& plot) {
  if (!asked.on_y) return;
  for (plot::RefLine& line : plot.lines) line.label_below = value >= line.value;
}

void add_said(const Prediction& asked, double value, const std::string& words, plot::PlotSpec& plot) {
  const bool level = asked.on_y;
  const auto low = static_cast<float>(level ? plot.x.lo : plot.y.lo),
             high = static_cast<float>(level ? plot.x.hi : plot.y.hi), at = static_cast<float>(value);
  plot::Series s;
  s.id = "your prediction";
  s.x = plot::Column::of(level ? std::vector{low, high} : std::vector{at, at});
  s.y = plot::Column::of(level ? std::vector{at, at} : std::vector{low, high});
  s.ink = {plot::Ink::Role::Prediction, 0, 1};
  s.width = 9;
  s.marker = ui::Marker::None;
  s.end_label = s.end_marker = false;
  plot.series.insert(plot.series.begin(), std::move(s));
  plot.notes.push_back({level ? plot.x.hi : value,
                        level ? value : plot.y.hi,
                        words,
                        ui::number(value, 3),
                        {plot::Ink::Role::Ink, 0, 1},
                        level ? 4.f : 10.f,
                        level ? -11.f : 16.f});
}

namespace {

class ValuePage : public PredictPage {
 public:
  void take_up(const LessonContext& context) override {
    value_ = context.kept().committed ? context.kept().value : context.lesson.prediction.start;
    touched_ = false;
  }
  void start_anew(const LessonContext&) override { touched_ = false; }
  void take(const view::Answer& offered, const LessonContext& context) override {
    if (!offered.value) return;
    const Prediction& q = context.lesson.prediction;
    value_ = std::clamp(*offered.value, q.low, q.high);
    touched_ = true;
  }
  view::Answer given(const LessonContext& context) const override {
    return touched_ || context.kept().committed ? view::Answer{.value = value_} : view::Answer{};
  }
  std::string to_do(const LessonContext& context) const override {
    return touched_ ? "" : context.tr("Move the slider first");
  }
  void keep(LessonProgress& progress) const override { progress.value = value_; }
  bool wants_spotlight() const override { return !touched_; }

  void draw_right(Ui& ui, Rect rest, LessonContext& context) override {
    const Prediction& q = context.lesson.prediction;
    context.figures->draw_head(ui, rest, context);
    Rect foot = figure_foot(ui, rest, context, kSliderFoot);
    context.figures->draw(ui, rest, context, this);
    const Rect words = foot.take_top(20, 6);
    ui.paint().text_in(words, {Face::Bold, type::title}, ui.theme().ink, context.tr("Your prediction"));
    ui.paint().text_in(words, {Face::Mono, type::run_name}, ui.theme().ink,
                       with_unit(ui::number(value_, 3), q.unit), Align::Right);
    double value = value_;
    const bool hand = slider(ui, foot, "lesson/slider", value, {q.low, q.high, q.step, q.values, q.unit},
                             context.tr("Your prediction: drag, or use the arrow keys."), context.fresh);
    if (context.locked()) return;
    value_ = value;
    touched_ |= hand;
  }
  void before_plot(Ui&, const Rect&, LessonContext& context, plot::PlotSpec& plot) override {
    if (!asks_value_of(context.lesson, context.figures->shown(context))) return;
    keep_levels_clear(context.lesson.prediction, value_, plot);
    add_said(context.lesson.prediction, value_, context.tr("your prediction:"), plot);
  }

 private:
  double value_ = 0;
  bool touched_ = false;  ///< the user has moved it
};

}  // namespace

std::unique_ptr<PredictPage> make_value_page() { return std::make_unique<ValuePage>(); }

}  // namespace normscope::lessons
