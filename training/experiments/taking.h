// Measures a Taken of a run while it trains, or after the fact from a state that was kept. Called by study.cpp and by
// run_store.cpp.
#pragma once

#include <functional>
#include <memory>

#include "training/experiments/runner.h"
#include "training/experiments/taken.h"

namespace normscope::experiments {

/// What a Taking tells of its run, from the thread that trains it or finds it; each may be empty.
struct TakingHooks {
  std::function<bool(const Run&)> stepped{};  ///< behind every step; false: stop
  /// The run at its end, with its history. Of a run that is stored it is the state that the plan keeps (Plan::keep_state).
  std::function<void(Run&)> ended{};
  std::function<void(Taken)> taken{};  ///< behind `ended`
};

/// Measures kAlways and the parts that are `needed`. A result that lacks one of these is not enough: what it has is noted
/// in `found` and measured again with them, so that nothing is lost. `found` outlives the measurement.
std::unique_ptr<Measurement> make_taking(Parts needed, Parts& found, TakingHooks hooks = {});

}  // namespace normscope::experiments
