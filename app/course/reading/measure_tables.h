// The tables that say what is trained, what is measured and when it holds, [run.NAME], [curve.NAME], [measure.NAME] and
// [[check]]: one language for lessons and for the claims of papers. Called by the readers of both (course/reader.h,
// reproduce/claim_reader.h). Errors as reader.h has them.
#pragma once

#include <string>

#include "app/course/lesson.h"
#include "training/files/toml_table.h"

namespace normscope::course {

/// Its name, its edits, and any field of the specification, set in the order of the table of fields.
LessonRun read_run(const std::string& id, Table t);
Mean mean_of(Table& t);  ///< its key "mean"
Curve read_curve(const std::string& id, Table t);
Measure read_measure(const std::string& id, Table t);
/// With its neighbouring hypotheses. Keys of the table that were read before it are not unknown to it.
Check read_check(Table t);

/// What lies at a bound of its measurement is shown as "at least" or "at most" so much: which bounds each measure has.
void set_bounds(Lesson& lesson);
/// Every curve and measure that a measure or a check names is in the lesson, and what may end at a bound
/// of its measurement (can_be_cut in measures.h) is counted or has a median, and is not averaged. Throws Error.
void check_measures(const Lesson& lesson, const Table& root);

}  // namespace normscope::course
