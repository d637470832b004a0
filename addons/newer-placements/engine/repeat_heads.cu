// repeat_heads on CUDA, x (B,T,H*dh) of H heads, out (B,T,H*n*dh) of n times as many:
//   out[h n + k]  =  x[h] for k < n
//   dx[h]         =  sum over k < n of dout[h n + k]      // in this order
// A thread works on one number of what is written.
#include "engine/cuda/device.cuh"
#include "addons/newer-placements/engine/repeat_heads.h"

namespace normscope::cuda {
namespace repeat_heads {

struct Repeat {
  const float* x;
  float* out;
  uint32_t width, times;
  __device__ void operator()(uint32_t i) const { out[i] = x[i / (width * times) * width + i % width]; }
};

struct RepeatGradient {
  const float* dout;
  float* dx;
  uint32_t width, times;
  bool add;
  __device__ void operator()(uint32_t i) const {
    const float* part = dout + i / width * width * times + i % width;
    float sum = part[0];
    for (uint32_t k = 1; k < times; ++k) sum += part[k * width];
    write_to(dx + i, sum, add);
  }
};

uint32_t width_of(const Call& c) {
  return static_cast<uint32_t>(c.in[0].shape.cols() / c.attributes.as<RepeatHeadsSpec>().heads);
}
uint32_t times_of(const Call& c) { return static_cast<uint32_t>(c.attributes.as<RepeatHeadsSpec>().times); }

void forward(const Call& c, Context& context) {
  const int64_t n = c.out.shape.size();
  launch(context, for_each<Repeat>, elementwise(n), n, Repeat{c.in[0].p, c.out.p, width_of(c), times_of(c)});
}

void backward(const Call& c, Context& context) {
  const int64_t n = c.in[0].shape.size();
  launch(context, for_each<RepeatGradient>, elementwise(n), n,
         RepeatGradient{c.dout.p, c.din[0].p, width_of(c), times_of(c), c.write[0] == Write::Add});
}

}  // namespace repeat_heads

Kernels repeat_heads_kernels() {
  using namespace repeat_heads;
  return {forward, backward};
}

}  // namespace normscope::cuda
