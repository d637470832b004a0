// centre on CUDA, x and out (B,T,D):
//   out[b,t]  =  x[b,t] - u * mean over c of x[c,t]
//   dx[b,t]   =  dout[b,t] - v * mean over c of dout[c,t]
// with u and v 0 or 1. A thread works on one number of one position, whose sum runs in the order of the batch.
#include "engine/cuda/device.cuh"
#include "addons/interventions/engine/centre.h"

namespace normscope::cuda {
namespace centre {

struct Centre {
  const float* from;
  float* to;
  uint32_t batch, step;
  bool centred, add;
  __device__ void operator()(uint32_t i) const {
    float sum = 0;
    for (uint32_t b = 0; centred && b < batch; ++b) sum += from[b * step + i];
    const float mean = sum / static_cast<float>(batch);
    for (uint32_t b = 0; b < batch; ++b) write_to(to + b * step + i, from[b * step + i] - mean, add);
  }
};

void run(const Call& c, Context& context, const float* from, float* to, bool centred, bool add) {
  const Shape& shape = c.in[0].shape;
  const int64_t step = shape[1] * shape.cols();
  launch(context, for_each<Centre>, elementwise(step), step,
         Centre{from, to, static_cast<uint32_t>(shape[0]), static_cast<uint32_t>(step), centred, add});
}

void forward(const Call& c, Context& context) {
  run(c, context, c.in[0].p, c.out.p, c.attributes.as<CentreSpec>().value, false);
}

void backward(const Call& c, Context& context) {
  if (!c.din[0]) return;
  run(c, context, c.dout.p, c.din[0].p, c.attributes.as<CentreSpec>().gradient, c.write[0] == Write::Add);
}

}  // namespace centre

Kernels centre_kernels() { return {centre::forward, centre::backward}; }

}  // namespace normscope::cuda
