// The Lessons screen plays the course: the list of lessons, one page, and a footer with the steps. The player keeps the
// context of the open lesson and its pages, and turns from one to the next. It is state plus draw(), without a window.
// Controls: lesson/list/ID, lesson/step/NAME, lesson/next, lesson/skip, lesson/redo, lesson/stop, lesson/lab,
// lesson/what-if, lesson/course, lesson/why, lesson/review; each page has its own.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/lesson-player/lesson_context.h"

namespace normscope::lesson_player {

class PredictPage;

class Player {
 public:
  /// `case_measurer` trains the cases at the ends of lessons; null: a worker that wakes no window.
  Player(course::Course course, std::unique_ptr<Measurer> measurer, std::string progress_path,
         std::unique_ptr<Measurer> case_measurer = nullptr);
  ~Player();

  /// Fills `area`, the window below the top bar. Returns its requests: runs for the Lab, a pause of the Lab's runs.
  ScreenRequests draw(ui::Ui& ui, const ui::Rect& area, const LabView& view);

  const course::Course& course() const { return *courses_.back(); }
  /// Goes on with the course in another language: the same lesson at the same page, with what was answered and set.
  /// `read` reads it where it has not been open yet.
  void say_in(std::string_view language, const std::function<course::Course()>& read);
  /// Opens a lesson at a step as if the learner had reached it (earlier steps count as done), for pictures and
  /// tests. An answer from elsewhere is filled in, as far as the lesson can have it, for the learner to commit or to
  /// change; where a prediction was made it waits for a second one.
  void open(std::string_view lesson, course::StepKind step, const view::Answer& answer = {});
  /// The prediction, made or in the making; empty if it was skipped or not begun.
  view::Answer answer() const;
  /// For a link to a step: that step comes as soon as the prediction is made or skipped, with the figure of
  /// this name, if it has one.
  void lead_to(course::StepKind step, std::string_view figure);
  const std::string& figure_id() const;
  bool measuring() const { return measurer_->state()->running || case_measurer_->state()->running; }
  void stop_measuring() {
    measurer_->stop();
    case_measurer_->stop();
  }
  PageKind page() const { return context_->page; }
  course::StepKind step() const { return context_->step(); }
  const course::Lesson* lesson() const { return context_ ? &context_->lesson : nullptr; }
  LessonProgress& progress(const std::string& id) { return progress_.of(id); }

 private:
  void say_progress_anew();
  void choose(size_t index);
  void go(PageKind page);
  void carry_out(const Turn& turn);
  Page& shown() const { return *pages_[static_cast<size_t>(context_->page)]; }

  /// The last one is open. The others are in the languages of before: something may still be measured for their lessons.
  std::vector<std::unique_ptr<const course::Course>> courses_;
  std::unique_ptr<Measurer> measurer_, case_measurer_;
  Progress progress_;
  std::string folder_;                      ///< for data kept between starts; empty: nothing is kept
  std::unique_ptr<LessonContext> context_;  ///< null: there are no lessons
  std::set<std::string> interrupted_;       ///< lessons that were left while they were measured
  Pages pages_;
  PredictPage* predict_ = nullptr;  ///< the first of them
};

/// The height at which the lessons and the pages of the course have rows of two lines; a lower list has lower rows.
float list_height(const LessonContext& context);
void draw_list_items(ui::Ui& ui, ui::Rect rect, LessonContext& context);
/// The list in its panel, and below it the predictions.
void draw_list(ui::Ui& ui, const ui::Rect& rect, LessonContext& context);
void draw_footer(ui::Ui& ui, const ui::Rect& rect, LessonContext& context, Page& page);

}  // namespace normscope::lesson_player
