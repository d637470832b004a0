// A matrix product with an optional bias.
#pragma once

#include "engine/tape/tape.h"

namespace normscope {

struct LinearSpec {
  static constexpr OpKind kOp = OpKind::Linear;
  bool transposed = false;  ///< the weight is (N,K) and used as x W^T (tied output)
  friend bool operator==(const LinearSpec&, const LinearSpec&) = default;
};

/// Records a matrix product, x (..,K), W (K,N), out (..,N); b (N) may be kNone:
///   out  =  x W + b
///   out  =  x W^T + b          // transposed: W is (N,K)
ValueId linear(Tape&, const std::string& name, ValueId x, ValueId weight, ValueId bias,
               bool transposed = false);

/// Declares its parameters too, NAME.w (K,N) normal of variance 1/K and NAME.b (N) of zeros.
ValueId linear(Tape&, const std::string& name, ValueId x, int64_t outputs);

}  // namespace normscope
