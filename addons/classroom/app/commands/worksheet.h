// A lesson to print: one self-contained page of HTML for A4 and Letter, without a script. All words about the lesson
// are its own prose, labels and settings. normscope lesson worksheet calls it.
#pragma once

#include "app/course/check.h"

namespace normscope::course {

/// Prints the steps predict, run, compare and explain: prose, axes, tables to fill in, and commands that repeat it.
/// `kept` is measured.json; without it the starting point of a drawing is unknown. With `answers`, the teacher's copy,
/// the blanks hold the measurements, and the claim and its checks follow at the end. Without, it holds only the
/// measured numbers that the lesson itself gives before the prediction. `folder` is where the commands on the page
/// look for lessons; empty: the course's folder. Throws Error for answers that were not measured.
std::string worksheet(const Lesson& lesson, const std::optional<Results>& kept, bool answers,
                      const std::string& folder = "");

// Writes a formula as MathML, which browsers lay out and print by themselves. The prose of a worksheet calls it.

/// A <math> element. With `display` it is on a line of its own, and large operators have their limits above and below.
std::string mathml(const tex::Formula& formula, bool display);

}  // namespace normscope::course
