// What a learner does beside the prediction: [[say]], sentences to complete, and [challenge], a task for a run of the
// learner's own. Called by the reader of lessons (course/reader.h). Errors as reader.h has them.
#pragma once

#include <vector>

#include "app/course/lesson.h"
#include "training/files/toml_table.h"

namespace normscope::course {

/// None, or three.
std::vector<Say> read_says(Table& root);
Challenge read_challenge(Table t);

/// The start is above the line, every measured way below it and within what is offered, and no text or figure before
/// the end waits for a way. Throws Error.
void check_challenge(const Lesson& lesson, const Table& root);

/// The curve is of a way: measured with the lesson, and not when a learner does it.
bool of_way(const Lesson& lesson, const Curve& curve);
bool of_way(const Lesson& lesson, const Measure& measure);

}  // namespace normscope::course
