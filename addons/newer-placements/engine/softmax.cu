// softmax on CUDA, over runs of n numbers x:
//   out_i  =  exp(x_i - max) / sum over k of exp(x_k - max)
//   dx_i   =  out_i (dout_i - sum over k of out_k dout_k)
// With rounds, over n x n matrices:
//   M           =  exp(x - max of its row), at least kLeastOfRow
//   each round:    every row of M over its sum, then every column over its own
// Backward undoes the divisions, the last first; s is the sum that a line was divided by:
//   dM_j  <-  (dM_j - sum over k of dM_k M_k) / s
//   M_j   <-  s M_j
//   dx     =  dM M
// A thread works on one group.
#include "engine/cuda/device.cuh"
#include "addons/newer-placements/engine/softmax.h"

namespace normscope::cuda {
namespace softmax {

__device__ inline float largest_of(const float* x, uint32_t n) {
  float most = x[0];
  for (uint32_t i = 1; i < n; ++i) most = fmaxf(most, x[i]);
  return most;
}

struct Softmax {
  const float* x;
  float* out;
  uint32_t n;
  __device__ void operator()(uint32_t g) const {
    const float *from = x + g * n, most = largest_of(from, n);
    float* to = out + g * n;
    float sum = 0.0f;
    for (uint32_t i = 0; i < n; ++i) sum += to[i] = expf(from[i] - most);
    for (uint32_t i = 0; i < n; ++i) to[i] /= sum;
  }
};

struct SoftmaxGradient {
  const float *x, *dout;
  float* dx;
  uint32_t n;
  bool add;
  __device__ void operator()(uint32_t g) const {
    const float *from = x + g * n, *d = dout + g * n, most = largest_of(from, n);
    float sum = 0.0f, along = 0.0f;
    for (uint32_t i = 0; i < n; ++i) {
      const float e = expf(from[i] - most);
      sum += e;
      along += e * d[i];
    }
    along /= sum;
    for (uint32_t i = 0; i < n; ++i)
      write_to(dx + g * n + i, expf(from[i] - most) / sum * (d[i] - along), add);
  }
};

constexpr uint32_t kMostSize = kMostSinkhornSize, kMostGroup = kMostSize * kMostSize,
                   kMostSums = 2 * kMostSinkhornRounds * kMostSize;

/// One step of Sinkhorn and Knopp's: the lines of a matrix, `next` apart, whose numbers are `step` apart.
struct Division {
  uint32_t next, step;
};
__device__ inline Division division_of(uint32_t k, uint32_t n) {
  return k % 2 == 0 ? Division{n, 1} : Division{1, n};
}

/// Carries out all divisions of M; `sums`, if any, receives the n sums of each.
__device__ inline void balance(const float* x, float* m, uint32_t n, uint32_t rounds, float* sums) {
  for (uint32_t row = 0; row < n; ++row) {
    const float most = largest_of(x + row * n, n);
    for (uint32_t i = row * n; i < (row + 1) * n; ++i) {
      const float e = expf(x[i] - most);
      m[i] = e < kLeastOfRow ? kLeastOfRow : e;  // NaN stays
    }
  }
  for (uint32_t k = 0; k < 2 * rounds; ++k) {
    const Division by = division_of(k, n);
    for (uint32_t line = 0; line < n; ++line) {
      float sum = 0.0f;
      for (uint32_t i = 0; i < n; ++i) sum += m[line * by.next + i * by.step];
      for (uint32_t i = 0; i < n; ++i) m[line * by.next + i * by.step] /= sum;
      if (sums) sums[k * n + line] = sum;
    }
  }
}

struct Sinkhorn {
  const float* x;
  float* out;
  uint32_t n, rounds;
  __device__ void operator()(uint32_t g) const {
    float m[kMostGroup];
    balance(x + g * n * n, m, n, rounds, nullptr);
    for (uint32_t i = 0; i < n * n; ++i) out[g * n * n + i] = m[i];
  }
};

struct SinkhornGradient {
  const float *x, *dout;
  float* dx;
  uint32_t n, rounds;
  bool add;
  __device__ void operator()(uint32_t g) const {
    float m[kMostGroup], dm[kMostGroup], sums[kMostSums];
    const uint32_t group = n * n;
    balance(x + g * group, m, n, rounds, sums);
    for (uint32_t i = 0; i < group; ++i) dm[i] = dout[g * group + i];
    for (uint32_t k = 2 * rounds; k-- > 0;) go_back(m, dm, division_of(k, n), sums + k * n);
    for (uint32_t i = 0; i < group; ++i) write_to(dx + g * group + i, dm[i] * m[i], add);
  }
  __device__ void go_back(float* m, float* dm, Division by, const float* sums) const {
    for (uint32_t line = 0; line < n; ++line) {
      float along = 0.0f;
      for (uint32_t i = 0; i < n; ++i)
        along += dm[line * by.next + i * by.step] * m[line * by.next + i * by.step];
      for (uint32_t i = 0; i < n; ++i) {
        const uint32_t at = line * by.next + i * by.step;
        dm[at] = (dm[at] - along) / sums[line];
        m[at] *= sums[line];
      }
    }
  }
};

uint32_t size_of(const Call& c) { return static_cast<uint32_t>(c.attributes.as<SoftmaxSpec>().size); }
uint32_t rounds_of(const Call& c) { return static_cast<uint32_t>(c.attributes.as<SoftmaxSpec>().rounds); }
int64_t groups_of(const Call& c) {
  const int64_t n = size_of(c);
  return c.in[0].shape.size() / (rounds_of(c) > 0 ? n * n : n);
}

void forward(const Call& c, Context& context) {
  const int64_t groups = groups_of(c);
  if (rounds_of(c) == 0)
    launch(context, for_each<Softmax>, elementwise(groups), groups, Softmax{c.in[0].p, c.out.p, size_of(c)});
  else
    launch(context, for_each<Sinkhorn>, elementwise(groups), groups,
           Sinkhorn{c.in[0].p, c.out.p, size_of(c), rounds_of(c)});
}

void backward(const Call& c, Context& context) {
  const int64_t groups = groups_of(c);
  const bool add = c.write[0] == Write::Add;
  if (rounds_of(c) == 0)
    launch(context, for_each<SoftmaxGradient>, elementwise(groups), groups,
           SoftmaxGradient{c.in[0].p, c.dout.p, c.din[0].p, size_of(c), add});
  else
    launch(context, for_each<SinkhornGradient>, elementwise(groups), groups,
           SinkhornGradient{c.in[0].p, c.dout.p, c.din[0].p, size_of(c), rounds_of(c), add});
}

}  // namespace softmax

Kernels softmax_kernels() {
  using namespace softmax;
  return {forward, backward};
}

}  // namespace normscope::cuda
