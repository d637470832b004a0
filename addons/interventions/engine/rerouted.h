// Ops whose gradient is not the derivative of their value: it is multiplied by the deviation of rows, or keeps another
// share of what a batch has in common, or of what differs within it.
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

/// Shares that are kept of a value: of what the batch has in common, and of what differs within it.
struct Shares {
  float common = 1, differing = 1;
  bool operator==(const Shares&) const = default;
};

struct ReweighSpec {
  static constexpr OpKind kOp = OpKind::Reweigh;
  Shares value = {}, gradient = {};
  bool tokens = false;  ///< in common is the mean over all tokens of the batch, and not one at each position
  friend bool operator==(const ReweighSpec&, const ReweighSpec&) = default;
};

/// Records x (B,T,D) with shares of its two parts, and the gradient likewise, with m the mean of its argument over the
/// batch, at each position or over all tokens:
///   out  =  differing * (x - m) + common * m,  dx  =  the same of dout with the gradient's shares
/// Where value and gradient have the same shares this is the derivative of the forward pass, elsewhere it is not.
ValueId reweigh(Tape&, const std::string& name, ValueId x, ReweighSpec);

}  // namespace normscope
