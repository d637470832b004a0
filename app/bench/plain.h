// The rival in plain loops: the benchmark's decoder (Pre-LN, ReLU, learned positions, untied output, Adam) as one
// function over sizes that are fixed when it is compiled, with any number of layers, such as people write by hand. It
// knows no tape, reads back the loss and the norm of the gradients, and is compiled for this machine's instruction
// set. Called by bench/micro.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "app/bench/stepper.h"
#include "engine/tape/step_inputs.h"

namespace normscope::bench {

class PlainDecoder {
 public:
  virtual ~PlainDecoder() = default;
  /// One step on one thread from the batch; returns the loss before the update. Allocates nothing.
  virtual double step(const int32_t* tokens, const int32_t* targets, const StepInputs& inputs) = 0;
  /// Of the gradients of the last step, all parameters together.
  virtual double gradient_norm() const = 0;
};

/// From the values in the stepper's store; nullptr for a model whose sizes it was not compiled for.
std::unique_ptr<PlainDecoder> make_plain_decoder(const Model& model, const Stepper& stepper);

/// The benchmark's models whose sizes it was compiled for, small ones first.
std::vector<Model> plain_models();

/// Takes that many steps with both, from the same values and the stepper's batch: how far their losses, and the gradient
/// norms of the first step, lie apart at most, relative; infinite where one is not finite. From the second step on the
/// update is in the loss. Later gradient norms say less: Adam's first step moves a weight by the sign of its gradient,
/// also where that is rounding alone, and many layers amplify it.
double plain_difference(Stepper& stepper, PlainDecoder& plain, const BatchShape& shape, int steps);

}  // namespace normscope::bench
