// Figures on paper: axes to draw on for the student, what was measured for the teacher. See sheet.h.
#pragma once

#include <string>

#include "app/course/worksheet/sheet.h"

namespace normscope::course {

/// The figures of a step as inline SVG, each with what is to be drawn in it, and each once: Run has none, Explain those
/// that Compare has not. Predict has its first figure alone, empty in both copies but for where a drawing starts. A map
/// of shares cannot be drawn by hand: it is the teacher's only.
std::string figures_html(const Sheet& sheet, StepKind step);

}  // namespace normscope::course
