// The memory that a run needs, from the plan of its program, before anything is allocated. Called by normscope train
// (--plan, and always before it starts), and before a step is copied.
#pragma once

#include <string>
#include <vector>

#include "engine/tape/backend.h"
#include "training/data/task.h"
#include "training/spec/spec.h"

namespace normscope {

struct TensorBytes {
  std::string name, what;  ///< "L03.attn.probabilities", "activation"
  size_t bytes = 0;
};

struct Footprint {
  size_t parameters = 0, optimizer = 0, activations = 0, gradients = 0;
  size_t workspace = 0;  ///< batch, packed panels and partial sums
  /// Forward programs of validation and of the measured sequence; the weights before a step.
  size_t evaluation = 0;
  size_t reused_gradients = 0;  ///< size of `gradients` with train.reuse_gradients, on or off
  size_t parameter_count = 0;
  size_t matrices = 0;               ///< bytes of the matrices between hidden states
  std::vector<TensorBytes> largest;  ///< at most ten, largest first
  size_t peak() const { return parameters + optimizer + activations + gradients + workspace + evaluation; }
};

/// The memory of a model in training on batches of that shape, on the CPU. It allocates no tensor. Throws Error for a
/// model that cannot be recorded.
Footprint footprint_of(const ModelConfig& model, const BatchShape& shape, Backend& backend,
                       bool reuse_gradients = true);
/// The same for a run. The critical rate's memory is counted for `backend`, as programs on a device share none.
Footprint footprint_of(const RunSpec& spec, const Task& task, Backend& backend);

/// The most bytes that a step on a copy takes: Run::play_next() with its two stores and each tensor in memory of its
/// own, and one more program of the step with a store (the copied run, or the run that is timed).
size_t played_bytes(const RunSpec& spec, const Task& task, Backend& backend);

std::string footprint_table(const Footprint& need);
std::string largest_table(const Footprint& need);

}  // namespace normscope
