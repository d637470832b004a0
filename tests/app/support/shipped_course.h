// The course as it is shipped, read once: no test changes its files.
#pragma once

#include "app/course/reader.h"
#include "test_paths.h"

namespace normscope::fixture {

inline const lessons::Course& shipped_course() {
  static const lessons::Course course = lessons::read_course(NORMSCOPE_SOURCE_DIR "/lessons");
  return course;
}

}  // namespace normscope::fixture
