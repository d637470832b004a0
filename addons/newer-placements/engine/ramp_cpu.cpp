// ramp on the CPU, in one chunk: its parameter is a number or a few.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "addons/newer-placements/engine/ramp_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "addons/newer-placements/engine/ramp.h"
#include "engine/cpu/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

void ramp_up(const Call& call, const StepInputs& step, int64_t, Scratch) noexcept {
  const float share =
      static_cast<float>(step.step) / static_cast<float>(call.attributes.as<RampSpec>().steps);
  const int64_t n = call.in[0].shape.size();
  for (int64_t i = 0; i < n; ++i) call.in[0].p[i] = share < 1 ? share : 1.0f;
}

Stages ramp_forward(const Call&) { return one_stage(ramp_up, 1); }

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NORMSCOPE_FORWARD_KERNELS(ramp)
