// The right column behind the prediction: the figure, and below it one more experiment with a setting that the learner
// chooses. With Explain comes a puzzle to be answered so.
#pragma once

#include "app/lesson-player/lesson_context.h"

namespace normscope::lessons {

class Experiment {
 public:
  void draw(ui::Ui& ui, const ui::Rect& rect, LessonContext& context);
  /// Called once when a measurement has ended.
  void measured(const LessonContext& context);

 private:
  void draw_setting(ui::Ui& ui, ui::Rect rect, LessonContext& context);

  bool solved_ = false;  ///< the puzzle
};

}  // namespace normscope::lessons
