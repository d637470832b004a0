// The Gaussian error linear unit.
#pragma once

#include "engine/tape/tape.h"

namespace normscope {

/// gelu records the tanh form (Hendrycks and Gimpel 2016) of each number of x, out of the shape of x:
///   out  =  0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
ValueId gelu(Tape&, const std::string& name, ValueId x);

}  // namespace normscope
