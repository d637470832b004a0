// [tape.NAME] of a lesson is a computation small enough to follow by hand (training/measure/small_tape.h): its numbers
// by name, and what the curves of of = "tape" take of it. The reader, the curves and the player call this.
//
// A field of a tape, for `over` and for knobs, is "w", which is set where it is one number and multiplied otherwise, or
// "w[2]", the second of its numbers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/course/curves.h"
#include "app/course/lesson.h"
#include "training/io/toml.h"
#include "training/measure/small_tape.h"

namespace normscope::course {

LessonTape read_tape(const std::string& id, Table t);
/// Reads `over` with `xs`, or `steps` with `rate`, or neither.
void read_tape_axis(Curve& c, Table& t);

/// The field's number; 1 where the field multiplies several numbers, nothing for a field that the tape does not have.
std::optional<double> field_of_tape(const SmallTape& tape, const std::string& field);

/// Empty where `y` is one of "gradient w", "length gradient w", "mean value y", "gradient x .
/// value y" (the sum of their products), the last three row by row. Otherwise it says what was expected.
std::string unknown_of_tape(const std::string& y);

/// Part of the lesson's definition, and of what `lesson show` says.
std::string definition_of(const LessonTape& tape);

/// Checks what no single table can see: that the tapes run, and that curves, figures and knobs fit them. Throws Error.
void check_tapes(const Lesson& lesson, const Table& root);

// ---- what a tape comes to, measured by replaying it: curves of of = "tape" (course/curves.h), and the table in which
// the player and the report show its instructions

/// A tape with the learner's changes: its id -> field -> value. Throws Error for an id that is not a tape of
/// the lesson.
SmallTape tape_of(const Lesson& lesson, const std::string& id, const Changes& changes);

/// Measures a curve. Its x is the field's values, the steps, or 1, 2, 3, ... along the numbers of `y`.
CurveData measure_tape(const Lesson& lesson, const Curve& curve, const Changes& changes);

/// A number or an instruction with what is known of it: a text for each row of its numbers. A column is
/// shown in one row.
struct TapeRow {
  std::string name, what;  ///< "h", "x × u"
  std::vector<std::string> value, gradient;
  bool now = false;  ///< written by the last line
};
/// Takes the text of a row apart into its numbers.
std::vector<std::string> numbers_in(const std::string& line);
/// The tape after the first `done` of `lines` instructions, `forward` of which run forward.
struct TapeTable {
  std::vector<TapeRow> rows;  ///< the given numbers, then the instructions; before a loss its probabilities
  size_t done = 0, forward = 0, lines = 0;
  std::string said;  ///< what the last one did: "h = x × u", "back through y: gradient of s"
};
/// Makes the table in the language of `words`, with so many digits of what was computed.
TapeTable table_of_tape(const SmallTape& tape, size_t done, const Words& words = words::language("en"),
                        int digits = 3);

/// The table of a page: a head, then one line per row; "" where nothing is known, <br> between rows of numbers.
std::vector<std::vector<std::string>> cells_of_tape(const TapeTable& table);

/// Turns each row of scores into shares that add up to one.
std::vector<float> softmax(const SmallValue& scores);

/// How one number of a tape came about in one of its lines, with the numbers that went in: forward
/// "f₂ = r × w₂ = 4 × 1 = 4", backward "gradient of w₂ = gradient of f₂ × r = −0.164 × 4 = −0.656". The player shows it
/// beside the drawn network (pictures/network.h). Follows place `place`, from 1, through line `line` of the replay.
/// Where what the line writes has no such place, it follows its only number. It is empty for a product of two
/// matrices and for a norm that detaches, which no one-line formula holds.
std::string followed(const SmallTape& tape, const SmallReplay& replay, size_t line, size_t place,
                     const Words& words);

}  // namespace normscope::course
