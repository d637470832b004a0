// The verdict is a prediction beside what was measured, in words. Only the numbers are certain: the words are said anew for
// who goes on in another language, or gathers the predictions of a class.
#pragma once

#include <string>
#include <vector>

#include "app/course/check.h"
#include "app/lesson-player/progress.h"

namespace normscope::lessons {

/// Whether a score, in English or in the language of `words`, means that the prediction was right.
bool is_right(const std::string& score, const course::Words& words = words::language("en"));

/// What was measured of what a lesson asks for: one number, or in an order one a card. It is empty where the
/// curve to be drawn was not measured.
std::vector<double> found_of(const course::Lesson& lesson, const course::CurveSet& curves);

/// Says in the lesson's language what was said and measured and how far apart they are, and returns the faults
/// of the answer (course/exercises.h). Without numbers, or with numbers of other cards, the words stay as they were.
std::vector<std::string> put_in_words(const course::Lesson& lesson, const course::Results* seeds,
                                      JudgedPrediction& told);

/// Says what is right about an answer that is not: the sign of a number, the direction of a drawing, and where
/// they were at stake their order of magnitude. It is empty where nothing of this is, or all.
std::string right_in_words(const course::Lesson& lesson, const course::Results* seeds,
                           const JudgedPrediction& told);

/// Does so for all that was kept of a lesson in another language.
void say_anew(const course::Lesson& lesson, LessonProgress& progress);

}  // namespace normscope::lessons
