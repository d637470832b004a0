#include "engine/cpu/kernel.h"

#include "engine/core/error.h"

namespace normscope::cpu {

void Stages::add(StageFn run, int64_t chunks) {
  if (count == kMaxStages)
    fail("kernel", "more than {} stages: expected kMaxStages to be raised", kMaxStages);
  stage[count++] = {run, chunks};
}

const Kernels& kernels_of(OpKind op) {
  static const Kernels table[] = {
#define OP(Kind, name, ...) name##_kernels(),
#include "engine/ops/ops.def"
#undef OP
  };
  return table[static_cast<size_t>(op)];
}

}  // namespace normscope::cpu
