// concat on CUDA, by the formulas of concat_cpu.cpp. A thread works on one element of the output.
#include "engine/cuda/device.cuh"
#include "engine/ops/ops.h"

namespace normscope::cuda {
namespace concat {

/// Maps an element of the output to an element of an input.
struct Parts {
  uint32_t a, b;  // floats of a row of each
  __device__ bool first(uint32_t i) const { return i % (a + b) < a; }
  __device__ uint32_t at(uint32_t i) const {
    const uint32_t row = i / (a + b), rest = i % (a + b);
    return rest < a ? row * a + rest : row * b + (rest - a);
  }
};

struct Concat {
  const float *a, *b;
  float* out;
  Parts parts;
  __device__ void operator()(uint32_t i) const { out[i] = (parts.first(i) ? a : b)[parts.at(i)]; }
};

struct ConcatGradient {
  const float* dout;
  float *da, *db;
  bool add_a, add_b;
  Parts parts;
  __device__ void operator()(uint32_t i) const {
    const bool first = parts.first(i);
    float* to = first ? da : db;
    if (to) write_to(to + parts.at(i), dout[i], first ? add_a : add_b);
  }
};

Parts parts_of(const Call& c) {
  const Shape& b = c.in[1].shape;
  const int64_t rows = c.attributes.as<ConcatSpec>().parts ? b.rows() : b[0];
  return {static_cast<uint32_t>(c.in[0].shape.size() / rows), static_cast<uint32_t>(b.size() / rows)};
}

void forward(const Call& c, Context& context) {
  const int64_t n = c.out.shape.size();
  launch(context, for_each<Concat>, elementwise(n), n, Concat{c.in[0].p, c.in[1].p, c.out.p, parts_of(c)});
}

void backward(const Call& c, Context& context) {
  const int64_t n = c.dout.shape.size();
  launch(context, for_each<ConcatGradient>, elementwise(n), n,
         ConcatGradient{c.dout.p, c.din[0].p, c.din[1].p, c.write[0] == Write::Add, c.write[1] == Write::Add,
                        parts_of(c)});
}

}  // namespace concat

Kernels concat_kernels() {
  using namespace concat;
  return {forward, backward};
}

}  // namespace normscope::cuda
