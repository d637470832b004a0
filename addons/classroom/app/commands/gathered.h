// A class's predictions on one sheet. Each student copies a line from the review page; the teacher gives all lines, or
// each student's lessons.json, to `normscope lesson gather`. The sheet says for each lesson how many students predicted
// what, and how many were right before anything was measured.
#pragma once

#include "app/course/reader.h"
#include "app/lesson-player/progress.h"

namespace normscope::lesson_player {

/// Reads lines of the review, one a student, or a whole lessons.json. Skips empty lines. Throws
/// Error, "FILE:LINE: …", for any other text.
std::vector<CourseProgress> parse_predictions(std::string_view text, const std::string& name);

/// Numbers of students. Only the first prediction of each counts.
struct GatheredLesson {
  int number = 0;
  std::string id{}, title{};
  int predicted = 0, skipped = 0, right = 0, done = 0;
  int sentences = 0, sentences_right = 0;           ///< that the students completed, all together
  std::vector<std::pair<std::string, int>> said{};  ///< the predictions, the most frequent first
};
std::vector<GatheredLesson> gather(const course::Course& course, const std::vector<CourseProgress>& students);

/// The sheet for a terminal, and as CSV with a row for each prediction.
std::string gathered_text(const std::vector<GatheredLesson>& lessons, size_t students);
std::string gathered_csv(const std::vector<GatheredLesson>& lessons);

}  // namespace normscope::lesson_player
