// `profile` finds the time of each instruction of a Program and puts it beside its cost
// (training/measure/step/cost.h): the numbers behind normscope train --profile.
#pragma once

#include <string>
#include <vector>

#include "engine/tape/program.h"
#include "training/measure/step/cost.h"

namespace normscope {

struct InstructionProfile {
  std::string name;
  OpKind op = OpKind::Count;
  Phase phase = Phase::Forward;
  double seconds = 0;  ///< median
  double share = 0;    ///< of the sum over all instructions
  Cost cost;
};
/// Times every instruction alone, step after step in order of execution. The program's inputs must have been
/// filled; the profile makes `repeats` updates.
std::vector<InstructionProfile> profile(Program& program, const StepInputs& inputs, int repeats);

/// Prints the whole profile: a line per node with forward and backward side by side, then update and
/// sums.
std::string profile_table(const std::vector<InstructionProfile>& rows);

}  // namespace normscope
