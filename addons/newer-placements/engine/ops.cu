// The ops of the newer placements on CUDA: ops.h.
#include "addons/newer-placements/engine/ops.h"
#include "engine/cuda/device.cuh"

namespace normscope::cuda {

// softmax on CUDA, over runs of n numbers x:
//   out_i  =  exp(x_i - max) / sum over k of exp(x_k - max)
//   dx_i   =  out_i (dout_i - sum over k of out_k dout_k)
// With rounds, over n x n matrices:
//   M           =  exp(x - max of its row), at least kMinOfRow
//   each round:    every row of M over its sum, then every column over its own
// Backward undoes the divisions, the last first; s is the sum that a line was divided by:
//   dM_j  <-  (dM_j - sum over k of dM_k M_k) / s
//   M_j   <-  s M_j
//   dx     =  dM M
// A thread works on one group.

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

constexpr uint32_t kMaxSize = kMaxSinkhornSize, kMaxGroup = kMaxSize * kMaxSize,
                   kMaxSums = 2 * kMaxSinkhornRounds * kMaxSize;

/// One division of a round, of every line by its sum: lines are `next` apart, their numbers `step` apart.
struct Division {
  uint32_t next, step;
};
__device__ inline Division division_of(uint32_t k, uint32_t n) {
  return k % 2 == 0 ? Division{n, 1} : Division{1, n};
}

/// Carries out all rounds on M; `sums`, if not null, receives the n sums of each division.
__device__ inline void balance(const float* x, float* m, uint32_t n, uint32_t rounds, float* sums) {
  for (uint32_t row = 0; row < n; ++row) {
    const float most = largest_of(x + row * n, n);
    for (uint32_t i = row * n; i < (row + 1) * n; ++i) {
      const float e = expf(x[i] - most);
      m[i] = e < kMinOfRow ? kMinOfRow : e;  // NaN stays
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
    float m[kMaxGroup];
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
    float m[kMaxGroup], dm[kMaxGroup], sums[kMaxSums];
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

// mix on CUDA, at each position, x (n,D), out (m,D), w (n,m) of all positions or of this one:
//   out_j   =  sum over i of w_ij x_i
//   dx_i    =  sum over j of w_ij dout_j
//   dw_ij   =  x_i . dout_j                // summed over the positions where they share w
// A thread works on one number of what is written; shared weights are sums over columns.

namespace mix {

/// The sizes of a mix; step: how far the weights of neighbouring positions are apart, 0 where all share them.
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

// ramp on CUDA: a thread for each number.

namespace ramp {

struct FollowSteps {
  float* w;
  float steps;
  const StepInputs* step;
  __device__ void operator()(uint32_t i) const {
    const float share = static_cast<float>(step->step) / steps;
    w[i] = share < 1 ? share : 1.0f;
  }
};

void forward(const Call& c, Context& context) {
  const int64_t n = c.in[0].shape.size();
  launch(context, for_each<FollowSteps>, elementwise(n), n,
         FollowSteps{c.in[0].p, static_cast<float>(c.attributes.as<RampSpec>().steps), c.step});
}

}  // namespace ramp

Kernels ramp_kernels() { return {ramp::forward, nullptr}; }

// repeat_heads on CUDA, x (B,T,H*dh) of H heads, out (B,T,H*n*dh) of n times as many:
//   out[h n + k]  =  x[h] for k < n
//   dx[h]         =  sum over k < n of dout[h n + k]      // in this order
// A thread works on one number of what is written.

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

// unit_vectors on CUDA: a warp for each row, or a block for each 32 columns, whose warps share the rows.

namespace unit_vectors {

constexpr uint32_t kColumns = 32, kColumnWarps = 32;

__device__ inline float inverse_root(float square) { return square > 0 ? 1.0f / sqrtf(square) : 1.0f; }

__global__ void __launch_bounds__(32 * kWarps) unit_rows(float* w, uint32_t rows, uint32_t cols) {
  const uint32_t r = blockIdx.x * kWarps + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  float* row = w + size_t{r} * cols;
  float square = 0;
  for (uint32_t j = lane; j < cols; j += 32) square += row[j] * row[j];
  const float by = inverse_root(warp_sum(square));
  for (uint32_t j = lane; j < cols; j += 32) row[j] *= by;
}

__global__ void __launch_bounds__(kColumns* kColumnWarps)
    unit_columns(float* w, uint32_t rows, uint32_t cols) {
  __shared__ float squares[kColumnWarps][kColumns + 1];
  __shared__ float by[kColumns];
  const uint32_t lane = threadIdx.x % kColumns, warp = threadIdx.x / kColumns,
                 j = blockIdx.x * kColumns + lane;
  float square = 0;
  for (uint32_t r = warp; r < rows && j < cols; r += kColumnWarps) {
    const float x = w[size_t{r} * cols + j];
    square += x * x;
  }
  squares[warp][lane] = square;
  __syncthreads();
  const float total = warp_sum(squares[lane][warp]);  // this warp adds up the column of its number
  if (lane == 0) by[warp] = inverse_root(total);
  __syncthreads();
  for (uint32_t r = warp; r < rows && j < cols; r += kColumnWarps) w[size_t{r} * cols + j] *= by[lane];
}

void forward(const Call& c, Context& context) {
  const auto rows = static_cast<uint32_t>(c.in[0].shape.rows()),
             cols = static_cast<uint32_t>(c.in[0].shape.cols());
  if (c.attributes.as<UnitVectorsSpec>().columns)
    launch(context, unit_columns,
           Launch{static_cast<uint32_t>(div_up(cols, kColumns)), 1, kColumns * kColumnWarps, 0}, c.in[0].p,
           rows, cols);
  else
    launch(context, unit_rows, warp_per_row(rows), c.in[0].p, rows, cols);
}

}  // namespace unit_vectors

Kernels unit_vectors_kernels() { return {unit_vectors::forward, nullptr}; }

}  // namespace normscope::cuda
