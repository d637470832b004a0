#include "engine/cpu/kernel.h"

#include "engine/core/error.h"

namespace normscope::cpu {

void Stages::add(StageFn run, int64_t chunks) {
  if (chunks == 0) return;
  if (count == kMaxStages)
    fail("kernel", "more than {} stages: expected kMaxStages to be raised", kMaxStages);
  stage[count++] = {.run = run, .chunks = chunks};
}

// Selects anew for every instruction that is planned: the tests change the instruction set within a process.
Kernels kernels_of(OpKind op) {
  if (const OwnOp* own = find_own_op(op)) return own->kernels();
  switch (op) {
#define OP(Kind, name, ...) \
  case OpKind::Kind:        \
    return name##_kernels();
#include "engine/ops/ops.def"
    default:
      break;
  }
  return {};
}

}  // namespace normscope::cpu
