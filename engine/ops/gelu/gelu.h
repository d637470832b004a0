// The Gaussian error linear unit.
#pragma once

#include "engine/tape/tape.h"

namespace normscope {

/// The tanh form: 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))  (Hendrycks and Gimpel 2016).
ValueId gelu(Tape&, const std::string& name, ValueId x);

}  // namespace normscope
