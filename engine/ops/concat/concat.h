// Positions behind positions.
#pragma once

#include "engine/tape/tape.h"

namespace normscope {

/// concat records the positions of a (B,Ta,D), then those of b (B,Tb,D), as out (B,Ta+Tb,D):
///   out[n,t]  =  a[n,t] for t < Ta, else b[n,t-Ta]
/// Throws Error for other shapes, and for one value under both.
ValueId concat(Tape&, const std::string& name, ValueId a, ValueId b);

}  // namespace normscope
