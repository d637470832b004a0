// A formula as MathML, which browsers set and print by themselves. Called by the prose of a worksheet.
#pragma once

#include <string>

#include "app/tex/tex.h"

namespace normscope::course {

/// A <math> element. `display`: on a line of its own, large operators with their limits above and below.
std::string mathml(const tex::Formula& formula, bool display);

}  // namespace normscope::course
