// Positions behind positions, and parts of a position behind its others.
#pragma once

#include "engine/tape/tape.h"

namespace normscope {

struct ConcatSpec {
  static constexpr OpKind kOp = OpKind::Concat;
  bool parts = false;  ///< of positions, in place of positions
  friend bool operator==(const ConcatSpec&, const ConcatSpec&) = default;
};

/// Records the positions of a (B,Ta,D) followed by the positions of b (B,Tb,D), as out (B,Ta+Tb,D):
///   out[n,t]  =  a[n,t] for t < Ta, else b[n,t-Ta]
/// Throws Error for other shapes, and for one value under both.
ValueId concat(Tape&, const std::string& name, ValueId a, ValueId b);

/// Records, at every position, the parts of `parts` (B,T,n,D), or (B,T,D), which is one, then `part` (B,T,D), as
/// out (B,T,n+1,D). Throws Error for other shapes, and for one value under both.
ValueId append(Tape&, const std::string& name, ValueId parts, ValueId part);

}  // namespace normscope
