// seal() compiles the tape: it turns a recorded Tape into a Program that can be replayed. The compiler is a
// sequence of small passes (tape/seal_passes.h), each tested on a tape of five nodes.
#pragma once

#include "engine/tape/program.h"
#include "engine/tape/tape.h"

namespace normscope {

struct SealOptions {
  ValueId loss = kNone;          ///< any scalar, to differentiate; kNone: forward only
  bool backward = true;          ///< false: evaluation, no gradients
  OpKind update = OpKind::Adam;  ///< what ends the step; kNoOp: gradients without an update
  bool clip = false;             ///< global-norm clipping; the bound is StepInputs.clip
  /// What no later instruction reads makes room for what comes: values of a forward program, gradients of
  /// activations in one with backward; and all such programs of a backend share their memory. The same bits.
  /// Until the next replay of any of them what the last instruction left can be read, and parameters'
  /// gradients. Without effect unless Backend::in_order().
  bool reuse_bytes = false;
  /// Attention's probabilities stay readable. False: none are stored where no backward pass reads them, or one that
  /// computes them again (Backend::recomputes_probabilities).
  bool keep_probabilities = true;
};

/// Throws Error when a used op is missing on the Store's backend (all of them at once, by name), when two
/// dropout sites hash alike, when the Store is not materialized, when the loss is no scalar.
Program seal(const Tape& tape, const SealOptions& options);

}  // namespace normscope
