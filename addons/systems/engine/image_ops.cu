// Convolutions and their pooling on CUDA: image_ops.h.
#include "addons/systems/engine/image_ops.h"
#include "engine/cuda/device.cuh"

namespace normscope::cuda {

// conv2d on CUDA lays out the patches P (windows of all images, numbers under one) in the workspace, then
// multiplies. W (numbers under a window, O), b (O), out (windows, O):
//   out  =  P W + b
//   dW   =  P^T dout
//   dP   =  dout W^T
//   dx   =  at each pixel the sum of dP over the windows that read it
//   db   =  sum over windows of dout

namespace conv2d {

struct Geometry {
  uint32_t height, width, channels, size, stride, padding, rows, columns, patch;
};

Geometry geometry_of(const Call& c) {
  const ImageWindow w = c.attributes.as<Conv2dSpec>().window;
  return {
      static_cast<uint32_t>(w.height), static_cast<uint32_t>(w.width),     static_cast<uint32_t>(w.channels),
      static_cast<uint32_t>(w.size),   static_cast<uint32_t>(w.stride),    static_cast<uint32_t>(w.padding),
      static_cast<uint32_t>(w.rows()), static_cast<uint32_t>(w.columns()), static_cast<uint32_t>(w.patch())};
}

/// The rows and columns of P, and the channels that are written.
struct Sizes {
  int64_t windows, patch, channels;
  /// The floats of P, rounded up so that what follows is aligned as a tensor is.
  int64_t floats() const { return div_up(windows * patch, 64) * 64; }
};

Sizes sizes_of(const Call& c) {
  const ImageWindow w = c.attributes.as<Conv2dSpec>().window;
  return {c.in[0].shape[0] * w.windows(), w.patch(), c.in[1].shape.cols()};
}

Gemm product(const Call& c) {
  const Sizes s = sizes_of(c);
  Gemm g;
  g.m = s.windows;
  g.k = s.patch;
  g.n = s.channels;
  g.a = c.workspace;
  g.b = c.in[1].p;
  g.bias = c.in[2].p;
  g.c = c.out.p;
  return g;
}

Gemm patch_gradient(const Call& c) {
  const Sizes s = sizes_of(c);
  Gemm g;
  g.m = s.windows;
  g.n = s.patch;
  g.k = s.channels;
  g.tb = true;
  g.a = c.dout.p;
  g.b = c.in[1].p;
  g.c = c.workspace;
  return g;
}

Gemm weight_gradient(const Call& c) {
  const Sizes s = sizes_of(c);
  Gemm g;
  g.k = s.windows;
  g.ta = true;
  g.m = s.patch;
  g.n = s.channels;
  g.a = c.workspace;
  g.b = c.dout.p;
  g.c = c.din[1].p;
  g.add = c.write[1] == Write::Add;
  return g;
}

/// Writes one number of P: zero outside the image.
struct Patches {
  const float* x;
  float* to;
  Geometry g;
  __device__ void operator()(uint32_t i) const {
    const uint32_t inside = i % g.patch, window = i / g.patch;
    const uint32_t c = inside % g.channels, k = inside / g.channels % g.size,
                   line = inside / g.channels / g.size;
    const uint32_t q = window % g.columns, r = window / g.columns % g.rows, b = window / g.columns / g.rows;
    // Counted from the padding, so that no index is below zero.
    const uint32_t row = r * g.stride + line, column = q * g.stride + k;
    const bool there =
        row >= g.padding && row < g.height + g.padding && column >= g.padding && column < g.width + g.padding;
    const uint32_t pixel = (b * g.height + row - g.padding) * g.width + column - g.padding;
    to[i] = there ? x[pixel * g.channels + c] : 0.0f;
  }
};

/// Sums dx of one number: the numbers of dP from every window that reads it, in the order of the windows.
struct Gather {
  const float* from;
  float* dx;
  Geometry g;
  bool add;
  __device__ void operator()(uint32_t i) const {
    const uint32_t c = i % g.channels, x = i / g.channels % g.width, y = i / g.channels / g.width % g.height,
                   b = i / g.channels / g.width / g.height;
    const uint32_t row = y + g.padding, column = x + g.padding;
    const uint32_t r0 = row < g.size ? 0 : (row - g.size) / g.stride + 1,
                   q0 = column < g.size ? 0 : (column - g.size) / g.stride + 1;
    float sum = 0;
    for (uint32_t r = r0; r < g.rows && r * g.stride <= row; ++r)
      for (uint32_t q = q0; q < g.columns && q * g.stride <= column; ++q) {
        const uint32_t window = (b * g.rows + r) * g.columns + q;
        const uint32_t inside = (row - r * g.stride) * g.size + column - q * g.stride;
        sum += from[window * g.patch + inside * g.channels + c];
      }
    write_to(dx + i, sum, add);
  }
};

void make_patches(const Call& c, Context& context) {
  const Sizes s = sizes_of(c);
  const int64_t n = s.windows * s.patch;
  launch(context, for_each<Patches>, elementwise(n), n, Patches{c.in[0].p, c.workspace, geometry_of(c)});
}

void forward(const Call& c, Context& context) {
  make_patches(c, context);
  gemm(context, product(c), c.workspace + sizes_of(c).floats());
}

// The products run one after the other, because they share the workspace.
void backward(const Call& c, Context& context) {
  float* rest = c.workspace + sizes_of(c).floats();
  if (c.din[0]) {
    gemm(context, patch_gradient(c), rest);
    const int64_t n = c.in[0].shape.size();
    launch(context, for_each<Gather>, elementwise(n), n,
           Gather{c.workspace, c.din[0].p, geometry_of(c), c.write[0] == Write::Add});
  }
  if (c.din[1]) {
    make_patches(c, context);
    gemm(context, weight_gradient(c), rest);
  }
  if (c.din[2])
    sum_rows(context, c.dout.p, sizes_of(c).windows, sizes_of(c).channels, c.din[2].p,
             c.write[2] == Write::Add);
}

size_t workspace(const Call& c, Context& context) {
  size_t floats = 0;
  if (c.phase == Phase::Forward) floats = gemm_workspace(context, product(c));
  if (c.write[0] != Write::Skip) floats = std::max(floats, gemm_workspace(context, patch_gradient(c)));
  if (c.write[1] != Write::Skip) floats = std::max(floats, gemm_workspace(context, weight_gradient(c)));
  return floats + static_cast<size_t>(sizes_of(c).floats());
}

}  // namespace conv2d

Kernels conv2d_kernels() {
  using namespace conv2d;
  return {forward, backward, workspace};
}

// max_pool on CUDA, for window r and channel c of an image, and pixels p:
//   out_{r,c}  =  max over the pixels p under window r of x_{p,c}, NaN where one is
//   dx_{p,c}   =  sum of dout_{r,c} over the windows r whose first largest pixel, row by row, is p
// Backward a thread takes an element of x and gathers over the windows that it lies under, which needs no atomics.

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

/// The index of the largest number under the window whose first pixel is at x; of equal ones the first.
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
