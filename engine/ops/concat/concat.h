// Positions behind positions.
#pragma once

#include "engine/tape/tape.h"

namespace normscope {

/// out (B,Ta+Tb,D) = the positions of a (B,Ta,D), then those of b (B,Tb,D). Throws Error
/// for other shapes, and for one value under both.
ValueId concat(Tape&, const std::string& name, ValueId a, ValueId b);

}  // namespace normscope
