// A class's predictions together. A student copies a line from the review, a teacher gives all lines, or the lessons.json
// of each student, to `normscope lesson gather`, and reads a sheet: for each lesson what was said, by how many, and how
// many were right before anything was measured.
#pragma once

#include "app/course/reader.h"
#include "app/lesson-player/progress.h"

namespace normscope::lessons {

/// Reads such lines, a student a line, or one whole lessons.json. Empty lines are left out. Throws
/// Error, "FILE:LINE: …", for any other text.
std::vector<CourseProgress> parse_predictions(std::string_view text, const std::string& name);

/// Counts students. What counts is the first prediction of each.
struct GatheredLesson {
  int number = 0;
  std::string id{}, title{};
  int predicted = 0, skipped = 0, right = 0, done = 0;
  int sentences = 0, sentences_right = 0;           ///< completed by all of them together
  std::vector<std::pair<std::string, int>> said{};  ///< most often first
};
std::vector<GatheredLesson> gather(const course::Course& course, const std::vector<CourseProgress>& students);

/// The sheet for a terminal, `gathered_csv` a row for each thing said.
std::string gathered_text(const std::vector<GatheredLesson>& lessons, size_t students);
std::string gathered_csv(const std::vector<GatheredLesson>& lessons);

}  // namespace normscope::lessons
