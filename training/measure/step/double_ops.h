// Double ops compute one op of a tape in double precision, by the reference of measure/step/reference.h. Called by
// numeric_check.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/core/shape.h"
#include "engine/tape/step_inputs.h"
#include "engine/tape/tape.h"

namespace normscope {

/// `DoubleInput` is an op's input, its numbers or its integers; an absent optional input is empty with a shape of
/// rank 0.
struct DoubleInput {
  Shape shape;
  std::vector<double> numbers;
  std::vector<int32_t> integers;
};

/// `forward_in_double` is the node's output for these inputs, without what it saves; empty where the reference has no
/// such op. A norm takes from `held` what its kind holds constant backward (mean, sigma, AdaNorm's factor), so that
/// differences see the derivative that backward computes.
std::vector<double> forward_in_double(const Node& node, const std::vector<DoubleInput>& in,
                                      const std::vector<DoubleInput>& held, const StepInputs& step);

}  // namespace normscope
