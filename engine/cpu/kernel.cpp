#include "engine/cpu/kernel.h"

#include <algorithm>
#include <map>

#include "engine/core/error.h"

namespace normscope::cpu {

void Stages::add(StageFn run, int64_t chunks) {
  if (count == kMaxStages)
    fail("kernel", "more than {} stages: expected kMaxStages to be raised", kMaxStages);
  stage[count++] = {.run = run, .chunks = chunks};
}

WorkspacePlan plan_workspace(const std::vector<Instruction>& instructions,
                             const std::vector<Stages>& stages) {
  const auto lines = [](size_t floats) { return (floats + 15) / 16 * 16; };
  WorkspacePlan plan{0, std::vector<size_t>(instructions.size(), 0)};
  for (const Stages& s : stages) plan.floats = std::max(plan.floats, lines(s.workspace_floats));
  std::map<int32_t, size_t> forward;  // by node: the instruction that keeps something
  for (size_t i = 0; i < instructions.size(); ++i) {
    if (instructions[i].phase == Phase::Forward && stages[i].kept_floats > 0)
      forward[instructions[i].node] = i;
    const auto keeps = forward.find(instructions[i].node);
    if (instructions[i].phase != Phase::Backward || keeps == forward.end()) continue;
    plan.kept[i] = plan.kept[keeps->second] = plan.floats;
    plan.floats += lines(stages[keeps->second].kept_floats);
  }
  return plan;
}

// Asked anew for every instruction that is planned: the tests change the instruction set within a process.
Kernels kernels_of(OpKind op) {
  switch (op) {
#define OP(Kind, name, ...) \
  case OpKind::Kind:        \
    return name##_kernels();
#include "engine/ops/ops.def"
#undef OP
    case OpKind::Count:
      break;
  }
  return {};
}

}  // namespace normscope::cpu
