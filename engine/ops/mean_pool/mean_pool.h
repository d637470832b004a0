// The mean over the positions of a row.
#pragma once

#include "engine/tape/tape.h"

namespace normscope {

/// Records at every position the mean over the positions of the row that count, x and out (B,T,D):
///   out[b,t]  =  1/n_b * sum over s < n_b of x[b,s]
/// n_b is lengths[b], of lengths (B) i32, or T without lengths (kNone). A row of length 0 gives zeros.
ValueId mean_pool(Tape&, const std::string& name, ValueId x, ValueId lengths);

}  // namespace normscope
