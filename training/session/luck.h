// "Is it luck?": the same run with other seeds, and what their losses say together. Internal to training/session.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/tape/backend.h"
#include "training/run/run_record.h"
#include "training/session/lab.h"

namespace normscope {

inline constexpr uint64_t kOtherSeeds = 4;  ///< of each card, in addition to its own

/// The wish for the losses of the run with the seed that comes `more` after its own, from step 0 on, as this backend
/// trains it: the other seeds have no checkpoint to go on from.
Wish with_other_seed(const RunIdentity& run, uint64_t more, const Backend& backend);

/// Mean, lowest and highest loss of each step over the runs that are finite there. Null without a run.
std::shared_ptr<const RunSpread> spread_of(const std::vector<std::shared_ptr<const RunRecord>>& runs);

}  // namespace normscope
