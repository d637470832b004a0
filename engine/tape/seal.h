// Compiles the tape: it turns a recorded Tape into a Program that can be replayed. The compiler is a sequence
// of small passes (tape/seal_passes.h), each tested on a tape of five nodes.
#pragma once

#include <span>

#include "engine/tape/program.h"
#include "engine/tape/tape.h"

namespace normscope {

struct SealOptions {
  ValueId loss = kNone;                  ///< the scalar to differentiate; kNone: forward only
  bool backward = true;                  ///< false: evaluation, no gradients
  OpKind update = op_for(Duty::Update);  ///< the op that ends the step; kNoOp: gradients without an update
  bool clip = false;                     ///< global-norm clipping; the bound is StepInputs.clip
  /// Places are used again once no later instruction reads them: of values in a forward program, of
  /// activations' gradients in a program with backward. All such programs of a backend share their memory. The bits
  /// are the same. Until one of them is replayed next, the results of the last instruction and the parameters'
  /// gradients stay readable. Without effect unless Backend::in_order().
  bool reuse_bytes = false;
  std::span<const ValueId> kept_gradients{};  ///< values whose gradients keep their places all the same
  /// Attention's probabilities stay readable. False: they are not stored where no backward pass reads them, or where
  /// that computes them again (Backend::recomputes_probabilities).
  bool keep_probabilities = true;
};

/// Throws Error when used ops are missing on the Store's backend (all named at once), when two dropout sites
/// hash alike, when the Store is not materialized, and when the loss is not a scalar.
Program seal(const Tape& tape, const SealOptions& options);

}  // namespace normscope
