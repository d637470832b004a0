// max_pool on CUDA, for window r and channel c of an image, and pixels p:
//   out_{r,c}  =  max over the pixels p under window r of x_{p,c}, NaN where one is
//   dx_{p,c}   =  sum of dout_{r,c} over the windows r whose first largest pixel, row by row, is p
// Backward a thread takes an element of x and gathers over the windows that it lies under, which needs no atomics.
#include "engine/cuda/device.cuh"
#include "addons/systems/engine/max_pool.h"

namespace normscope::cuda {
namespace max_pool {

struct Geometry {
  uint32_t width, channels, size, stride, rows, columns, numbers;
};

Geometry geometry_of(const Call& c) {
  const ImageWindow w = c.attributes.as<MaxPoolSpec>().window;
  return {static_cast<uint32_t>(w.width),    static_cast<uint32_t>(w.channels),
          static_cast<uint32_t>(w.size),     static_cast<uint32_t>(w.stride),
          static_cast<uint32_t>(w.rows()),   static_cast<uint32_t>(w.columns()),
          static_cast<uint32_t>(w.numbers())};
}

/// Tells where the largest is under the window whose first pixel is at x; of equal ones the first.
__device__ uint32_t find_largest(const Geometry& g, const float* x) {
  uint32_t at = 0;
  float most = x[0];
  for (uint32_t i = 0; i < g.size; ++i)
    for (uint32_t j = 0; j < g.size; ++j) {
      const uint32_t here = (i * g.width + j) * g.channels;
      const float v = x[here];
      if (v > most || (v != v && most == most)) {
        most = v;
        at = here;
      }
    }
  return at;
}

struct Largest {
  const float* x;
  float* out;
  Geometry g;
  __device__ void operator()(uint32_t i) const {
    const uint32_t c = i % g.channels, window = i / g.channels, q = window % g.columns,
                   r = window / g.columns % g.rows, b = window / g.columns / g.rows;
    const float* corner = x + b * g.numbers + (r * g.width + q) * g.stride * g.channels + c;
    out[i] = corner[find_largest(g, corner)];
  }
};

struct LargestGradient {
  const float *x, *dout;
  float* dx;
  Geometry g;
  bool add;
  __device__ void operator()(uint32_t i) const {
    const uint32_t b = i / g.numbers, inside = i % g.numbers, c = inside % g.channels,
                   column = inside / g.channels % g.width, row = inside / g.channels / g.width;
    const uint32_t r0 = row < g.size ? 0 : (row - g.size) / g.stride + 1,
                   q0 = column < g.size ? 0 : (column - g.size) / g.stride + 1;
    float sum = 0;
    for (uint32_t r = r0; r < g.rows && r * g.stride <= row; ++r)
      for (uint32_t q = q0; q < g.columns && q * g.stride <= column; ++q) {
        const uint32_t corner = (r * g.width + q) * g.stride * g.channels + c;
        if (corner + find_largest(g, x + b * g.numbers + corner) == inside)
          sum += dout[((b * g.rows + r) * g.columns + q) * g.channels + c];
      }
    write_to(dx + i, sum, add);
  }
};

void forward(const Call& c, Context& context) {
  const int64_t n = c.out.shape.size();
  launch(context, for_each<Largest>, elementwise(n), n, Largest{c.in[0].p, c.out.p, geometry_of(c)});
}

void backward(const Call& c, Context& context) {
  if (!c.din[0]) return;
  const int64_t n = c.in[0].shape.size();
  launch(context, for_each<LargestGradient>, elementwise(n), n,
         LargestGradient{c.in[0].p, c.dout.p, c.din[0].p, geometry_of(c), c.write[0] == Write::Add});
}

}  // namespace max_pool

Kernels max_pool_kernels() {
  using namespace max_pool;
  return {forward, backward};
}

}  // namespace normscope::cuda
