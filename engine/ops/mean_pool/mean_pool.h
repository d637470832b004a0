// The mean over the positions of a row.
#pragma once

#include "engine/tape/tape.h"

namespace normscope {

/// out (B,T,D) = at every position the mean of x (B,T,D) over the positions of its row that count: those
/// before lengths (B) i32, or all without (kNone). A row of length 0 gives zeros.
ValueId mean_pool(Tape&, const std::string& name, ValueId x, ValueId lengths);

}  // namespace normscope
