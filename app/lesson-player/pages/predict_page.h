// The first page asks for a prediction: by drawing a curve, by putting cards in order, or by a slider, each in its own
// file. Nothing that was measured is visible before it is committed or skipped.
#pragma once

#include "app/lesson-player/lesson_context.h"
#include "app/plot/plot_spec.h"

namespace normscope::lessons {

class PredictPage : public Page {
 public:
  void draw(ui::Ui& ui, ui::Rect rect, LessonContext& context) override;
  WayOn way_on(const LessonContext& context) const override;
  void go_on(LessonContext& context) override;
  std::string missing(const LessonContext& context) const override;
  std::string skip_help(const LessonContext& context) const override;
  void skip(LessonContext& context) override { commit(context, true); }
  bool work_left(LessonContext& context) const override;

  /// Locks the prediction; from here on measurements may be seen.
  void commit(LessonContext& context, bool skip);
  /// Takes up the prediction that was made, or begins one; `begin_again` begins a second, beside which the first
  /// stands until the second is committed.
  virtual void take_up(const LessonContext& context) = 0;
  void begin_again(LessonContext& context);
  /// An answer from a link is filled in, as far as the question can have it, for the learner to commit or to change;
  /// where a prediction was made, it waits for a second one.
  void offer(const view::Answer& answer, const LessonContext& context);
  view::Answer answer(const LessonContext& context) const;
  /// False where opening a later step must skip the prediction.
  virtual bool complete(const LessonContext&) const { return true; }
  /// Whether the control that is meant must be pointed out, until the user has found it.
  virtual bool wants_spotlight() const { return false; }
  /// In the figure, where that is what the prediction is made in.
  virtual void before_plot(ui::Ui&, const ui::Rect&, LessonContext&, plot::PlotSpec&) {}
  virtual void after_plot(ui::Ui&, LessonContext&, const plot::PlotSpec&) {}

  PageKind next = PageKind::Run;  ///< where the prediction leads, for a link to a later step

 private:
  virtual void start_anew(const LessonContext& context) = 0;
  virtual void take(const view::Answer& offered, const LessonContext& context) = 0;
  virtual view::Answer given(const LessonContext& context) const = 0;
  /// What is to be done before it can be committed; empty: nothing.
  virtual std::string to_do(const LessonContext& context) const = 0;
  virtual void keep(LessonProgress& progress) const = 0;
  virtual void forget() {}
  virtual void draw_right(ui::Ui& ui, ui::Rect rest, LessonContext& context) = 0;

  view::Answer offered_;
};

std::unique_ptr<PredictPage> make_draw_page();
std::unique_ptr<PredictPage> make_order_page();
std::unique_ptr<PredictPage> make_value_page();
std::unique_ptr<PredictPage> make_predict_page(const LessonContext& context);

/// Whether a figure shows the number that is asked for.
bool asks_value_of(const course::Lesson& lesson, const course::Figure& figure);
/// Keeps the names of levels clear of the stroke of a predicted value, and `add_said` draws it: a highlighter's across
/// the plot, with its name where there is room.
void keep_levels_clear(const course::Prediction& asked, double value, plot::PlotSpec& plot);
void add_said(const course::Prediction& asked, double value, const std::string& words, plot::PlotSpec& plot);

}  // namespace normscope::lessons
