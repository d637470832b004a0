// centre on the CPU, x and out (B,T,D):
//   out[b,t]  =  x[b,t] - u * mean over c of x[c,t]
//   dx[b,t]   =  dout[b,t] - v * mean over c of dout[c,t]
// with u and v 0 or 1. A chunk is a position; sums run in the order of the batch.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "addons/interventions/engine/centre_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "addons/interventions/engine/centre.h"
#include "engine/cpu/export.h"
#include "engine/cpu/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

/// Writes the numbers of position t, less their mean over the batch where `centred`.
void write_position(const Shape& shape, int64_t t, const float* from, float* to, bool centred, bool add) {
  const int64_t batch = shape[0], width = shape.cols(), step = shape[1] * width;
  const VF share = hn::Set(DF(), centred ? 1.0f / static_cast<float>(batch) : 0.0f);
  each_vector(width, [&](int64_t j, auto lanes) HWY_ATTR {
    const int64_t first = t * width + j;
    CompensatedSum sum;
    for (int64_t b = 0; centred && b < batch; ++b) sum.add(lanes.load(from + b * step + first));
    const VF mean = hn::Mul(share, sum.total());
    for (int64_t b = 0; b < batch; ++b) {
      const int64_t at = b * step + first;
      put(lanes, hn::Sub(lanes.load(from + at), mean), to + at, add);
    }
  });
}

void forward(const Call& call, const StepInputs&, int64_t t, Scratch) noexcept {
  write_position(call.in[0].shape, t, call.in[0].p, call.out.p, call.attributes.as<CentreSpec>().value,
                 false);
}

void backward(const Call& call, const StepInputs&, int64_t t, Scratch) noexcept {
  write_position(call.in[0].shape, t, call.dout.p, call.din[0].p, call.attributes.as<CentreSpec>().gradient,
                 call.write[0] == Write::Add);
}

Stages centre_forward(const Call& call) { return one_stage(forward, call.in[0].shape[1]); }

Stages centre_backward(const Call& call) {
  return one_stage(backward, call.write[0] == Write::Skip ? 0 : call.in[0].shape[1]);
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace normscope::cpu {
NORMSCOPE_KERNELS(centre)
}  // namespace normscope::cpu
#endif
