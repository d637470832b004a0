// relu on CUDA:
//   out  =  0 where x <= 0, else x         // NaN stays NaN
//   dx   =  0 where x <= 0, else dout      // a NaN passes dout on
#include "engine/cuda/device.cuh"

namespace normscope::cuda {
namespace relu {

struct Relu {
  const float* x;
  float* out;
  __device__ void operator()(uint32_t i) const { out[i] = x[i] <= 0.0f ? 0.0f : x[i]; }
};

struct ReluGradient {
  const float *x, *dout;
  float* dx;
  bool add;
  __device__ void operator()(uint32_t i) const { write_to(dx + i, x[i] <= 0.0f ? 0.0f : dout[i], add); }
};

void forward(const Call& c, Context& context) {
  const int64_t n = c.out.shape.size();
  launch(context, for_each<Relu>, elementwise(n), n, Relu{c.in[0].p, c.out.p});
}

void backward(const Call& c, Context& context) {
  const int64_t n = c.dout.shape.size();
  launch(context, for_each<ReluGradient>, elementwise(n), n,
         ReluGradient{c.in[0].p, c.dout.p, c.din[0].p, c.write[0] == Write::Add});
}

}  // namespace relu

Kernels relu_kernels() {
  using namespace relu;
  return {forward, backward};
}

}  // namespace normscope::cuda
