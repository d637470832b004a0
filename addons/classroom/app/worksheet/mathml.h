// Writes a formula as MathML, which browsers lay out and print by themselves. The prose of a worksheet calls
// it.
#pragma once

#include <string>

#include "app/tex/tex.h"

namespace normscope::course {

/// A <math> element. With `display` it is on a line of its own, and large operators have their limits
/// above and below.
std::string mathml(const tex::Formula& formula, bool display);

}  // namespace normscope::course
