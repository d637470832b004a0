// Checks an op: whether its backward pass is the derivative of its forward pass, however it is recorded.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "engine/tape/tape.h"

namespace normscope {

struct CheckOptions {
  float step = 1.0f / 64;   ///< by which a number is moved up and down
  float tolerance = 0.01f;  ///< as a share of the largest gradient of the input
};

/// The largest error, relative to the largest gradient of its input.
struct OpCheck {
  double worst = 0;
  size_t input = 0;
  int64_t index = 0;
};

/// Records an op, or several, on the inputs that it is given. What else it records as an input is random for reals and 0
/// for integers.
using RecordOp = std::function<ValueId(Tape&, std::span<const ValueId>)>;

/// Runs what `record` records on random inputs of these shapes, on the CPU, and compares
///   the gradient of each input with central differences, where the op is recorded once and where it is recorded twice,
///   so that the second gradient is added to the first;
///   the gradient of each input with what it is when no other has one;
///   all results of 2 and 3 threads, with ops of one's own (own_op.h) in the smallest parts, and of a second replay, with
///   those of one, to the bit.
/// Throws Error at the first that differs: "[check_op linear] input 1 at 17: backward 2.7, by differences 3: expected
/// within 1 %". Each number is moved alone, so shapes should be small.
OpCheck check_op(const RecordOp& record, const std::vector<Shape>& shapes, const CheckOptions& options = {});

}  // namespace normscope
