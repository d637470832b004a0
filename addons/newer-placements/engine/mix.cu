// mix on CUDA, at each position, x (n,D), out (m,D), w (n,m) of all positions or of this one:
//   out_j   =  sum over i of w_ij x_i
//   dx_i    =  sum over j of w_ij dout_j
//   dw_ij   =  x_i . dout_j                // summed over the positions where they share w
// A thread works on one number of what is written; shared weights are sums over columns.
#include "engine/cuda/device.cuh"
#include "addons/newer-placements/engine/mix.h"

namespace normscope::cuda {
namespace mix {

/// The sizes of a mix; step: how far the weights of neighbouring positions are apart, 0 where all share
/// them.
struct Parts {
  uint32_t n, m, width, step;
};

/// Adds up `count` parts of `from` into one of `parts`; the weights of a sum are `stride` apart, and
/// the weights of neighbouring sums `next` apart.
struct WeightedSum {
  const float *from, *weights;
  float* to;
  uint32_t count, parts, width, step, stride, next;
  bool add;
  __device__ void operator()(uint32_t i) const {
    const uint32_t k = i % width, part = i / width % parts, position = i / width / parts;
    const float* w = weights + position * step + part * next;
    const float* x = from + position * count * width + k;
    float sum = w[0] * x[0];
    for (uint32_t s = 1; s < count; ++s) sum += w[s * stride] * x[s * width];
    write_to(to + i, sum, add);
  }
};

/// x_i . dout_j of one position: a thread a weight.
struct Products {
  const float *x, *dout;
  float* dw;
  Parts parts;
  bool add;
  __device__ void operator()(uint32_t at) const {
    const uint32_t j = at % parts.m, i = at / parts.m % parts.n, position = at / parts.m / parts.n;
    const float* a = x + (position * parts.n + i) * parts.width;
    const float* b = dout + (position * parts.m + j) * parts.width;
    float sum = 0.0f;
    for (uint32_t k = 0; k < parts.width; ++k) sum += a[k] * b[k];
    write_to(dw + at, sum, add);
  }
};

/// A summand of dw_ij: number r of all positions, in column i m + j.
struct Term {
  const float *x, *dout;
  Parts parts;
  __device__ float operator()(uint32_t r, uint32_t column) const {
    const uint32_t k = r % parts.width, position = r / parts.width;
    const uint32_t i = column / parts.m, j = column % parts.m;
    return x[(position * parts.n + i) * parts.width + k] * dout[(position * parts.m + j) * parts.width + k];
  }
};

Parts parts_of(const Call& c) {
  const auto spec = c.attributes.as<MixSpec>();
  const uint32_t n = static_cast<uint32_t>(spec.from), m = static_cast<uint32_t>(spec.to);
  const bool shared = c.in[1].shape.size() == int64_t{n} * m;
  return {n, m, static_cast<uint32_t>(c.in[0].shape.cols()), shared ? 0 : n * m};
}

void forward(const Call& c, Context& context) {
  const Parts p = parts_of(c);
  const int64_t size = c.out.shape.size();
  launch(context, for_each<WeightedSum>, elementwise(size), size,
         WeightedSum{c.in[0].p, c.in[1].p, c.out.p, p.n, p.m, p.width, p.step, p.m, 1, false});
}

void backward(const Call& c, Context& context) {
  const Parts p = parts_of(c);
  const int64_t size = c.in[0].shape.size(), weights = c.in[1].shape.size();
  if (c.din[0])
    launch(context, for_each<WeightedSum>, elementwise(size), size,
           WeightedSum{c.dout.p, c.in[1].p, c.din[0].p, p.m, p.n, p.width, p.step, 1, p.m,
                       c.write[0] == Write::Add});
  if (!c.din[1]) return;
  if (p.step > 0) {
    launch(context, for_each<Products>, elementwise(weights), weights,
           Products{c.in[0].p, c.dout.p, c.din[1].p, p, c.write[1] == Write::Add});
    return;
  }
  ColumnOutputs outputs;
  outputs.out[0] = c.din[1].p;
  outputs.add[0] = c.write[1] == Write::Add;
  launch(context, sum_columns<float, Term>, column_sums(weights), size / p.n, static_cast<uint32_t>(weights),
         Term{c.in[0].p, c.dout.p, p}, outputs);
}

}  // namespace mix

Kernels mix_kernels() {
  using namespace mix;
  return {forward, backward};
}

}  // namespace normscope::cuda
