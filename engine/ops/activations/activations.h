// The activations, and the soft cap of logits: each looks at one number of x at a time, and out has the shape of x.
#pragma once

#include "engine/tape/tape.h"

namespace normscope {

/// Records the rectified linear unit:
///   out  =  max(x, 0)
ValueId relu(Tape&, const std::string& name, ValueId x);

/// Records the Gaussian error linear unit in its tanh form (Hendrycks and Gimpel 2016):
///   out  =  0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
ValueId gelu(Tape&, const std::string& name, ValueId x);

/// Records the Gaussian error linear unit itself, where gelu is its tanh form (Hendrycks and Gimpel 2016):
///   out  =  x Phi(x)  =  0.5 x (1 + erf(x / sqrt(2)))
ValueId gelu_erf(Tape&, const std::string& name, ValueId x);

/// Records the sigmoid linear unit, which is also called swish (Elfwing et al. 2017):
///   out  =  x sigmoid(x)  =  x / (1 + exp(-x))
ValueId silu(Tape&, const std::string& name, ValueId x);

struct SoftCapSpec {
  static constexpr OpKind kOp = OpKind::SoftCap;
  float cap = 1.0f;
  friend bool operator==(const SoftCapSpec&, const SoftCapSpec&) = default;
};

/// Records what bends x smoothly into (-cap, cap), as Gemma 2 does with logits:
///   out  =  cap tanh(x / cap)
/// Throws Error unless the cap is above zero and finite.
ValueId soft_cap(Tape&, const std::string& name, ValueId x, float cap);

}  // namespace normscope
