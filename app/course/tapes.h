// A table [tape.NAME] of a lesson is a computation small enough to follow by hand (training/measure/small_tape.h).
// The reader reads it here, the curves with of = "tape" measure it, the player and the report tabulate it.
//
// `over` and knobs name a field of a tape: "w[2]" sets the second number of w; "w" sets w if it is one number, and
// multiplies all of its numbers otherwise.
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

/// Empty if `y` is a quantity of a tape: "gradient w", or row by row "length gradient w", "mean value y" and
/// "gradient x . value y" (the sum of products). Otherwise the list of what was expected.
std::string expected_of_tape(const std::string& y);

/// The tape as text: a part of the lesson's definition() and of the output of `lesson show`.
std::string definition_of(const LessonTape& tape);

/// Checks that no tape has a run's name, and that curves, figures and knobs fit the tape they name. Throws Error.
void check_tapes(const Lesson& lesson, const Table& root);

// ---- replays of a tape: the curves with of = "tape" (course/curves.h), and the table of instructions that the player
// and the report show

/// A tape with the learner's changes (tape id -> field -> value). Throws Error for an id that is not a tape of the
/// lesson.
SmallTape tape_of(const Lesson& lesson, const std::string& id, const Changes& changes);

/// Measures a curve. Its x is the field's values, the steps, or 1, 2, 3, ... along the numbers of `y`.
CurveData measure_tape(const Lesson& lesson, const Curve& curve, const Changes& changes);

/// A row of the table: a number or an instruction, with the known part of its value and gradient. Each matrix row is
/// one text; a column vector is one text too.
struct TapeRow {
  std::string name, what;  ///< "h", "x × u"
  std::vector<std::string> value, gradient;
  bool now = false;  ///< written by the instruction that ran last
};
/// Splits the text of a matrix row, as in TapeRow::value, into its numbers.
std::vector<std::string> numbers_in(const std::string& line);
/// A tape after the first `done` of `lines` instructions; the first `forward` of them are the forward pass.
struct TapeTable {
  std::vector<TapeRow> rows;  ///< the given numbers, then the instructions; before a loss its probabilities
  size_t done = 0, forward = 0, lines = 0;
  std::string said;  ///< the last instruction in words: "h = x × u", "back through y: gradient of s"
};
/// Makes the table in the language of `words`. Computed numbers have `digits` digits, given ones appear as written.
TapeTable table_of_tape(const SmallTape& tape, size_t done, const Words& words = words::language("en"),
                        int digits = 3);

/// The cells for HTML or Markdown: a header, then a line per TapeRow; "" where unknown, <br> between matrix rows.
std::vector<std::vector<std::string>> cells_of_tape(const TapeTable& table);

/// Turns each row of scores into probabilities.
std::vector<float> softmax(const SmallValue& scores);

/// How line `line` of a replay computed one number: forward "f₂ = r × w₂ = 4 × 1 = 4", backward "gradient of w₂
/// = gradient of f₂ × r = −0.164 × 4 = −0.656". The player shows it beside the drawn network
/// (pictures/pictures.h). `place` is the number's index, from 1; a shorter row is followed at its last number.
/// Empty for a product of two matrices and for the backward pass of a detaching norm: neither fits one line.
std::string followed(const SmallTape& tape, const SmallReplay& replay, size_t line, size_t place,
                     const Words& words);

}  // namespace normscope::course
