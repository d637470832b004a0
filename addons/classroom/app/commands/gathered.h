// A class's predictions on one sheet. Each student copies a line from the review page; the teacher gives all lines, or
// each student's lessons.json, to `normscope lesson gather`. The sheet says for each lesson how many students predicted
// what, and how many were right before anything was measured.
#pragma once

#include "app/course/reader.h"
#include "app/lesson-player/progress.h"

namespace normscope::lesson_player {

/// Lines of the review, one a student, or a whole lessons.json.
struct ClassLines {
  std::vector<CourseProgress> students{};
  std::vector<Message> left_out{};  ///< lines that cannot be read, "[FILE:LINE] …"
};
/// Skips empty lines, and what a chat puts before a line ("Anna: ", "> "). Throws Error where no line can be read.
ClassLines parse_predictions(std::string_view text, const std::string& name);

/// Numbers of students. Only the first prediction of each counts.
struct GatheredLesson {
  int number = 0;
  std::string id{}, title{};
  int predicted = 0, skipped = 0, right = 0, done = 0;
  int cases = 0, cases_right = 0;                   ///< answers to the case at the end
  std::vector<std::pair<std::string, int>> said{};  ///< the predictions, the most frequent first
  std::vector<std::string> reasons{};               ///< for the case, each in a student's own words
  std::vector<std::string> left_out{};              ///< what no learner could say in this lesson
};
/// `others`: the course in other languages, whose answers count too.
std::vector<GatheredLesson> gather(const course::Course& course, const std::vector<CourseProgress>& students,
                                   std::span<const course::Course> others = {});

/// The sheet for a terminal, with the students' own sentences, and as CSV with a row for each prediction.
std::string gathered_text(const std::vector<GatheredLesson>& lessons, size_t students);
std::string gathered_csv(const std::vector<GatheredLesson>& lessons);

}  // namespace normscope::lesson_player
