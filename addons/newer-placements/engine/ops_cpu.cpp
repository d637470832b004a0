// The ops of the newer placements on the CPU: ops.h.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "addons/newer-placements/engine/ops_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "addons/newer-placements/engine/ops.h"
#include "engine/cpu/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

// softmax on the CPU, over runs of n numbers x:
//   out_i  =  exp(x_i - max) / sum over k of exp(x_k - max)
//   dx_i   =  out_i (dout_i - sum over k of out_k dout_k)
// With rounds, over n x n matrices:
//   M           =  exp(x - max of its row), at least kMinOfRow
//   each round:    every row of M over its sum, then every column over its own
// Backward undoes the divisions, the last first; s is the sum that a line was divided by:
//   dM_j  <-  (dM_j - sum over k of dM_k M_k) / s
//   M_j   <-  s M_j
//   dx     =  dM M
// A chunk is a number of groups. They are small: plain loops.

int64_t group_of(const Call& call) {
  const auto spec = call.attributes.as<SoftmaxSpec>();
  return spec.rounds > 0 ? int64_t{spec.size} * spec.size : spec.size;
}
Cut group_cut(const Call& call) {
  const int64_t group = group_of(call), groups = call.in[0].shape.size() / group;
  const int64_t work = call.attributes.as<SoftmaxSpec>().rounds + 4;  // of a group, in passes over it
  return cut(groups, larger(kFlatChunk / (group * work), div_up(groups, 64)));
}

/// Writes exp(x - max) and returns their sum.
float exponentials(const float* x, int64_t n, float* to) {
  const DF d;
  const VF lowest = hn::Set(d, -__builtin_inff());
  VF most = lowest, total = hn::Zero(d);
  each_vector(n, [&](int64_t i, auto lanes)
                     HWY_ATTR { most = hn::Max(most, lanes.fill_rest(lanes.load(x + i), lowest)); });
  const VF shift = hn::Set(d, max_of(d, most));
  each_vector(n, [&](int64_t i, auto lanes) HWY_ATTR {
    const VF e = exp_of(d, hn::Sub(lanes.load(x + i), shift));
    total = hn::Add(total, lanes.zero_rest(e));
    lanes.store(e, to + i);
  });
  return sum_of(d, total);
}

void softmax_of(const float* x, int64_t n, float* to) {
  const DF d;
  const VF sum = hn::Set(d, exponentials(x, n, to));
  each_vector(n,
              [&](int64_t i, auto lanes) HWY_ATTR { lanes.store(hn::Div(lanes.load(to + i), sum), to + i); });
}

/// Writes M before the first round.
void start(const float* x, int64_t n, float* m) {
  const VF least = hn::Set(DF(), kMinOfRow);
  for (int64_t row = 0; row < n; ++row) exponentials(x + row * n, n, m + row * n);
  each_vector(n * n, [&](int64_t i, auto lanes) HWY_ATTR {
    const VF v = lanes.load(m + i);
    lanes.store(hn::IfThenElse(hn::Lt(v, least), least, v), m + i);  // NaN stays
  });
}

/// One division of a round, of every line by its sum: lines are `next` apart, their numbers `step` apart.
struct Division {
  int64_t next, step;
};
Division division_of(int64_t k, int64_t n) { return k % 2 == 0 ? Division{n, 1} : Division{1, n}; }

/// Carries out all rounds; `sums`, if not null, receives the n sums of each division.
void balance(float* m, int64_t n, int64_t rounds, float* sums) {
  for (int64_t k = 0; k < 2 * rounds; ++k) {
    const Division by = division_of(k, n);
    for (int64_t line = 0; line < n; ++line) {
      float sum = 0.0f;
      for (int64_t i = 0; i < n; ++i) sum += m[line * by.next + i * by.step];
      for (int64_t i = 0; i < n; ++i) m[line * by.next + i * by.step] /= sum;
      if (sums) sums[k * n + line] = sum;
    }
  }
}

/// Takes the matrix and its gradient back through all divisions.
void unbalance(float* m, float* dm, int64_t n, int64_t rounds, const float* sums) {
  for (int64_t k = 2 * rounds; k-- > 0;) {
    const Division by = division_of(k, n);
    for (int64_t line = 0; line < n; ++line) {
      float along = 0.0f;
      const float sum = sums[k * n + line];
      for (int64_t i = 0; i < n; ++i)
        along += dm[line * by.next + i * by.step] * m[line * by.next + i * by.step];
      for (int64_t i = 0; i < n; ++i) {
        const int64_t at = line * by.next + i * by.step;
        dm[at] = (dm[at] - along) / sum;
        m[at] *= sum;
      }
    }
  }
}

void softmax_groups(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  const auto spec = call.attributes.as<SoftmaxSpec>();
  const int64_t group = group_of(call);
  const Cut c = group_cut(call);
  for (int64_t g = c.begin(chunk); g < c.end(chunk, call.in[0].shape.size() / group); ++g) {
    const float* x = call.in[0].p + g * group;
    float* out = call.out.p + g * group;
    if (spec.rounds == 0) {
      softmax_of(x, group, out);
      continue;
    }
    start(x, spec.size, out);
    balance(out, spec.size, spec.rounds, nullptr);
  }
}

void softmax_gradient(const float* x, const float* dout, int64_t n, float* y, float* dx, bool add) {
  softmax_of(x, n, y);
  const VF along = hn::Set(DF(), static_cast<float>(sum_of_products(y, dout, n)));
  each_vector(n, [&](int64_t i, auto lanes) HWY_ATTR {
    put(lanes, hn::Mul(lanes.load(y + i), hn::Sub(lanes.load(dout + i), along)), dx + i, add);
  });
}

void sinkhorn_gradient(const float* x, const float* dout, SoftmaxSpec spec, float* scratch, float* dx,
                       bool add) {
  const int64_t group = int64_t{spec.size} * spec.size;
  float *m = scratch, *dm = m + group, *sums = dm + group;
  start(x, spec.size, m);
  balance(m, spec.size, spec.rounds, sums);
  for (int64_t i = 0; i < group; ++i) dm[i] = dout[i];
  unbalance(m, dm, spec.size, spec.rounds, sums);
  for (int64_t i = 0; i < group; ++i) dx[i] = dm[i] * m[i] + (add ? dx[i] : 0.0f);
}

void softmax_groups_back(const Call& call, const StepInputs&, int64_t chunk, Scratch scratch) noexcept {
  const auto spec = call.attributes.as<SoftmaxSpec>();
  const int64_t group = group_of(call);
  const Cut c = group_cut(call);
  const bool add = call.write[0] == Write::Add;
  for (int64_t g = c.begin(chunk); g < c.end(chunk, call.in[0].shape.size() / group); ++g) {
    const float *x = call.in[0].p + g * group, *dout = call.dout.p + g * group;
    float* dx = call.din[0].p + g * group;
    if (spec.rounds == 0)
      softmax_gradient(x, dout, group, scratch.p, dx, add);
    else
      sinkhorn_gradient(x, dout, spec, scratch.p, dx, add);
  }
}

Stages softmax_forward(const Call& call) { return one_stage(softmax_groups, group_cut(call).chunks); }

Stages softmax_backward(const Call& call) {
  return one_stage(softmax_groups_back, call.write[0] == Write::Skip ? 0 : group_cut(call).chunks);
}

// mix on the CPU, at each position, x (n,D), out (m,D), w (n,m) of all positions or of this one:
//   out_j   =  sum over i of w_ij x_i
//   dx_i    =  sum over j of w_ij dout_j
//   dw_ij   =  x_i . dout_j                // summed over the positions where they share w
// Chunks of positions leave partial sums of dw in double; a last stage adds them.

/// The sizes of a mix: parts of x and of out, their width, and how far the weights of neighbouring
/// positions are apart (0: all share them).
struct Parts {
  int64_t n, m, width, positions, step;
};
Parts parts_of(const Call& call) {
  const auto spec = call.attributes.as<MixSpec>();
  const int64_t n = spec.from, m = spec.to, width = call.in[0].shape.cols();
  const int64_t positions = call.in[0].shape.size() / (n * width);
  return {n, m, width, positions, call.in[1].shape.size() == n * m ? 0 : n * m};
}
Cut position_cut(const Parts& p) {
  return cut(p.positions, larger(kFlatChunk / 2 / ((p.n + p.m) * p.width), div_up(p.positions, 64)));
}

/// Writes or adds the sum of `count` parts of `from`, each times its weight, `stride` weights apart.
HWY_INLINE void weighted_sum(const float* from, const float* weights, int64_t count, int64_t stride,
                             int64_t width, float* to, bool add) {
  const DF d;
  each_vector(width, [&](int64_t k, auto lanes) HWY_ATTR {
    VF sum = hn::Mul(hn::Set(d, weights[0]), lanes.load(from + k));
    for (int64_t i = 1; i < count; ++i)
      sum = hn::MulAdd(hn::Set(d, weights[i * stride]), lanes.load(from + i * width + k), sum);
    put(lanes, sum, to + k, add);
  });
}

void mix_positions(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  const Parts p = parts_of(call);
  const Cut c = position_cut(p);
  for (int64_t r = c.begin(chunk); r < c.end(chunk, p.positions); ++r)
    for (int64_t j = 0; j < p.m; ++j)
      weighted_sum(call.in[0].p + r * p.n * p.width, call.in[1].p + r * p.step + j, p.n, p.m, p.width,
                   call.out.p + (r * p.m + j) * p.width, false);
}

void backward_x(const Call& call, const Parts& p, int64_t r) {
  for (int64_t i = 0; i < p.n; ++i)
    weighted_sum(call.dout.p + r * p.m * p.width, call.in[1].p + r * p.step + i * p.m, p.m, 1, p.width,
                 call.din[0].p + (r * p.n + i) * p.width, call.write[0] == Write::Add);
}

/// Calls body(ij, x_i . dout_j) for the weights of a position.
template <typename Body>
HWY_INLINE void each_product(const Call& call, const Parts& p, int64_t r, const Body& body) {
  for (int64_t i = 0; i < p.n; ++i)
    for (int64_t j = 0; j < p.m; ++j) {
      const float *x = call.in[0].p + (r * p.n + i) * p.width, *dout = call.dout.p + (r * p.m + j) * p.width;
      body(i * p.m + j, sum_of_products(x, dout, p.width));
    }
}

void mix_positions_back(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  const Parts p = parts_of(call);
  const Cut c = position_cut(p);
  double* sums = doubles(call.workspace) + chunk * p.n * p.m;
  const bool weights = call.write[1] != Write::Skip, shared = p.step == 0;
  if (weights && shared)
    for (int64_t k = 0; k < p.n * p.m; ++k) sums[k] = 0;
  for (int64_t r = c.begin(chunk); r < c.end(chunk, p.positions); ++r) {
    if (call.write[0] != Write::Skip) backward_x(call, p, r);
    if (!weights) continue;
    each_product(call, p, r, [&](int64_t k, double product) HWY_ATTR {
      if (shared) {
        sums[k] += product;
        return;
      }
      float& to = call.din[1].p[r * p.step + k];
      to = static_cast<float>(product) + (call.write[1] == Write::Add ? to : 0.0f);
    });
  }
}

/// Adds up the chunks' parts of the gradient of shared weights.
void reduce(const Call& call, const StepInputs&, int64_t, Scratch) noexcept {
  const Parts p = parts_of(call);
  for (int64_t k = 0; k < p.n * p.m; ++k) {
    reduce_doubles(doubles(call.workspace) + k, position_cut(p).chunks, p.n * p.m, call.din[1].p[k],
                   call.write[1] == Write::Add);
  }
}

Stages mix_forward(const Call& call) { return one_stage(mix_positions, position_cut(parts_of(call)).chunks); }

Stages mix_backward(const Call& call) {
  Stages stages;
  const Parts p = parts_of(call);
  stages.add(mix_positions_back, position_cut(p).chunks);
  if (call.write[1] == Write::Skip || p.step != 0) return stages;
  stages.workspace_floats = static_cast<size_t>(2 * position_cut(p).chunks * p.n * p.m);
  stages.add(reduce, 1);
  return stages;
}

// ramp on the CPU, in one chunk: its parameter has few numbers.

void ramp_up(const Call& call, const StepInputs& step, int64_t, Scratch) noexcept {
  const float share =
      static_cast<float>(step.step) / static_cast<float>(call.attributes.as<RampSpec>().steps);
  const int64_t n = call.in[0].shape.size();
  for (int64_t i = 0; i < n; ++i) call.in[0].p[i] = share < 1 ? share : 1.0f;
}

Stages ramp_forward(const Call&) { return one_stage(ramp_up, 1); }

// repeat_heads on the CPU, x (B,T,H*dh) of H heads, out (B,T,H*n*dh) of n times as many:
//   out[h n + k]  =  x[h] for k < n
//   dx[h]         =  sum over k < n of dout[h n + k]      // in this order
// A chunk is a number of rows.

/// Calls body(h, width) for the heads of x in the rows of a chunk, counted through all rows.
template <typename Body>
void each_head(const Call& call, int64_t chunk, const Body& body) {
  const Cut c = row_cut(call.out.shape);
  const int64_t heads = call.attributes.as<RepeatHeadsSpec>().heads, width = call.in[0].shape.cols() / heads;
  const int64_t end = c.end(chunk, call.in[0].shape.rows()) * heads;
  for (int64_t h = c.begin(chunk) * heads; h < end; ++h) body(h, width);
}

void repeat_rows(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  const int64_t times = call.attributes.as<RepeatHeadsSpec>().times;
  each_head(call, chunk, [&](int64_t h, int64_t width) HWY_ATTR {
    const float* x = call.in[0].p + h * width;
    float* out = call.out.p + h * times * width;
    for (int64_t k = 0; k < times; ++k)
      each_vector(width, [&](int64_t j, auto lanes)
                             HWY_ATTR { lanes.store(lanes.load(x + j), out + k * width + j); });
  });
}

void repeat_rows_back(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  const int64_t times = call.attributes.as<RepeatHeadsSpec>().times;
  const bool add = call.write[0] == Write::Add;
  each_head(call, chunk, [&](int64_t h, int64_t width) HWY_ATTR {
    const float* dout = call.dout.p + h * times * width;
    float* dx = call.din[0].p + h * width;
    each_vector(width, [&](int64_t j, auto lanes) HWY_ATTR {
      VF sum = lanes.load(dout + j);
      for (int64_t k = 1; k < times; ++k) sum = hn::Add(sum, lanes.load(dout + k * width + j));
      put(lanes, sum, dx + j, add);
    });
  });
}

Stages repeat_heads_forward(const Call& call) {
  return one_stage(repeat_rows, row_cut(call.out.shape).chunks);
}

Stages repeat_heads_backward(const Call& call) {
  return one_stage(repeat_rows_back, call.write[0] == Write::Skip ? 0 : row_cut(call.out.shape).chunks);
}

// unit_vectors on the CPU. A chunk has some rows, or a strip of columns, which it passes over twice: for the squares,
// row by row of the matrix, and for the division. Either fits a cache.

constexpr int64_t kStrip = 64;  // columns of a chunk: four cache lines

void unit_rows(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  const DF d;
  const int64_t cols = call.in[0].shape.cols(), rows = call.in[0].shape.rows();
  const Cut of = row_cut(call.in[0].shape);
  for (int64_t r = of.begin(chunk); r < of.end(chunk, rows); ++r) {
    float* row = call.in[0].p + r * cols;
    const double square = sum_of_products(row, row, cols);
    if (!(square > 0)) continue;
    const VF by = hn::Set(d, static_cast<float>(1.0 / __builtin_sqrt(square)));
    each_vector(cols, [&](int64_t j, auto lanes)
                          HWY_ATTR { lanes.store(hn::Mul(lanes.load(row + j), by), row + j); });
  }
}

void unit_columns(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  const DF d;
  const int64_t cols = call.in[0].shape.cols(), rows = call.in[0].shape.rows(), first = chunk * kStrip,
                n = smaller(kStrip, cols - first);
  float* strip = call.in[0].p + first;
  HWY_ALIGN float by[kStrip] = {};
  for (int64_t r = 0; r < rows; ++r)
    each_vector(n, [&](int64_t j, auto lanes) HWY_ATTR {
      const VF x = lanes.load(strip + r * cols + j);
      lanes.store(hn::MulAdd(x, x, lanes.load(by + j)), by + j);
    });
  each_vector(n, [&](int64_t j, auto lanes) HWY_ATTR {
    const VF square = lanes.load(by + j), one = hn::Set(d, 1.0f);
    lanes.store(hn::IfThenElse(hn::Gt(square, hn::Zero(d)), hn::Div(one, hn::Sqrt(square)), one), by + j);
  });
  for (int64_t r = 0; r < rows; ++r)
    each_vector(n, [&](int64_t j, auto lanes) HWY_ATTR {
      float* at = strip + r * cols + j;
      lanes.store(hn::Mul(lanes.load(at), lanes.load(by + j)), at);
    });
}

Stages unit_vectors_forward(const Call& call) {
  const Shape& shape = call.in[0].shape;
  if (call.attributes.as<UnitVectorsSpec>().columns)
    return one_stage(unit_columns, div_up(shape.cols(), kStrip));
  return one_stage(unit_rows, row_cut(shape).chunks);
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NORMSCOPE_KERNELS(softmax)
NORMSCOPE_KERNELS(mix)
NORMSCOPE_FORWARD_KERNELS(ramp)
NORMSCOPE_KERNELS(repeat_heads)
NORMSCOPE_FORWARD_KERNELS(unit_vectors)
