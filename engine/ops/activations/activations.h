// The activations: each looks at one number of x at a time, and out has the shape of x.
#pragma once

#include "engine/tape/tape.h"

namespace normscope {

/// relu records the rectified linear unit:
///   out  =  max(x, 0)
ValueId relu(Tape&, const std::string& name, ValueId x);

/// gelu records the Gaussian error linear unit in its tanh form (Hendrycks and Gimpel 2016):
///   out  =  0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
ValueId gelu(Tape&, const std::string& name, ValueId x);

}  // namespace normscope
