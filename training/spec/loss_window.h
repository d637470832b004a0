// The loss window is behind every number that is called a run's loss at a step. It is one definition for cards,
// plots, tables, logs and stored results, so that one run has one loss at one step everywhere.
//
// The verdict's own mean of 20 (measure/verdict.h) decides when a run learns and is shown nowhere.
#pragma once

#include <cstdint>
#include <vector>

#include "training/spec/spec.h"

namespace normscope {

/// The number of losses in the mean. Stored results are such means: another number requires another
/// name of their measurement.
inline constexpr int32_t kLossWindow = 25;

/// The number of losses, up to the loss of `step`, in the mean that is the run's loss at that step:
/// kLossWindow, or fewer where the run began or its network was last changed more recently. Losses before such a
/// change are another network's.
int32_t loss_window(int32_t step, const std::vector<Edit>& edits);

}  // namespace normscope
