// `PlainDecoder` is the rival in plain loops, such as people write by hand: the benchmark's decoder (Pre-LN, ReLU,
// learned positions, untied output, Adam) as one function. Its sizes are fixed when it is compiled; the number of
// layers is free. It knows no tape, reads back the loss and the norm of the gradients, and is compiled for this
// machine's instruction set. Called by bench/micro.cpp.
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
  /// `step` takes one step on one thread and returns the loss before the update. It allocates nothing.
  virtual double step(const int32_t* tokens, const int32_t* targets, const StepInputs& inputs) = 0;
  /// `gradient_norm` is taken over all parameters together in the last step.
  virtual double gradient_norm() const = 0;
};

/// `make_plain_decoder` starts from the values in the stepper's store. It returns nullptr for a model whose sizes it
/// was not compiled for.
std::unique_ptr<PlainDecoder> make_plain_decoder(const Model& model, const Stepper& stepper);

/// `plain_models` returns the benchmark's models whose sizes it was compiled for, small ones first.
std::vector<Model> plain_models();

/// `plain_difference` takes `steps` steps with both, from the same values and on the stepper's batch. It returns the
/// largest relative difference of their losses, and of the gradient norms of the first step; infinite where one is not
/// finite. From the second step on the update is in the loss. Later gradient norms say less: Adam's first step moves a
/// weight by the sign of its gradient, even where that sign is rounding alone, and many layers amplify it.
double plain_difference(Stepper& stepper, PlainDecoder& plain, const BatchShape& shape, int steps);

}  // namespace normscope::bench
