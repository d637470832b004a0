// Sets the prose of a lesson into a column: words, formulas, tiles, live numbers and numbers to drag.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "app/course/lesson.h"
#include "app/ui/ui.h"

namespace normscope::shell {
struct Term;
}

namespace normscope::lessons {

struct FlowContext {
  std::function<std::string(const course::Inline&)> text;  ///< of a value, band, reference, sample or name
  course::Number number;                                   ///< by which a sentence in several forms is chosen
  std::string unknown;  ///< in the place of a sentence that waits for its number
  std::function<std::string(const course::Knob&)> knob;  ///< the number as shown
  const course::Lesson* lesson = nullptr;
  bool can_drag = true;
  float px = ui::type::prose, line = ui::type::prose_line;
  ui::Rect seen;  ///< where words can be read: terms outside are not marked
  /// Where formulas stand, for who lets the page end between them; null: nobody asks.
  std::vector<ui::Rect>* formulas = nullptr;
  /// Terms that are marked on the page already; those of this text are added. Null: there are none.
  std::set<const shell::Term*>* used = nullptr;
};

/// What the hand did to a number in the text.
struct Dragged {
  std::string knob;
  double steps = 0;  ///< how many steps of the knob, up is positive
};

/// Draws (or only measures) the blocks from the top of `rect`; returns the height. `dragged` gets what was moved.
float flow(ui::Ui& ui, const ui::Rect& rect, const course::Prose& prose, const FlowContext& context,
           bool draw, Dragged* dragged);

}  // namespace normscope::lessons
