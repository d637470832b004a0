// The window behind every number that is called a run's loss at a step: one definition for cards, plots, tables,
// logs and stored results, so that one run has one loss at one step wherever it stands.
//
// The verdict's own mean of 20 (measure/plateau.h) decides when a run learns and is shown nowhere.
#pragma once

#include <cstdint>
#include <vector>

#include "training/spec/spec.h"

namespace normscope {

/// Stored results are means of so many: another number needs another name of their measurement.
inline constexpr int32_t kLossWindow = 25;

/// The number of losses, up to the one of `step`, that the loss of a run at that step is the mean of: kLossWindow, or
/// as many as there are since the run began or since its network was changed last. The losses before such a change
/// are another network's.
int32_t loss_window(int32_t step, const std::vector<Edit>& edits);

}  // namespace normscope
