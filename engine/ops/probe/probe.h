// A measurement that is no node: seal places it (Tape::probe).
#pragma once

#include "engine/tape/tape.h"

namespace normscope {

struct ProbeSpec {
  static constexpr OpKind kOp = OpKind::Probe;
  ProbeKind kind = ProbeKind::MeanSquare;
};

}  // namespace normscope
