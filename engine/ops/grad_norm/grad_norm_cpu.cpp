// grad_norm on the CPU: the 2-norm of every parameter's gradient, and of all together.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/ops/grad_norm/grad_norm_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "engine/cpu/export.h"
#include "engine/cpu/parameter_blocks_inl.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

void squares(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  each_block(call, chunk, [&](const ParameterCall& p, int64_t begin, int64_t n, double* sums) HWY_ATTR {
    const float* g = p.gradient + begin;
    sums[0] = sum_over(n, [&](int64_t i, auto lanes) HWY_ATTR {
      const VF v = lanes.load(g + i);
      return hn::Mul(v, v);
    });
  });
}

void finish(const Call& call, const StepInputs&, int64_t, Scratch) noexcept {
  double total = 0;
  for (int64_t p = 0; p < call.parameter_count; ++p) {
    const double norm = norm_of(call, p, 0);
    call.grad_norm[p] = norm;
    total += norm * norm;
  }
  if (call.total_norm) *call.total_norm = __builtin_sqrt(total);
}

Stages grad_norm_forward(const Call& call) { return block_stages(call, squares, finish); }

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace normscope::cpu {
NORMSCOPE_FORWARD_KERNELS(grad_norm)
}  // namespace normscope::cpu
#endif
