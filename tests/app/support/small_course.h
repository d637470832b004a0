// The small course is the course with models that take no time, for tests of threads and input, not of claims.
#pragma once

#include "app/course/reader.h"
#include "app/support/shipped_course.h"
#include "test_paths.h"
#include "training/support/tiny.h"

namespace normscope::fixture {

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
