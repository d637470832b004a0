// The product of two tensors, number by number.
#pragma once

#include "engine/tape/tape.h"

namespace normscope {

/// Records the gate of a feed-forward network: act(x W_g) times x W_1, say; a, b and out of one shape:
///   out  =  a * b
/// Throws Error for two shapes. One value may stand on both sides.
ValueId multiply(Tape&, const std::string& name, ValueId a, ValueId b);

}  // namespace normscope
