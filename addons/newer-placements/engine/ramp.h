// A parameter that follows the steps: what sets it behind the optimizer.
#pragma once

#include "engine/tape/tape.h"

namespace normscope {

struct RampSpec {
  static constexpr OpKind kOp = OpKind::Ramp;
  int32_t steps = 1;
  friend bool operator==(const RampSpec&, const RampSpec&) = default;
};

/// Asks for it behind the optimizer's update of number t: every number of the parameter w becomes
///   w  =  min(1, t / steps)
/// Throws Error for less than one step.
void ramp(Tape&, const std::string& name, ValueId w, RampSpec);

}  // namespace normscope
