// The measure tables say what is trained, what is measured and when it holds: [run.NAME], [curve.NAME], [measure.NAME]
// and [[check]]. Lessons use these tables, and whatever else judges claims. Errors are as in reader.h.
#pragma once

#include <string>

#include "app/course/lesson.h"
#include "training/io/toml_table.h"

namespace normscope::course {

/// Reads a run's name, its edits, and any field of the specification; fields are set in the order of the
/// table of fields.
LessonRun read_run(const std::string& id, Table t);
Mean mean_of(Table& t);  ///< its key "mean"
Curve read_curve(const std::string& id, Table t);
Measure read_measure(const std::string& id, Table t);
/// Reads a check with its neighbouring hypotheses. It accepts keys of the table that were read before it.
Check read_check(Table t);

/// What a checker of a lesson begins with once all its tables are read: refuse() throws Error at
/// [table.key], and need() refuses there what was not found.
class TableChecker {
 public:
  TableChecker(const Lesson& lesson, const Table& root) : lesson_(lesson), root_(root) {}

 protected:
  [[noreturn]] void refuse(const std::string& table, const std::string& key, const std::string& what) const;
  void need(const void* found, const std::string& table, const std::string& key, const std::string& name,
            const char* what) const;

  const Lesson& lesson_;
  const Table& root_;
};

/// Finds the bounds of each measure: a value at a bound of its measurement is shown as "at least" or "at
/// most" so much.
void set_bounds(Lesson& lesson);
/// Requires that every curve and measure named by a measure or check is in the lesson. A measure that
/// may end at a bound of its measurement (can_be_cut in measures.h) must be counted or have a median, because a mean of
/// such values is unknown. Throws Error.
void check_measures(const Lesson& lesson, const Table& root);

}  // namespace normscope::course
