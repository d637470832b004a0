// clip on the CPU computes the factor by which the optimizer multiplies all gradients, with StepInputs.clip as bound:
//   factor  =  min(1, bound / total gradient norm), or 1 where the bound is 0
// A norm that is not finite stays visible: NaN gives NaN, infinity gives 0 (and 0 * inf is NaN).
#include "engine/cpu/kernel.h"

namespace normscope::cpu {
namespace {

void clip(const Call& call, const StepInputs& step, int64_t, Scratch) noexcept {
  const double ratio = static_cast<double>(step.clip) / *call.total_norm;
  *call.clip_factor = step.clip > 0.0f && !(ratio >= 1.0) ? ratio : 1.0;
}

Stages plan(const Call&) {
  Stages stages;
  stages.add(clip, 1);
  return stages;
}

}  // namespace

Kernels clip_kernels() { return {&plan, nullptr}; }

}  // namespace normscope::cpu
