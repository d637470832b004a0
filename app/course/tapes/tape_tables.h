// [tape.NAME] of a lesson: a computation small enough to be followed by hand (training/measure/small_tape.h), its numbers
// by name, and what the curves of of = "tape" take of it. Called by the reader, the curves and the player.
//
// A field of a tape, for `over` and for knobs: "w", which is set where it is one number and otherwise multiplied, or
// "w[2]", the second of its numbers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/course/lesson.h"
#include "training/files/toml_table.h"

namespace normscope::course {

LessonTape read_tape(const std::string& id, Table t);
/// `over` with `xs`, or `steps` with `rate`, or neither.
void read_tape_axis(Curve& c, Table& t);

/// What stands in the field; 1 where it multiplies several, nothing for a field that the tape does not have.
std::optional<double> field_of_tape(const SmallTape& tape, const std::string& field);
void set_field_of_tape(SmallTape& tape, const std::string& field, double value);

/// "gradient w", "length gradient w", "mean value y", "gradient x . value y" (the sum of their products), the latter
/// three row by row. Empty where `y` is such a text, else what was expected.
std::string unknown_of_tape(const std::string& y);
/// Its numbers. Throws Error for a name that the tape does not have, and for a product of different shapes.
std::vector<double> quantity_of_tape(const SmallReplay& replay, const std::string& y);

/// Part of the lesson's definition, and of what `lesson show` says.
std::string definition_of(const LessonTape& tape);

/// What no single table can see: that the tapes run, and that curves, figures and knobs fit them. Throws Error.
void check_tapes(const Lesson& lesson, const Table& root);

}  // namespace normscope::course
