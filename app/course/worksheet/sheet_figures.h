// The sheet figures are figures on paper: axes for the student to draw on, and what was measured for the teacher. See
// sheet.h.
#pragma once

#include <string>

#include "app/course/worksheet/sheet.h"

namespace normscope::course {

/// `figures_html` returns the figures of a step as inline SVG, each with what is to be drawn in it. Each is printed
/// once: Run has none, and Explain has only those that Compare lacks. Predict has its first figure alone, empty in both
/// copies except for the point where a drawing starts. A map of shares cannot be drawn by hand, so only the teacher's
/// copy has it.
std::string figures_html(const Sheet& sheet, StepKind step);

}  // namespace normscope::course
