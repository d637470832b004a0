// sgd with momentum on the CPU:
//   g  =  clip factor * dw + l2 w
//   m  =  momentum m + g
//   w  =  w - lr m - lr decay w
// The same pass yields the norms of the update and of the new weights.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/ops/sgd/sgd_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "engine/cpu/export.h"
#include "engine/cpu/parameter_blocks_inl.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

void update(const Call& call, const StepInputs& step, int64_t chunk, Scratch) noexcept {
  const DF d;
  const VF factor = hn::Set(d, clip_factor_of(call)), momentum = hn::Set(d, step.momentum);
  const VF rate = hn::Set(d, step.lr), decay = hn::Set(d, step.lr * step.weight_decay);
  const VF l2 = hn::Set(d, step.l2);
  each_block(call, chunk, [&](const ParameterCall& p, int64_t begin, int64_t n, double* sums) HWY_ATTR {
    const float* gradient = p.gradient + begin;
    float *value = p.value + begin, *velocity = p.m + begin;
    VF updates = hn::Zero(d), weights = hn::Zero(d);
    each_vector(n, [&](int64_t i, auto lanes) HWY_ATTR {
      const VF w0 = lanes.load(value + i);
      const VF g = hn::MulAdd(l2, w0, hn::Mul(lanes.load(gradient + i), factor));
      const VF m = hn::MulAdd(momentum, lanes.load(velocity + i), g);
      const VF delta = hn::MulAdd(decay, w0, hn::Mul(rate, m));
      const VF w = hn::Sub(w0, delta);
      lanes.store(m, velocity + i);
      lanes.store(w, value + i);
      updates = hn::MulAdd(delta, delta, updates);
      weights = hn::MulAdd(w, w, weights);
    });
    sums[0] = static_cast<double>(sum_of(d, updates));
    sums[1] = static_cast<double>(sum_of(d, weights));
  });
}

Stages sgd_forward(const Call& call) { return block_stages(call, update, finish_update); }

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace normscope::cpu {
NORMSCOPE_FORWARD_KERNELS(sgd)
}  // namespace normscope::cpu
#endif
