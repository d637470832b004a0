// One op of a tape in double precision, by the plain reference of training/measure/step/reference.h. Called by numeric_check.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/core/shape.h"
#include "engine/tape/step_inputs.h"
#include "engine/tape/tape.h"

namespace normscope {

/// An input of an op: its numbers, or its integers; absent optional ones are empty with a shape of rank 0.
struct DoubleInput {
  Shape shape;
  std::vector<double> numbers;
  std::vector<int32_t> integers;
};

/// The output of the node on these inputs, without what it saves; empty where the reference has no such op. `held`: the
/// inputs at which a norm takes what its kind holds constant backward (mean, sigma, AdaNorm's factor), so that
/// differences see the derivative that backward computes.
std::vector<double> forward_in_double(const Node& node, const std::vector<DoubleInput>& in,
                                      const std::vector<DoubleInput>& held, const StepInputs& step);

}  // namespace normscope
