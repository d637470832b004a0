// A lesson's prose on paper. See sheet.h.
#pragma once

#include <string>

#include "app/course/worksheet/sheet.h"

namespace normscope::course {

/// The text of a step as HTML. For the student a measured number is a blank, and a sentence in several forms is a
/// question: its forms to tick, in the order of their letters, so that the order tells nothing. {ref NAME} in Predict,
/// the point from which a drawing starts, is given.
std::string prose_html(const Sheet& sheet, StepKind step);

}  // namespace normscope::course
