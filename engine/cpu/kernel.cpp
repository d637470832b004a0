#include "engine/cpu/kernel.h"

#include "engine/core/error.h"

namespace normscope::cpu {

void Stages::add(StageFn run, int64_t chunks) {
  if (count == kMaxStages)
    fail("kernel", "more than {} stages: expected kMaxStages to be raised", kMaxStages);
  stage[count++] = {run, chunks};
}

}  // namespace normscope::cpu
