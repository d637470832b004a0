// relu on the CPU:  out = max(x, 0), NaN stays NaN.   dx = dout where x > 0 (or NaN), else 0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/ops/relu_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "engine/cpu/export.h"
#include "engine/cpu/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

void forward(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  const DF d;
  const int64_t n = call.in[0].shape.size(), begin = chunk * kFlatChunk;
  const float* x = call.in[0].p + begin;
  float* out = call.out.p + begin;
  each_vector(smaller(kFlatChunk, n - begin), [&](int64_t i, auto lanes) HWY_ATTR {
    const VF v = lanes.load(x + i);
    lanes.store(hn::IfThenZeroElse(hn::Lt(v, hn::Zero(d)), v), out + i);
  });
}

void backward(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  const DF d;
  const int64_t n = call.in[0].shape.size(), begin = chunk * kFlatChunk;
  const float *x = call.in[0].p + begin, *dout = call.dout.p + begin;
  float* dx = call.din[0].p + begin;
  const bool add = call.write[0] == Write::Add;
  each_vector(smaller(kFlatChunk, n - begin), [&](int64_t i, auto lanes) HWY_ATTR {
    const VF v = hn::IfThenZeroElse(hn::Le(lanes.load(x + i), hn::Zero(d)), lanes.load(dout + i));
    put(lanes, v, dx + i, add);
  });
}

Stages relu_forward(const Call& call) {
  Stages stages;
  stages.add(forward, cut(call.in[0].shape.size(), kFlatChunk).chunks);
  return stages;
}

Stages relu_backward(const Call& call) {
  Stages stages;
  if (call.write[0] != Write::Skip) stages.add(backward, cut(call.in[0].shape.size(), kFlatChunk).chunks);
  return stages;
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace normscope::cpu {
NORMSCOPE_KERNELS(relu)
}  // namespace normscope::cpu
#endif
