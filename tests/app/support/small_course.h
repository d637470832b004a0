// The course with models that take no time: for tests of threads and hands, not of claims.
#pragma once

#include "app/course/reader.h"
#include "test_paths.h"

namespace normscope::fixture {

inline void make_small(lessons::Lesson& lesson) {
  for (lessons::LessonRun* run : lesson.all_runs())
    for (const auto& [key, value] : {std::pair{"model.d_model", "16"},
                                     {"model.feed_forward", "32"},
                                     {"model.heads", "2"},
                                     {"model.sequence", "16"},
                                     {"train.batch", "4"}})
      set_field(run->spec, key, value);
}

inline lessons::Lesson small_lesson(const std::string& folder) {
  lessons::Lesson lesson = lessons::read_lesson(std::string(NORMSCOPE_SOURCE_DIR "/lessons/") + folder);
  make_small(lesson);
  return lesson;
}

inline lessons::Course small_course() {
  lessons::Course course = lessons::read_course(NORMSCOPE_SOURCE_DIR "/lessons");
  for (lessons::Lesson& lesson : course.lessons) make_small(lesson);
  return course;
}

}  // namespace normscope::fixture
