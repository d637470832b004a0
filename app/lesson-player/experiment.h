// The right column behind the prediction: the figure, and below it one more experiment with a setting that the learner
// chooses. With Explain comes a puzzle to be answered so, and a wiring of his own may be kept under a name.
#pragma once

#include <optional>
#include <string>

#include "app/lesson-player/lesson_context.h"

namespace normscope::lessons {

class Experiment {
 public:
  void draw(ui::Ui& ui, const ui::Rect& rect, LessonContext& context);
  /// Says as what the wiring is kept.
  void draw_kept(ui::Ui& ui, ui::Rect& rest, const LessonContext& context) const;
  /// Called once when a measurement has ended.
  void measured(const LessonContext& context);

 private:
  void draw_setting(ui::Ui& ui, ui::Rect rect, LessonContext& context);
  void draw_keep_button(ui::Ui& ui, ui::Rect& head, const LessonContext& context);

  bool solved_ = false;                  ///< the puzzle
  std::optional<course::Changes> kept_;  ///< the changes of the run whose wiring was kept last
  std::string kept_as_;
  Message keeping_failed_;
};

}  // namespace normscope::lessons
