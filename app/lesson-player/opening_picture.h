// The opening picture is what a lesson opens with: the small diagram of one or two of its runs, painted by the
// diagram's own painter from what is really trained, with the place that matters lit. Once a run has taken a step its
// sub-layers show the norm of their gradient. The picture is as large as the room allows: the layer of the lit place
// open, all layers closed, or the wiring alone as on a run card; nothing where none of these fits. Control:
// lesson/opening.
#pragma once

#include "app/lesson-player/worker.h"
#include "app/ui/ui.h"
#include "app/view/lab_data.h"

namespace normscope::lessons {

class OpeningPicture {
 public:
  /// Takes in `measured` the state of these runs; it is null before the prediction, when nothing of them may be
  /// seen.
  void draw(ui::Ui& ui, const ui::Rect& room, const course::Lesson& lesson, const course::Changes& changes,
            const MeasureState* measured);

 private:
  void take_up(const course::Lesson& lesson, const course::Changes& changes);
  void add_numbers(const course::Lesson& lesson, const MeasureState* measured);

  const course::Lesson* lesson_ = nullptr;
  course::Changes changes_;
  LabView view_;  ///< one run per picture, in the order of the lesson's `opening`
  view::LabData data_;
};

}  // namespace normscope::lessons
