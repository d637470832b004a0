// repeat_heads on the CPU, x (B,T,H*dh) of H heads, out (B,T,H*n*dh) of n times as many:
//   out[h n + k]  =  x[h] for k < n
//   dx[h]         =  sum over k < n of dout[h n + k]      // in this order
// A chunk is a number of rows.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "addons/newer-placements/engine/repeat_heads_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "addons/newer-placements/engine/repeat_heads.h"
#include "engine/cpu/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

/// Calls body(h, width) for the heads of x in the rows of a chunk, counted through all rows.
template <typename Body>
void each_head(const Call& call, int64_t chunk, const Body& body) {
  const Cut c = row_cut(call.out.shape);
  const int64_t heads = call.attributes.as<RepeatHeadsSpec>().heads, width = call.in[0].shape.cols() / heads;
  const int64_t end = c.end(chunk, call.in[0].shape.rows()) * heads;
  for (int64_t h = c.begin(chunk) * heads; h < end; ++h) body(h, width);
}

void forward(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  const int64_t times = call.attributes.as<RepeatHeadsSpec>().times;
  each_head(call, chunk, [&](int64_t h, int64_t width) HWY_ATTR {
    const float* x = call.in[0].p + h * width;
    float* out = call.out.p + h * times * width;
    for (int64_t k = 0; k < times; ++k)
      each_vector(width, [&](int64_t j, auto lanes)
                             HWY_ATTR { lanes.store(lanes.load(x + j), out + k * width + j); });
  });
}

void backward(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  const int64_t times = call.attributes.as<RepeatHeadsSpec>().times;
  const bool add = call.write[0] == Write::Add;
  each_head(call, chunk, [&](int64_t h, int64_t width) HWY_ATTR {
    const float* dout = call.dout.p + h * times * width;
    float* dx = call.din[0].p + h * width;
    each_vector(width, [&](int64_t j, auto lanes) HWY_ATTR {
      VF sum = lanes.load(dout + j);
      for (int64_t k = 1; k < times; ++k) sum = hn::Add(sum, lanes.load(dout + k * width + j));
      put(lanes, sum, dx + j, add);
    });
  });
}

Stages repeat_heads_forward(const Call& call) { return one_stage(forward, row_cut(call.out.shape).chunks); }

Stages repeat_heads_backward(const Call& call) {
  return one_stage(backward, call.write[0] == Write::Skip ? 0 : row_cut(call.out.shape).chunks);
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NORMSCOPE_KERNELS(repeat_heads)
