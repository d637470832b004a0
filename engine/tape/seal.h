// seal(): from Tape to Program, as a row of small passes (tape/seal_passes.h), each tested on a five-node
// tape.
#pragma once

#include "engine/tape/program.h"
#include "engine/tape/tape.h"

namespace normscope {

/// What a step does with the gradients: two kernels serve them all, what differs from rule to rule stands in
/// StepInputs (train/update_rule.h fills it in).
enum class Optimizer : uint8_t { None, Adam, Sgd, Momentum, AdamW, RAdam, RAdamCode };
constexpr bool is_adaptive(Optimizer o) {
  return o == Optimizer::Adam || o == Optimizer::AdamW || o == Optimizer::RAdam || o == Optimizer::RAdamCode;
}
/// Whether the moments of one go on to mean the same under the other.
constexpr bool shares_moments(Optimizer a, Optimizer b) { return is_adaptive(a) == is_adaptive(b); }

struct SealOptions {
  ValueId loss = kNone;                   ///< scalar to differentiate; kNone: forward only
  bool backward = true;                   ///< false: evaluation, no gradients
  Optimizer optimizer = Optimizer::Adam;  ///< None: gradients without an update
  bool clip = false;                      ///< global-norm clipping; the bound is StepInputs.clip
  /// The gradient of an activation gives its memory to later ones once it was read: less memory, the same
  /// bits; only parameters' and probed gradients can be read afterwards. Needs Backend::in_order().
  bool reuse_gradients = false;
  /// Attention's probabilities stay readable. False: a backend that can compute them again (Backend::
  /// recomputes_probabilities) plans no memory for them.
  bool keep_probabilities = true;
};

/// Throws Error when a used op is missing on the Store's backend (all of them at once, by name), when two
/// dropout sites hash alike, when the Store is not materialized, when gradients are to be reused on a backend
/// that runs instructions side by side.
Program seal(const Tape& tape, const SealOptions& options);

}  // namespace normscope
