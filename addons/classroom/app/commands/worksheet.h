// A lesson to print: one page of HTML for A4 and Letter with everything in it and no script. All words
// about the lesson are its own prose, labels and settings. normscope lesson worksheet calls it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "app/course/check.h"
#include "app/course/lesson.h"
#include "app/tex/tex.h"

namespace normscope::course {

/// Prints the steps predict, run, compare and explain: prose, axes, tables to fill in, and how to repeat it
/// in a terminal. `kept` is measured.json; without it the starting point of a drawing is unknown. With `answers`, the
/// teacher's copy, the blanks hold the measurements, and the claim and its checks follow at the end. Without, it holds
/// only the measured numbers that the lesson itself gives before the prediction. `folder` is where the commands on the
/// page look for lessons; empty: the course's folder. Throws Error for answers that were not measured.
std::string worksheet(const Lesson& lesson, const std::optional<Results>& kept, bool answers,
                      const std::string& folder = "");

// All parts of a worksheet take their numbers from its sheet: a measured one in the teacher's copy, a blank in
// the student's. A part that shows a number in any other way gives the answer away: test_worksheet changes
// all numbers and expects the same student's copy.

struct Sheet {
  const Lesson& lesson;
  const Results* kept = nullptr;  ///< measured.json; null: there is none
  bool answers = false;           ///< the teacher's copy

  /// The measure over the seeds that were kept; null: not measured.
  const Spread* spread(const std::string& measure) const;
  /// The mean with its unit, marked as an answer; or a blank followed by the unit.
  std::string mean(const std::string& measure) const;
  /// The same with the range over the seeds.
  std::string range(const std::string& measure) const;
  /// Shows the text as an answer, or a blank.
  std::string answer(const std::string& text, std::string_view unit = {}) const;
};

/// A line to write on.
inline constexpr std::string_view kBlank = "<span class=\"blank\"></span>";
/// A box to tick.
inline constexpr std::string_view kBox = "<span class=\"box\"></span>";
std::string lines_to_write(int count);

/// Wraps HTML in an element, with `style` as its class unless it is empty.
std::string element(std::string_view name, std::string_view inside, std::string_view style = {});

/// The text of a step as HTML. For the student a measured number is a blank, and a sentence in several forms is a
/// question: its forms to tick, in the order of their letters, so that the order tells nothing. {ref NAME} in Predict,
/// the point from which a drawing starts, is given.
std::string prose_html(const Sheet& sheet, StepKind step);

/// The figures of a step as inline SVG, each with its lines to be drawn, and each once: Run has none, Explain the ones
/// that Compare lacks. Predict has its first figure alone, empty in both copies but for the start of a drawing. A map
/// of shares and a walk cannot be drawn by hand: they are the teacher's only.
std::string figures_html(const Sheet& sheet, StepKind step);

// Writes a formula as MathML, which browsers lay out and print by themselves. The prose of a worksheet calls
// it.

/// A <math> element. With `display` it is on a line of its own, and large operators have their limits
/// above and below.
std::string mathml(const tex::Formula& formula, bool display);

}  // namespace normscope::course
