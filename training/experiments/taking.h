// A taking measures a Taken of a run while it trains, or afterwards from a state that was kept. Called by study.cpp
// and by run_store.cpp.
#pragma once

#include <functional>
#include <memory>

#include "training/experiments/runner.h"
#include "training/experiments/taken.h"

namespace normscope::experiments {

/// Told about the run by the thread that trains or finds it; each may be empty.
struct TakingHooks {
  std::function<bool(const Run&)> stepped{};  ///< after every step; false: stop
  /// Gets the run at its end, with its history. For a stored run this is the state that the plan keeps
  /// (Plan::keep_state).
  std::function<void(Run&)> ended{};
  std::function<void(Taken)> taken{};  ///< after `ended`
};

/// Measures kAlways and the `needed` parts. A stored result that lacks one of these is not enough: its
/// parts are added to `found` and measured again with the others, so that nothing is lost. `found` must outlive the
/// measurement.
std::unique_ptr<Measurement> make_taking(Parts needed, Parts& found, TakingHooks hooks = {});

}  // namespace normscope::experiments
