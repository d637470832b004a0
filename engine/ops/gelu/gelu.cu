// gelu on CUDA computes the tanh form of each number of x, with c = sqrt(2/pi) and a = 0.044715:
//   u    =  c (x + a x^3)
//   t    =  tanh(u)
//   out  =  x (1 + t) / 2
// Backward:
//   dx   =  dout (1 + t) / 2                           // through the factor x
//         + dout x (1 - t^2) c (1 + 3 a x^2) / 2       // through t
#include "engine/cuda/device.cuh"

namespace normscope::cuda {
namespace gelu {

constexpr float kScale = 0.7978845608028654f, kCubic = 0.044715f;

struct Gelu {
  const float* x;
  float* out;
  __device__ void operator()(uint32_t i) const {
    const float v = x[i];
    out[i] = 0.5f * v * (1.0f + tanhf(kScale * (v + kCubic * v * v * v)));
  }
};

struct GeluGradient {
  const float *x, *dout;
  float* dx;
  bool add;
  __device__ void operator()(uint32_t i) const {
    const float v = x[i], t = tanhf(kScale * (v + kCubic * v * v * v));
    const float slope =
        0.5f * (1.0f + t) + 0.5f * v * (1.0f - t * t) * kScale * (1.0f + 3.0f * kCubic * v * v);
    write_to(dx + i, dout[i] * slope, add);
  }
};

void forward(const Call& c, Context& context) {
  const int64_t n = c.out.shape.size();
  launch(context, for_each<Gelu>, elementwise(n), n, Gelu{c.in[0].p, c.out.p});
}

void backward(const Call& c, Context& context) {
  const int64_t n = c.dout.shape.size();
  launch(context, for_each<GeluGradient>, elementwise(n), n,
         GeluGradient{c.in[0].p, c.dout.p, c.din[0].p, c.write[0] == Write::Add});
}

}  // namespace gelu

Kernels gelu_kernels() {
  using namespace gelu;
  return {forward, backward};
}

}  // namespace normscope::cuda
