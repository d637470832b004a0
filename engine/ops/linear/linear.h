// A matrix product with an optional bias.
#pragma once

#include "engine/tape/tape.h"

namespace normscope {

struct LinearSpec {
  static constexpr OpKind kOp = OpKind::Linear;
  bool transposed = false;  ///< the weight is (N,K) and used as x W^T (tied output)
  friend bool operator==(const LinearSpec&, const LinearSpec&) = default;
};

/// out (..,N) = x (..,K) W (K,N) + b (N).  With transposed: W is (N,K), out = x W^T.  b may be kNone.
ValueId linear(Tape&, const std::string& name, ValueId x, ValueId weight, ValueId bias,
               bool transposed = false);

}  // namespace normscope
