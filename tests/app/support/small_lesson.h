// A small lesson is written in a test; this file reads it, changes one place of it, and says why it is refused.
#pragma once

#include <string>

#include "app/course/reader.h"
#include "catch.hpp"
#include "engine/core/error.h"

namespace normscope::fixture {

/// `replaced` changes the first occurrence of `from` to `to`.
inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  REQUIRE(at != text.npos);
  return text.replace(at, from.size(), to);
}

/// `one_figure` is the steps of a lesson.toml with the same figure in all four.
inline std::string one_figure(const std::string& figure) {
  std::string steps;
  for (const course::StepKind step : course::kSteps)
    steps += std::string("[step.") + course::to_string(step) + "]\nfigures = [\"" + figure + "\"]\n";
  return steps;
}

/// `parsed_lesson` reads a lesson.toml, with the same prose in all four steps.
inline course::Lesson parsed_lesson(const std::string& toml, const std::string& prose = "Run {A}.") {
  return course::parse_lesson(toml, "lessons/99-small", [&](const std::string&) { return prose; });
}

/// `refusal_of` says why it is refused; empty when it is not.
inline std::string refusal_of(const std::string& toml, const std::string& prose = "Run {A}.") {
  try {
    parsed_lesson(toml, prose);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace normscope::fixture
