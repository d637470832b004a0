// Measures a Taken of a run while it trains, or after the fact from a state that was kept. Called by study.cpp and by
// run_store.cpp.
#pragma once

#include <functional>
#include <memory>

#include "training/experiments/runner.h"
#include "training/experiments/taken.h"

namespace normscope::experiments {

/// Told what was taken of a run, from the thread that trains it.
using OnTaking = std::function<void(Taken)>;

/// Measures kAlways and the parts that are `needed`. A result that lacks one of these is not enough: what it has is noted
/// in `found` and measured again with them, so that nothing is lost. `found` outlives the measurement.
std::unique_ptr<Measurement> make_taking(Parts needed, Parts& found, OnTaking on_taking = {});

}  // namespace normscope::experiments
