// The sheet prose is a lesson's prose on paper. See sheet.h.
#pragma once

#include <string>

#include "app/course/worksheet/sheet.h"

namespace normscope::course {

/// `prose_html` returns the text of a step as HTML. For the student a measured number is a blank. A sentence in several
/// forms becomes a question with its forms to tick, in alphabetical order, which gives nothing away. {ref NAME} in
/// Predict, the point from which a drawing starts, is given.
std::string prose_html(const Sheet& sheet, StepKind step);

}  // namespace normscope::course
