// The language of the window in a test, and the English words in what a German one says.
#pragma once

#include <regex>
#include <string>

#include "app/words/words.h"

namespace normscope::fixture {

/// The first English word of a German sentence, or nothing. What is quoted, from a file or from a library that
/// speaks English, is left out.
inline std::string english_in(const std::string& german) {
  static const std::regex quoted("\\S*/\\S*|'[^']*'|\"[^\"]*\"|„[^“]*“|auf Englisch: .*|\\([^)]*\\)");
  static const std::regex english(
      "\\b(expected|is|are|the|of|has|have|holds|not|no|more|than|with|for|and|or|cannot|there|this|missing|unknown|known|"
      "too|only|did|such|to|from|by|stands|lies|its|it|at|another|as|which|both|least|most|two|one|each|beside|above|that|than|"
      "changes|nothing|where|they|a)\\b");
  const std::string said = std::regex_replace(german, quoted, "");
  std::smatch word;
  return std::regex_search(said, word, english) ? word.str() : "";
}

/// The language of the window while it lives; English again after it.
struct Spoken {
  explicit Spoken(const char* language) { words::use(language); }
  ~Spoken() { words::use("en"); }
};

/// What a German window says for an error.
inline std::string german_error(const Message& message) {
  return words::spoken(message, words::language("de"));
}

}  // namespace normscope::fixture
