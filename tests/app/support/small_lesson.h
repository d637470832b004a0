// A small lesson is written in a test; this file reads it, changes one place of it, and says why it is refused.
#pragma once

#include "app/support/shipped_course.h"
#include "refusals/refusals.h"
#include "training/support/tiny.h"

namespace normscope::fixture {

using test::replaced;

/// Reads a lesson.toml, with the same prose in all four steps.
inline course::Lesson parsed_lesson(const std::string& toml, const std::string& prose = "Run {A}.") {
  return course::parse_lesson(toml, "lessons/99-small", [&](const std::string&) { return prose; });
}

/// Why it is refused; empty when it is not.
inline std::string refusal_of(const std::string& toml, const std::string& prose = "Run {A}.") {
  return test::error_of([&] { parsed_lesson(toml, prose); }, "");
}

// The exercise lesson is a small lesson with a case and a challenge, on models that take no time.

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

// The small course is the course with models that take no time, for tests of threads and input, not of claims.

inline void make_small(course::Lesson& lesson) {
  for (course::LessonRun* run : lesson.all_runs()) test::make_tiny(run->spec, 0);
}

inline course::Lesson small_lesson(const std::string& folder) {
  course::Lesson lesson = course::read_lesson(std::string(NORMSCOPE_SOURCE_DIR "/lessons/") + folder);
  make_small(lesson);
  return lesson;
}

inline course::Course small_course() {
  course::Course course = shipped_course();
  for (course::Lesson& lesson : course.lessons) make_small(lesson);
  return course;
}

}  // namespace normscope::fixture
