// [tape.NAME] of a lesson is a computation small enough to follow by hand (training/measure/small_tape.h): its numbers
// by name, and what the curves of of = "tape" take of it. The reader, the curves and the player call this.
//
// A field of a tape, for `over` and for knobs, is "w", which is set where it is one number and multiplied otherwise, or
// "w[2]", the second of its numbers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/course/lesson.h"
#include "training/io/toml_table.h"

namespace normscope::course {

LessonTape read_tape(const std::string& id, Table t);
/// Reads `over` with `xs`, or `steps` with `rate`, or neither.
void read_tape_axis(Curve& c, Table& t);

/// The field's number; 1 where the field multiplies several numbers, nothing for a field that the
/// tape does not have.
std::optional<double> field_of_tape(const SmallTape& tape, const std::string& field);
void set_field_of_tape(SmallTape& tape, const std::string& field, double value);

/// Empty where `y` is one of "gradient w", "length gradient w", "mean value y", "gradient x .
/// value y" (the sum of their products), the last three row by row. Otherwise it says what was expected.
std::string unknown_of_tape(const std::string& y);
/// The numbers that `y` names. Throws Error for a name that the tape does not have, and for
/// a product of different shapes.
std::vector<double> quantity_of_tape(const SmallReplay& replay, const std::string& y);

/// Part of the lesson's definition, and of what `lesson show` says.
std::string definition_of(const LessonTape& tape);

/// Checks what no single table can see: that the tapes run, and that curves, figures and knobs fit them.
/// Throws Error.
void check_tapes(const Lesson& lesson, const Table& root);

}  // namespace normscope::course
