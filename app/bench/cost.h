// The cost of an instruction of a Program by its shapes, and the time it takes: the numbers behind
// normscope train --profile and the rooflines of normscope bench.
#pragma once

#include <string>
#include <vector>

#include "engine/tape/program.h"

namespace normscope::bench {

/// Arithmetic is counted for products and attention (dense, the masked half too); the other ops are counted
/// by the bytes that they have to read and write once.
struct Cost {
  double flop = 0, bytes = 0;
};
Cost cost_of(const ProgramData& program, const Instruction& instruction);

struct InstructionProfile {
  std::string name;
  OpKind op = OpKind::Count;
  Phase phase = Phase::Forward;
  double seconds = 0;  ///< median
  double share = 0;    ///< of the sum over all instructions
  Cost cost;
};
/// Times every instruction alone, step after step in order of execution. The program's inputs must have been
/// filled; `repeats` updates are made.
std::vector<InstructionProfile> profile(Program& program, const StepInputs& inputs, int repeats);

/// "312 GFLOP/s" or "41 GB/s".
std::string rate_text(const Cost& cost, double seconds);
const char* phase_name(Phase phase);
/// The whole profile as a table: a line a node with forward and backward side by side, then update and sums.
std::string profile_table(const std::vector<InstructionProfile>& rows);

}  // namespace normscope::bench
