// The unigram entropy under label smoothing. See Task and unigram_cross_entropy.
#pragma once

#include <cstdint>

#include "training/data/task.h"

namespace normscope {

// unigram_cross_entropy in the loss of a run with label smoothing s: the frequencies become (1 - s) p + s /
// V, the best that a model which knows nothing else can say then, and each target counts as the loss counts
// it, 1 - s for itself and s / V for every symbol.
double smoothed_unigram_cross_entropy(const Task& task, uint64_t seed, uint64_t first_step,
                                      uint64_t last_step, int32_t B, int32_t T, double smoothing);

}  // namespace normscope
