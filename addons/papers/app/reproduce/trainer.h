// The trainer trains what claims need and judges them, as studies with a store of results: a run in the
// store is not trained again, a shard trains its part. The store also keeps
// numbers of fresh models. The command and the tests call it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "addons/papers/app/reproduce/finding.h"
#include "addons/papers/app/reproduce/plan.h"
#include "training/experiments/study.h"

namespace normscope::reproduce {

struct Visit {
  std::vector<Outcome> outcomes;  ///< one a claim
  std::vector<RunSpec>
      missing;  ///< runs that the store lacked and this shard trains, what they start from included
  int32_t trained = 0, stored = 0;  ///< different runs
  bool complete = true;             ///< false: stopped
};

/// Leaves a claim Unknown, with the reason, where one of its runs could not be trained. Throws Error when the
/// store cannot be written.
Visit visit(const std::vector<const Claim*>& claims, const Seeds& seeds, experiments::ResultStore& store,
            const experiments::RunnerOptions& options, const experiments::OnProgress& on_progress);

}  // namespace normscope::reproduce
