// Dropout by a mask that is a function of site, step and element.
#pragma once

#include "engine/tape/tape.h"

namespace normscope {

struct DropoutSpec {
  static constexpr OpKind kOp = OpKind::Dropout;
  DropoutKind kind = DropoutKind::Residual;
  uint32_t site = 0;  ///< site_of(name)
  friend bool operator==(const DropoutSpec&, const DropoutSpec&) = default;
};

/// Records, with keep (1 or 0 for each number) drawn by Philox at site_of(name), the same in both passes:
///   out  =  x * keep * StepInputs.dropout[kind].scale
ValueId dropout(Tape&, const std::string& name, ValueId x, DropoutKind kind);

}  // namespace normscope
