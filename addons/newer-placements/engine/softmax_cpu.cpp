// softmax on the CPU, over runs of n numbers x:
//   out_i  =  exp(x_i - max) / sum over k of exp(x_k - max)
//   dx_i   =  out_i (dout_i - sum over k of out_k dout_k)
// With rounds, over n x n matrices:
//   M           =  exp(x - max of its row), at least kLeastOfRow
//   each round:    every row of M over its sum, then every column over its own
// Backward undoes the divisions, the last first; s is the sum that a line was divided by:
//   dM_j  <-  (dM_j - sum over k of dM_k M_k) / s
//   M_j   <-  s M_j
//   dx     =  dM M
// A chunk is a number of groups. They are small: plain loops.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "addons/newer-placements/engine/softmax_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "addons/newer-placements/engine/softmax.h"
#include "engine/cpu/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

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

/// Writes the matrix that is divided.
void start(const float* x, int64_t n, float* m) {
  const VF least = hn::Set(DF(), kLeastOfRow);
  for (int64_t row = 0; row < n; ++row) exponentials(x + row * n, n, m + row * n);
  each_vector(n * n, [&](int64_t i, auto lanes) HWY_ATTR {
    const VF v = lanes.load(m + i);
    lanes.store(hn::IfThenElse(hn::Lt(v, least), least, v), m + i);  // NaN stays
  });
}

/// One step of Sinkhorn and Knopp's: the lines of a matrix, `next` apart, whose numbers are `step` apart.
struct Division {
  int64_t next, step;
};
Division division_of(int64_t k, int64_t n) { return k % 2 == 0 ? Division{n, 1} : Division{1, n}; }

/// Carries out all divisions; `sums`, if any, receives the n sums of each.
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

void forward(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
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

void backward(const Call& call, const StepInputs&, int64_t chunk, Scratch scratch) noexcept {
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

Stages softmax_forward(const Call& call) { return one_stage(forward, group_cut(call).chunks); }

Stages softmax_backward(const Call& call) {
  return one_stage(backward, call.write[0] == Write::Skip ? 0 : group_cut(call).chunks);
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NORMSCOPE_KERNELS(softmax)
