// The size at which a whole training takes a fraction of a second, so that it can be done again at every change. It
// shows what placements do: with three seeds each, Post-LN without a warm-up stays at letter frequencies, and Post-LN
// with one and Pre-LN learn, as they do at the usual size.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/core/error.h"
#include "training/spec/spec.h"

namespace normscope {

/// Why the run has no small size; empty: it has one. Only a transformer that starts with fresh weights has one.
Message without_small_size(const RunSpec& spec);
/// The run at width 32, feed-forward width 64, with two heads, sequences of 16 in batches of 8, for 200 steps. The
/// number of layers stays, as users study its effect. The rate is 5/3 as high, where three seeds tell the placements
/// apart, and the steps of its schedule two thirds, as the budget is.
RunSpec at_small_size(RunSpec spec);
/// The same settings at the default sizes, the way back.
RunSpec at_usual_size(RunSpec spec);

/// The number of seeds with which a run learns, and the number that was tried.
struct SeedsThatLearn {
  int32_t learn = 0, tried = 0;
};
/// A run whose verdict differs between the sizes: all, some or none of its seeds learn.
struct SizesDisagree {
  RunSpec run;  ///< at the small size
  SeedsThatLearn usual, small;
};
/// All such runs that were measured: the rows of small_verdicts.def, and the add-ons' rows for their placements.
const std::vector<SizesDisagree>& where_sizes_disagree();
/// The row of this run, whatever its seed; null where the sizes agree, and where none was measured.
const SizesDisagree* sizes_disagree(RunSpec small);

}  // namespace normscope
