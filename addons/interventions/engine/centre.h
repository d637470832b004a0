// What a batch has in common, taken out of a value, out of its gradient, or out of both.
#pragma once

#include "engine/tape/tape.h"

namespace normscope {

struct CentreSpec {
  static constexpr OpKind kOp = OpKind::Centre;
  bool value = true, gradient = true;
  friend bool operator==(const CentreSpec&, const CentreSpec&) = default;
};

/// Records x (B,T,D) less its mean over the batch, at each position and number; the gradient likewise:
///   out[b,t]  =  x[b,t] - value * mean over c of x[c,t],  dx[b,t]  =  dout[b,t] - gradient * mean over c of dout[c,t]
/// With both this is the derivative of the forward pass, with one of them it is not.
ValueId centre(Tape&, const std::string& name, ValueId x, CentreSpec);

}  // namespace normscope
