// The flow sets the prose of a lesson into a column: words, formulas, tiles, live numbers and numbers to drag.
#pragma once

#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/course/lesson.h"
#include "app/ui/ui.h"
#include "app/words/words.h"

namespace normscope {
namespace view {
struct Term;
}
}  // namespace normscope

namespace normscope::lesson_player {

struct FlowContext {
  std::function<std::string(const course::Inline&)>
      text;               ///< the text of a value, band, reference, sample or name
  course::Number number;  ///< a measure's value, which chooses among a sentence's forms
  std::string unknown;    ///< replaces a sentence that waits for its number
  std::function<std::string(const course::Knob&)> knob;  ///< the number of a knob as shown
  const course::Lesson* lesson = nullptr;
  const course::Words* words = nullptr;  ///< the course's own words, in the language of the text
  bool can_drag = true;
  float px = ui::type::prose, line = ui::type::prose_line;
  bool pale = false;  ///< small print
  /// Called for each ring of a lesson with its control, its rectangle, the lesson's id, and whether it was clicked.
  std::function<void(const std::string& control, const ui::Rect& place, const std::string& lesson,
                     bool clicked)>
      ring;
  int rings = 0;  ///< of the page above this text, so that each has a name of its own
  ui::Rect seen;  ///< where words can be read: terms outside it are not marked
  /// Collects the rectangles of formulas for a caller that ends the page between them; null: not needed.
  std::vector<ui::Rect>* formulas = nullptr;
  /// Holds the terms already marked on the page; the terms of this text are added. Null: the text is a page by itself.
  std::set<const view::Term*>* used = nullptr;
};

/// The least width at which a text has as many lines as at its full one, so that no word stands alone in the last.
float even_width(const ui::Painter& p, float width, const ui::TextStyle& style, const std::string& text,
                 float line);

/// What the mouse did to a number in the text.
struct KnobDrag {
  std::string knob;
  double steps = 0;  ///< steps of the knob; up is positive
};

/// Draws (or only measures) the blocks from the top of `rect`, and returns the height. `dragged` receives the moved
/// knob.
float flow(ui::Ui& ui, const ui::Rect& rect, const course::Prose& prose, const FlowContext& context,
           bool draw, KnobDrag* dragged);

// The terms are the words and symbols of the text that the glossary explains. The text column marks the first
// occurrence of each on a page; the glossary underlines the mark, shows the entry on hover and opens it on a click.

struct TermMatch {
  const view::Term* term = nullptr;
  size_t words = 0;  ///< number of words that the term takes
};

/// A word as the glossary knows it: "(Post-LN)," becomes "post-ln".
std::string plain_word(std::string_view word);
/// Finds the longest term that these plain words begin with.
TermMatch term_at_start(std::span<const std::string> words,
                        const words::Language& language = words::of_window());
/// Finds the term that equals the whole text: "DeepNorm", "no norms"; nullptr: none.
const view::Term* term_of_text(std::string_view text, const words::Language& language = words::of_window());
/// Finds the term whose symbol is this formula; nullptr: none.
const view::Term* term_of_formula(std::string_view tex, const words::Language& language = words::of_window());

}  // namespace normscope::lesson_player
