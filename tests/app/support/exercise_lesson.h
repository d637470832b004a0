// The exercise lesson is a small lesson with sentences to complete and a challenge, on models that take no time.
#pragma once

#include "app/support/small_lesson.h"
#include "refusals/refusals.h"

namespace normscope::fixture {

inline const std::string& exercise_toml() {
  static const std::string text = test::refusal_base("lesson-exercise");
  return text;
}

inline course::Lesson parsed_exercise(const std::string& toml = exercise_toml(),
                                      const std::string& prose = "Run {A}.") {
  return parsed_lesson(toml, prose);
}

/// The lesson's text with one place of it changed.
inline std::string exercise_with(const std::string& from, const std::string& to) {
  return replaced(exercise_toml(), from, to);
}

}  // namespace normscope::fixture
