// How the published byte-level vocabularies cut a text into words. Files state it as a regular expression; there is no
// engine for these: the published ones are known by their exact text, and each is a rule of the same scanner.
#pragma once

#include <cstddef>
#include <string_view>

namespace normscope::tokenizer {

struct WordRule {
  bool any_case;        ///< 's, 't, 're, 've, 'm, 'll and 'd in capitals too
  bool any_before;      ///< what a word may begin with: any one character but a line's end, or a blank alone
  size_t most_numbers;  ///< characters of one number; 0: as many as come, and a blank before them
  bool lines_end;       ///< ends of lines join what is before them
};

/// The rule that the pre-tokenizer ByteLevel has by itself.
inline constexpr WordRule kGpt2Words{false, false, 0, false};
inline constexpr WordRule kLlama3Words{true, true, 3, true}, kQwen2Words{true, true, 1, true};

/// Nothing for an expression that is none of the published ones.
const WordRule* word_rule(std::string_view expression);
/// The first of those that are this rule.
std::string_view expression_of(const WordRule& rule);

/// Where the word that begins at `at` ends; every character belongs to a word.
size_t word_end(std::string_view text, size_t at, const WordRule& rule);

}  // namespace normscope::tokenizer
