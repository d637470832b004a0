// The shipped course is read once, as no test changes its files, with what was measured of it; a copy can be changed.
#pragma once

#include "app/course/check.h"
#include "app/course/figures.h"
#include "app/course/reader.h"
#include "engine/support/helpers.h"
#include "folder.h"
#include "test_paths.h"

namespace normscope::fixture {

inline const course::Course& shipped_course() {
  static const course::Course course = course::read_course(NORMSCOPE_SOURCE_DIR "/lessons");
  return course;
}

/// The lesson whose numbers can be computed by hand.
inline course::Lesson by_hand() {
  return course::read_lesson(NORMSCOPE_SOURCE_DIR "/lessons/00-five-minutes");
}

/// Holds what measured.json has of a lesson: the numbers of its five seeds.
struct FiveSeeds {
  explicit FiveSeeds(const course::Lesson& lesson) : results(course::load_results(lesson)) {
    REQUIRE(results);
  }
  course::FigureData data() const {
    course::FigureData made;
    made.reference = &*results;
    return made;
  }
  const std::optional<course::Results> results;
};

/// The course with one lesson whose files can be changed.
struct CourseCopy {
  explicit CourseCopy(std::string lesson_folder) : lesson(std::move(lesson_folder)) {
    std::filesystem::copy(NORMSCOPE_SOURCE_DIR "/lessons", folder.path,
                          std::filesystem::copy_options::recursive);
  }
  std::filesystem::path path(const std::string& file) const { return folder.path / lesson / file; }
  std::string read(const std::string& file) const { return test::read_all(path(file)); }
  void replace(const std::string& file, const std::string& from, const std::string& to) const {
    test::write_text(path(file), test::replaced(read(file), from, to));
  }
  const test::Folder folder;
  const std::string lesson;
};

}  // namespace normscope::fixture
