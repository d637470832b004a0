// multiply on CUDA, over a, b and out of one shape:
//   out  =  a * b
//   da   =  b * dout
//   db   =  a * dout
#include "engine/cuda/device.cuh"

namespace normscope::cuda {
namespace multiply {

struct Product {
  const float *a, *b;
  float* out;
  __device__ void operator()(uint32_t i) const { out[i] = a[i] * b[i]; }
};

/// ProductGradient writes da before db, which adds to it where both are one value.
struct ProductGradient {
  const float *a, *b, *dout;
  float *da, *db;
  bool add_a, add_b;
  __device__ void operator()(uint32_t i) const {
    const float d = dout[i];
    if (da) write_to(da + i, b[i] * d, add_a);
    if (db) write_to(db + i, a[i] * d, add_b);
  }
};

void forward(const Call& c, Context& context) {
  const int64_t n = c.out.shape.size();
  launch(context, for_each<Product>, elementwise(n), n, Product{c.in[0].p, c.in[1].p, c.out.p});
}

void backward(const Call& c, Context& context) {
  const int64_t n = c.dout.shape.size();
  launch(context, for_each<ProductGradient>, elementwise(n), n,
         ProductGradient{c.in[0].p, c.in[1].p, c.dout.p, c.din[0].p, c.din[1].p, c.write[0] == Write::Add,
                         c.write[1] == Write::Add});
}

}  // namespace multiply

Kernels multiply_kernels() {
  using namespace multiply;
  return {forward, backward};
}

}  // namespace normscope::cuda
