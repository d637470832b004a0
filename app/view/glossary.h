// The terms of the field, each in two plain sentences with its source. Where a panel's title stands for a term it
// is underlined; hover shows the entry, a click keeps it open, F1 asks for what is in focus or under the mouse. The open
// entry leads to the lesson that shows the term. Control: app/glossary/lesson.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "app/ui/ui.h"
#include "app/words/words.h"

namespace normscope::shell {

constexpr int kNoLesson = -1;

struct Term {
  std::string_view id, title;
  std::string_view text;    // two sentences
  std::string_view source;  // where to read on
  std::string_view places;  // panel titles and control names that mean it, separated by '|'
  // Other words for it in running text, separated by '|'; a formula begins with a dollar sign.
  std::string_view words = {};
  int lesson = kNoLesson;  // of the course, that shows it
};

// Term::words of what running text says all the time and nobody asks about.
constexpr std::string_view kNotInText = "-";

std::span<const Term> glossary();
const Term* find_term(std::string_view id);
// The source as it is shown, with the lesson; `words`: the language of what stands around an entry, that of a course. Which entries were held against theirs: docs/theory.md.
std::string source_text(const Term& term, const words::Language& words = words::of_window());
// The term that a panel title or a control's name stands for; nullptr when none does.
const Term* term_at(std::string_view place);

// Underlines what has an entry and shows it; called after the screens. `open`: id of the entry that is kept open.
// Returns the number of the lesson that was asked for there, else kNoLesson.
int draw_glossary(ui::Ui&, std::string& open, const words::Language& words = words::of_window());

}  // namespace normscope::shell
