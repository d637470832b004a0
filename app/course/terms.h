// The terms are the words and symbols of a lesson's text that the glossary explains. The text column marks the first
// occurrence of each on a page; the glossary underlines the mark, shows the entry on hover and opens it on a click.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "app/words/words.h"

namespace normscope {
namespace view {
struct Term;
}
}  // namespace normscope

namespace normscope::course {

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

}  // namespace normscope::course
