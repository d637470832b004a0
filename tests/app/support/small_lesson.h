// A small lesson is written in a test; this file reads it, changes one place of it, and says why it is refused.
#pragma once

#include "app/course/reader.h"
#include "catch.hpp"
#include "engine/support/helpers.h"

namespace normscope::fixture {

using test::replaced;

/// The steps of a lesson.toml with the same figure in all four.
inline std::string one_figure(const std::string& figure) {
  std::string steps;
  for (const course::StepKind step : course::kSteps)
    steps += std::string("[step.") + course::to_string(step) + "]\nfigures = [\"" + figure + "\"]\n";
  return steps;
}

/// Reads a lesson.toml, with the same prose in all four steps.
inline course::Lesson parsed_lesson(const std::string& toml, const std::string& prose = "Run {A}.") {
  return course::parse_lesson(toml, "lessons/99-small", [&](const std::string&) { return prose; });
}

/// Why it is refused; empty when it is not.
inline std::string refusal_of(const std::string& toml, const std::string& prose = "Run {A}.") {
  return test::error_of([&] { parsed_lesson(toml, prose); }, "");
}

}  // namespace normscope::fixture
