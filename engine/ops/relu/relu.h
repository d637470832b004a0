// The rectified linear unit.
#pragma once

#include "engine/tape/tape.h"

namespace normscope {

/// relu records, of each number of x:
///   out  =  max(x, 0)
ValueId relu(Tape&, const std::string& name, ValueId x);

}  // namespace normscope
