// gelu (tanh form) on the CPU, with u = sqrt(2/pi) (x + 0.044715 x^3), t = tanh(u):
//   out = x (1 + t) / 2
//   dx = dout ((1 + t) / 2 + x (1 - t^2) u' / 2),  u' = sqrt(2/pi) (1 + 3 * 0.044715 x^2)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/ops/gelu_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "engine/cpu/export.h"
#include "engine/cpu/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

constexpr float kScale = 0.7978845608028654f, kCubic = 0.044715f;
constexpr int64_t kGeluChunk = kFlatChunk / 4;  // tanh takes longer than memory does

/// tanh(u) with u = kScale (x + kCubic x^3).
HWY_INLINE VF inner_tanh(DF d, VF x) {
  const VF u = hn::Mul(hn::Mul(hn::Set(d, kScale), x),
                       hn::MulAdd(hn::Mul(x, x), hn::Set(d, kCubic), hn::Set(d, 1.0f)));
  return tanh_of(d, u);
}

void forward(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  const DF d;
  const int64_t n = call.in[0].shape.size(), begin = chunk * kGeluChunk;
  const float* x = call.in[0].p + begin;
  float* out = call.out.p + begin;
  each_vector(smaller(kGeluChunk, n - begin), [&](int64_t i, auto lanes) HWY_ATTR {
    const VF v = lanes.load(x + i), half = hn::Mul(v, hn::Set(d, 0.5f));
    lanes.store(hn::MulAdd(half, inner_tanh(d, v), half), out + i);
  });
}

void backward(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  const DF d;
  const int64_t n = call.in[0].shape.size(), begin = chunk * kGeluChunk;
  const float *x = call.in[0].p + begin, *dout = call.dout.p + begin;
  float* dx = call.din[0].p + begin;
  const bool add = call.write[0] == Write::Add;
  const VF one = hn::Set(d, 1.0f), half = hn::Set(d, 0.5f);
  each_vector(smaller(kGeluChunk, n - begin), [&](int64_t i, auto lanes) HWY_ATTR {
    const VF v = lanes.load(x + i), t = inner_tanh(d, v);
    const VF slope = hn::MulAdd(hn::Mul(v, v), hn::Set(d, 3 * kScale * kCubic), hn::Set(d, kScale));
    const VF rise = hn::Mul(hn::Mul(v, hn::NegMulAdd(t, t, one)), slope);
    put(lanes, hn::Mul(lanes.load(dout + i), hn::Mul(half, hn::Add(hn::Add(one, t), rise))), dx + i, add);
  });
}

Stages gelu_forward(const Call& call) {
  Stages stages;
  stages.add(forward, cut(call.in[0].shape.size(), kGeluChunk).chunks);
  return stages;
}

Stages gelu_backward(const Call& call) {
  Stages stages;
  if (call.write[0] != Write::Skip) stages.add(backward, cut(call.in[0].shape.size(), kGeluChunk).chunks);
  return stages;
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace normscope::cpu {
NORMSCOPE_KERNELS(gelu)
}  // namespace normscope::cpu
#endif
