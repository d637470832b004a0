// Ops whose gradient is not the derivative of their value: it is multiplied by the deviation of rows, or loses the mean
// over a batch.
#pragma once

#include "engine/tape/tape.h"

namespace normscope {

struct AmplifySpec {
  static constexpr OpKind kOp = OpKind::Amplify;
  float eps = 1e-5f;
  float divisor = 1;  ///< above 0
  friend bool operator==(const AmplifySpec&, const AmplifySpec&) = default;
};

/// Records x (..,D) with another gradient, multiplied by the standard deviation of the same row of `of` (..,D):
///   out  =  x,  dx  =  sigma / divisor * dout,  sigma = sqrt(var(of) + eps)
/// `of` gets no gradient from it. Before a norm that reads x, `of` = x cancels the norm's division of the gradient.
ValueId amplify(Tape&, const std::string& name, ValueId x, ValueId of, AmplifySpec);

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
