// concat on the CPU, a (B,Ta,D), b (B,Tb,D), out (B,Ta+Tb,D):
//   out[n,t]  =  a[n,t] for t < Ta, else b[n,t-Ta]
//   da[n,t]   =  dout[n,t]
//   db[n,t]   =  dout[n,Ta+t]
// A chunk is a row of the batch.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/ops/concat/concat_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "engine/cpu/export.h"
#include "engine/cpu/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

/// `Slice` is the floats of a row of input k, and their place in a whole row of the output.
struct Slice {
  int64_t size, at, whole;
};
Slice slice_of(const Call& call, int k) {
  const int64_t width = call.in[0].shape[2], a = call.in[0].shape[1] * width, b = call.in[1].shape[1] * width;
  return {k == 0 ? a : b, k == 0 ? 0 : a, a + b};
}

void hand_on(const float* from, int64_t n, float* to, bool add) {
  each_vector(n, [&](int64_t i, auto lanes) HWY_ATTR { put(lanes, lanes.load(from + i), to + i, add); });
}

void forward(const Call& call, const StepInputs&, int64_t row, Scratch) noexcept {
  for (int k = 0; k < 2; ++k) {
    const Slice s = slice_of(call, k);
    hand_on(call.in[k].p + row * s.size, s.size, call.out.p + row * s.whole + s.at, false);
  }
}

void backward(const Call& call, const StepInputs&, int64_t row, Scratch) noexcept {
  for (int k = 0; k < 2; ++k) {
    if (call.write[k] == Write::Skip) continue;
    const Slice s = slice_of(call, k);
    hand_on(call.dout.p + row * s.whole + s.at, s.size, call.din[k].p + row * s.size,
            call.write[k] == Write::Add);
  }
}

Stages concat_forward(const Call& call) {
  Stages stages;
  stages.add(forward, call.in[0].shape[0]);
  return stages;
}

Stages concat_backward(const Call& call) {
  Stages stages;
  stages.add(backward, call.in[0].shape[0]);
  return stages;
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace normscope::cpu {
NORMSCOPE_KERNELS(concat)
}  // namespace normscope::cpu
#endif
