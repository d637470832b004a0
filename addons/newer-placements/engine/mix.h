// Weighted sums of the parts of a position: how several streams are read, carried on and written.
#pragma once

#include "engine/tape/tape.h"

namespace normscope {

struct MixSpec {
  static constexpr OpKind kOp = OpKind::Mix;
  int32_t from = 1, to = 1;  ///< parts of a position of x and of out
  friend bool operator==(const MixSpec&, const MixSpec&) = default;
};

/// Records sums of the parts of each position, x (B,T,n,D), or (B,T,D), which is one part:
///   out_j  =  sum over i < n of w_ij x_i,   j < m
/// w has n m numbers, the same for all positions, or as many for each of them (B,T,..). out is (B,T,m,D), or (B,T,D)
/// for m = 1. Throws Error for other shapes.
ValueId mix(Tape&, const std::string& name, ValueId x, ValueId weights, int32_t to);

}  // namespace normscope
