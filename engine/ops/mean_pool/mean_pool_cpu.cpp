// mean_pool on the CPU, x and out (B,T,D); the first n_b positions of row b count:
//   out[b,t]  =  1/n_b * sum over s < n_b of x[b,s]              // the same for every t
//   dx[b,s]   =  1/n_b * sum over t of dout[b,t] for s < n_b, else 0
// A chunk is a row of the batch; sums run in the order of positions.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/ops/mean_pool/mean_pool_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "engine/cpu/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

/// The number of positions of row b that count.
int64_t counted(const Call& call, int64_t b) {
  const int64_t positions = call.in[0].shape[1];
  return call.in[1] ? larger(0, smaller(positions, call.in[1].i32()[b])) : positions;
}

/// Divides the sum over the first `count` positions of a row by `by`; zero when `by` is 0.
template <typename Lanes>
HWY_INLINE VF mean_over(const Lanes& lanes, const float* row, int64_t count, int64_t by, int64_t width) {
  CompensatedSum sum;
  for (int64_t t = 0; t < count; ++t) sum.add(lanes.load(row + t * width));
  const float inverse = by > 0 ? 1.0f / static_cast<float>(by) : 0.0f;
  return hn::Mul(hn::Set(DF(), inverse), sum.total());
}

void forward(const Call& call, const StepInputs&, int64_t b, Scratch) noexcept {
  const int64_t positions = call.in[0].shape[1], width = call.in[0].shape.cols(), n = counted(call, b);
  const float* x = call.in[0].p + b * positions * width;
  float* out = call.out.p + b * positions * width;
  each_vector(width, [&](int64_t j, auto lanes) HWY_ATTR {
    const VF mean = mean_over(lanes, x + j, n, n, width);
    for (int64_t t = 0; t < positions; ++t) lanes.store(mean, out + t * width + j);
  });
}

void backward(const Call& call, const StepInputs&, int64_t b, Scratch) noexcept {
  const DF d;
  const int64_t positions = call.in[0].shape[1], width = call.in[0].shape.cols(), n = counted(call, b);
  const float* dout = call.dout.p + b * positions * width;
  float* dx = call.din[0].p + b * positions * width;
  const bool add = call.write[0] == Write::Add;
  each_vector(width, [&](int64_t j, auto lanes) HWY_ATTR {
    if (n > 0) {
      const VF share = mean_over(lanes, dout + j, positions, n, width);
      for (int64_t t = 0; t < n; ++t) put(lanes, share, dx + t * width + j, add);
    }
    if (!add)
      for (int64_t t = n; t < positions; ++t) lanes.store(hn::Zero(d), dx + t * width + j);
  });
}

Stages mean_pool_forward(const Call& call) { return one_stage(forward, call.in[0].shape[0]); }

Stages mean_pool_backward(const Call& call) {
  return one_stage(backward, call.write[0] == Write::Skip ? 0 : call.in[0].shape[0]);
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NORMSCOPE_KERNELS(mean_pool)
