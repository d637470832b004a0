// The shipped course is read once, as no test changes its files.
#pragma once

#include "app/course/reader.h"
#include "test_paths.h"

namespace normscope::fixture {

inline const course::Course& shipped_course() {
  static const course::Course course = course::read_course(NORMSCOPE_SOURCE_DIR "/lessons");
  return course;
}

/// `by_hand` is the lesson whose numbers can be computed by hand.
inline course::Lesson by_hand() {
  return course::read_lesson(NORMSCOPE_SOURCE_DIR "/lessons/00-five-minutes");
}

}  // namespace normscope::fixture
