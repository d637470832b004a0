// A lesson to print: one page of HTML with everything in it and nothing that runs, for A4 and Letter. All words about
// the lesson are its own prose, labels and settings. Called by normscope lesson worksheet.
#pragma once

#include <optional>
#include <string>

#include "app/course/check/check.h"
#include "app/course/lesson.h"

namespace normscope::course {

/// Predict, run, compare, explain: prose, axes, tables to fill in, and how to do it again in a terminal. `kept`:
/// measured.json; without it nothing is known of where a drawing starts. With `answers`, the teacher's copy, what was
/// measured stands in the blanks, with the claim and its checks at the end; without, no number that was measured is in
/// it but those that the lesson itself gives before the prediction. `folder`: of the lessons, as the commands on the
/// page name it; empty: the course's. Throws Error for answers that were not measured.
std::string worksheet(const Lesson& lesson, const std::optional<Results>& kept, bool answers,
                      const std::string& folder = "");

}  // namespace normscope::course
