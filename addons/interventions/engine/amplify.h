// A gradient multiplied by the deviation of rows.
#pragma once

#include "engine/tape/tape.h"

namespace normscope {

struct AmplifySpec {
  static constexpr OpKind kOp = OpKind::Amplify;
  float eps = 1e-5f;
  friend bool operator==(const AmplifySpec&, const AmplifySpec&) = default;
};

/// Records x (..,D) with another gradient, multiplied by the standard deviation of the same row of `of` (..,D):
///   out  =  x,  dx  =  sigma * dout,  sigma = sqrt(var(of) + eps)
/// `of` has no gradient by it. Before a norm that reads x, `of` = x takes away what the norm divides the gradient by.
ValueId amplify(Tape&, const std::string& name, ValueId x, ValueId of, float eps);

}  // namespace normscope
