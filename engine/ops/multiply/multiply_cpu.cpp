// multiply on the CPU, over a, b and out of one shape:
//   out  =  a * b
//   da   =  b * dout
//   db   =  a * dout
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/ops/multiply/multiply_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "engine/cpu/export.h"
#include "engine/cpu/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

constexpr int64_t kChunk = kFlatChunk / 2;

void forward_run(const Call& call, int64_t begin, int64_t n) {
  const float *a = call.in[0].p + begin, *b = call.in[1].p + begin;
  float* out = call.out.p + begin;
  each_vector(n, [&](int64_t i, auto lanes)
                     HWY_ATTR { lanes.store(hn::Mul(lanes.load(a + i), lanes.load(b + i)), out + i); });
}

/// Writes da before db, which adds to it where both are one value.
void backward_run(const Call& call, int64_t begin, int64_t n) {
  const float* dout = call.dout.p + begin;
  for (int side = 0; side < 2; ++side) {
    if (call.write[side] == Write::Skip) continue;
    const float* other = call.in[1 - side].p + begin;
    float* din = call.din[side].p + begin;
    const bool add = call.write[side] == Write::Add;
    each_vector(n, [&](int64_t i, auto lanes) HWY_ATTR {
      put(lanes, hn::Mul(lanes.load(dout + i), lanes.load(other + i)), din + i, add);
    });
  }
}

template <bool kBackward>
void chunk_of(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  const int64_t begin = chunk * kChunk, n = smaller(kChunk, call.in[0].shape.size() - begin);
  (kBackward ? backward_run : forward_run)(call, begin, n);
}

template <bool kBackward>
void region_of(const Call& call, const StepInputs&, const Region& region, Scratch) noexcept {
  each_run(region, call.in[0].shape.cols(), [&](int64_t begin, int64_t n) HWY_ATTR {
    (kBackward ? backward_run : forward_run)(call, begin, n);
  });
}

template <bool kBackward>
Stages stages_of(const Call& call) {
  return one_stage(chunk_of<kBackward>, cut(call.in[0].shape.size(), kChunk).chunks, region_of<kBackward>);
}

Stages multiply_forward(const Call& call) { return stages_of<false>(call); }
Stages multiply_backward(const Call& call) { return stages_of<true>(call); }

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace normscope::cpu {
NORMSCOPE_KERNELS(multiply)
}  // namespace normscope::cpu
#endif
