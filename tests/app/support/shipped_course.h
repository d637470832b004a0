// The shipped course is read once, as no test changes its files.
#pragma once

#include "app/course/reader.h"
#include "test_paths.h"

namespace normscope::fixture {

inline const course::Course& shipped_course() {
  static const course::Course course = course::read_course(NORMSCOPE_SOURCE_DIR "/lessons");
  return course;
}

}  // namespace normscope::fixture
