// The residual sum of a sub-layer.
#pragma once

#include "engine/tape/tape.h"

namespace normscope {

struct AddSpec {
  static constexpr OpKind kOp = OpKind::Add;
  float skip = 1.0f, branch = 1.0f;  ///< constant scales (learned ones are inputs)
  friend bool operator==(const AddSpec&, const AddSpec&) = default;
};

/// A constant, or a learned parameter of shape (1) or (D); then the constant is ignored.
struct ResidualScale {
  float constant = 1.0f;
  ValueId learned = kNone;
};
/// Records the residual sum of a sub-layer; x, f and out (..,D):
///   out  =  skip * x + branch * f
ValueId add(Tape&, const std::string& name, ValueId x, ValueId f, ResidualScale skip = {},
            ResidualScale branch = {});

}  // namespace normscope
