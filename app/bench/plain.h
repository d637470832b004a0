// The rival of small models: the benchmark's decoder (Pre-LN, ReLU, learned positions, untied output, Adam) as one
// function of plain loops over fixed sizes, such as people write by hand. It knows no tape, reads back the loss and
// the norm of the gradients, and is compiled for this machine's instruction set.
#pragma once

#include <memory>

#include "app/bench/stepper.h"

namespace normscope::bench {

class PlainDecoder {
 public:
  virtual ~PlainDecoder() = default;
  /// One step on one thread from the batch; returns the loss before the update.
  virtual double step(const int32_t* tokens, const int32_t* targets, const StepInputs& inputs) = 0;
  /// Of the gradients of the last step, all parameters together.
  virtual double gradient_norm() const = 0;
};

/// From the values in the stepper's store; nullptr for a model whose sizes it was not compiled for.
std::unique_ptr<PlainDecoder> make_plain_decoder(const Model& model, const Stepper& stepper);

}  // namespace normscope::bench
