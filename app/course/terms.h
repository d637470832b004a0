// Which words and symbols of a lesson's text the glossary explains. The text's column marks the first of each
// on a page; the glossary underlines the mark, shows the entry on hover and opens it on a click.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace normscope::shell {
struct Term;
}

namespace normscope::course {

struct TermMatch {
  const shell::Term* term = nullptr;
  size_t words = 0;  ///< how many it takes
};

/// A word as the glossary knows it: "(Post-LN)," is "post-ln".
std::string plain_word(std::string_view word);
/// The longest term that these plain words begin with.
TermMatch term_at_start(std::span<const std::string> words);
/// The term that a text is from its first word to its last: "DeepNorm", "no norms"; nullptr for any other.
const shell::Term* term_of_text(std::string_view text);
/// The term that a formula is the symbol of; nullptr for any other.
const shell::Term* term_of_formula(std::string_view tex);

}  // namespace normscope::course
