// Shadow mode runs each instruction of a program on two backends from the same inputs and names the first that differs.
// Both programs must be sealed from equal tapes. Tests use it, and whoever debugs a kernel.
#pragma once

#include <string>

#include "engine/tape/program.h"

namespace normscope::cuda {

/// One compared tensor or number.
struct ShadowDifference {
  std::string instruction;  ///< "backward L03.ffn.1"
  std::string tensor;       ///< "gradient of L03.ffn.w1"
  double error = 0;  ///< sum of squared differences over sum of squares of the reference (a gradient counts
                     ///< as no smaller than a thousandth of what came in); NaN when either is NaN
};

struct ShadowReport {
  size_t instructions = 0;  ///< compared
  bool equal = true;        ///< no error above the tolerance
  ShadowDifference first;   ///< the first above the tolerance
  ShadowDifference worst;
};

/// Replays one step, instruction by instruction. Before each one, every tensor that it touches is copied from the
/// reference, batch and parameters included, so that errors do not add up. Afterwards both programs have made one step.
ShadowReport shadow(Program& reference, Program& other, const StepInputs& inputs, double tolerance = 1e-9);

std::string to_string(const ShadowReport& report);

}  // namespace normscope::cuda
