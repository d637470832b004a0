// The prose of a lesson: Markdown (md4c) with formulas between dollar signs and these marks between braces:
//   {A}              the letter tile of run A
//   {value NAME}     a measure, from the learner's own run (a dash before it)
//   {band NAME}      the same from the course's reference runs: mean and range over seeds (measured.json)
//   {ref NAME}       the mean over the reference runs, without the range
//   {drag NAME}      the number of a knob, to be dragged; it acts on the run
//   {text A}         what the model of run A writes, on a line of its own
//   {name A}         the label of run A, with the settings in which the runs differ
//   {lesson ID}      a ring with the number of a lesson, which opens it (only in so-why.md, see reader.h)
//   {cut KEY=VALUE}  settings that cut an arrow of the picture of causes, joined by ';' (only there as well)
//   {if NAME < 3} ... {else if OTHER >= 1 and NAME > 5} ... {else} ... {end}
//                    a sentence in several forms: the first whose conditions hold is shown
//   {if changed} ... holds while a setting of the learner's own is shown
//   {always} ... {end}  a sentence that is true whatever is measured
//   {task FIGURE MEASURE ...} ... {end}  the same, and asks the learner to work something out from what the figure
//                    shows; the measures are its answers, if they are told later (reader.h checks them)
// Read once with the lesson; formulas are parsed then, so that a mistake is reported when the file is read and not
// when it is drawn.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/tex/tex.h"

namespace normscope::course {

/// Takes a measure's place in a Condition such as "fall_A >= 1000": true while a setting of the learner's own is
/// shown.
inline constexpr const char* kChanged = "changed";
struct Condition {
  std::string measure, sign;  ///< "<", "<=", ">", ">="
  double limit = 0;
  bool holds(double value) const;  ///< false for a value that could not be measured
};

struct Inline {
  /// If, Otherwise, Always, Task and End only mark where the forms of a sentence begin and end.
  enum class Kind : uint8_t {
    Text,
    Formula,
    Tile,
    Value,
    Band,
    Reference,
    Drag,
    Sample,
    Name,
    Lesson,
    Cut,
    If,
    Otherwise,
    Always,
    Task,
    End
  } kind = Kind::Text;
  std::string text{};  ///< the words of a Text; otherwise the name
  bool strong = false;
  std::vector<Condition> conditions{};  ///< of an If; of an Otherwise, none for {else}
  std::vector<std::string> answers{};  ///< of a Task, whose text is the figure: measures told on a later page
  tex::Formula formula{};
  int line = 0;  ///< in the file
};

/// Whether a sentence in several forms, or one that is always true, begins here.
inline bool opens(Inline::Kind kind) {
  return kind == Inline::Kind::If || kind == Inline::Kind::Always || kind == Inline::Kind::Task;
}

struct Block {
  /// Numbered: an item of a numbered list.
  enum class Kind : uint8_t {
    Paragraph,
    Heading,
    Item,
    Numbered,
    Note,
    Display,
    Rule
  } kind = Kind::Paragraph;
  std::vector<Inline> inlines;  ///< Display: one formula, then words to its right
};

struct Prose {
  std::string file;
  std::vector<Block> blocks;
  /// Counts the words as read: a formula, a number and a tile count as one, and of a sentence in several forms
  /// the longest form counts.
  int32_t words() const;
  /// Returns the blocks above the first heading and the blocks below; the heading itself is in neither.
  std::pair<Prose, Prose> at_heading() const;
};

/// Gives a measure's number, or nothing while it is not measured.
using Number = std::function<std::optional<double>(const std::string& measure)>;
/// A block as the learner reads it: of each sentence in several forms only the form that holds, without the marks.
/// `unknown` replaces a sentence whose condition needs a missing number.
std::vector<Inline> read_as(const std::vector<Inline>& inlines, const Number& number,
                            const std::string& unknown);

/// Throws Error as "FILE:LINE: what is wrong: expected ...".
Prose parse_prose(std::string_view markdown, const std::string& file);

}  // namespace normscope::course
