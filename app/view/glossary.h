// The glossary explains each term in two plain sentences, with its source. A panel title that has an entry is
// underlined; hover shows the entry, a click keeps it open, F1 opens the entry of the control in focus or under the
// mouse. A button in the open entry opens the lesson that shows the term. Control: app/glossary/lesson.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "app/ui/ui.h"
#include "app/words/words.h"

namespace normscope::view {

constexpr int kNoLesson = -1;

struct Term {
  std::string_view id, title;
  std::string_view text;    // two sentences
  std::string_view source;  // where to read more
  std::string_view places;  // panel titles and control names that this entry explains, separated by '|'
  /// Other words for the term in running text, separated by '|'; a formula begins with a dollar sign.
  std::string_view words = {};
  int lesson = kNoLesson;  // number of the lesson that shows it
};

/// The Term::words of a term that is too common to be marked in running text.
constexpr std::string_view kNotInText = "-";

/// The terms in the language of the window or of a course.
std::span<const Term> glossary(const words::Language& words = words::of_window());
const Term* find_term(std::string_view id, const words::Language& words = words::of_window());
/// A term's text in the window's language; empty without an entry.
std::string meaning(std::string_view id);
std::string first_sentence(std::string_view id);
/// Registers a region WHERE/term/ID whose tooltip is the term's first sentence.
void tell_term(ui::Ui&, std::string_view where, const ui::Rect&, std::string_view id);
/// The source followed by "; see lesson N". `words` is the language of the surrounding text, such as a course's.
/// docs/theory.md says which entries were checked against their sources.
std::string source_text(const Term& term, const words::Language& words = words::of_window());
/// The term that explains a panel title or a control, by its name; nullptr when there is none.
const Term* term_at(std::string_view place, const words::Language& words = words::of_window());

/// Underlines titles that have an entry, and draws the entry with id `open`; called after the screens. It returns the
/// number of the lesson whose button was pressed, else kNoLesson.
int draw_glossary(ui::Ui&, std::string& open, const words::Language& words = words::of_window());

}  // namespace normscope::view
