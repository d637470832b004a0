// seal(): from Tape to Program, as a row of small passes (tape/seal_passes.h), each tested on a five-node
// tape.
#pragma once

#include "tape/program.h"
#include "tape/tape.h"

namespace normscope {

enum class Optimizer : uint8_t { None, Adam, Sgd };

struct SealOptions {
  ValueId loss = kNone;                   ///< scalar to differentiate; kNone: forward only
  bool backward = true;                   ///< false: evaluation, no gradients
  Optimizer optimizer = Optimizer::Adam;  ///< None: gradients without an update
  bool clip = false;                      ///< global-norm clipping; the bound is StepInputs.clip
};

/// Throws Error when a used op is missing on the Store's backend (all of them at once, by name), when two
/// dropout sites hash alike, when the Store is not materialized.
Program seal(const Tape& tape, const SealOptions& options);

}  // namespace normscope
