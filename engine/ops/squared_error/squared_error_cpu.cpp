// squared_error on the CPU, over rows of predictions p and targets t (D):
//   loss  =  sum over r of (w_r / W) sum over j of (p_j - t_j)^2 / D      // W: the sum of w_r
// Backward:
//   dp_j  =  dloss (w_r / W) 2 / D (p_j - t_j),  dt_j  =  -dp_j
// A row of weight 0 does not count: what it holds is not read. With no row left the loss is 0.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/ops/squared_error/squared_error_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "engine/cpu/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

Cut row_cut(const Call& call) {
  const int64_t d = call.in[0].shape.cols(), r = call.in[0].shape.rows();
  return cut(r, larger(larger(1, kFlatChunk / 4 / d), div_up(r, 64)));
}
double weight_of(const Call& call, int64_t r) {
  return call.in[2] ? static_cast<double>(call.in[2].p[r]) : 1.0;
}

/// Writes the chunk's sums of w times the row's error, and of w, to the workspace.
void forward_rows(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  const Cut c = row_cut(call);
  const int64_t width = call.in[0].shape.cols();
  double loss = 0, weight = 0;
  for (int64_t r = c.begin(chunk); r < c.end(chunk, call.in[0].shape.rows()); ++r) {
    const double w = weight_of(call, r);
    if (w == 0) continue;
    const float *p = call.in[0].p + r * width, *t = call.in[1].p + r * width;
    const double squares = sum_over(width, [&](int64_t j, auto lanes) HWY_ATTR {
      const VF error = hn::Sub(lanes.load(p + j), lanes.load(t + j));
      return hn::Mul(error, error);
    });
    loss += w * squares / static_cast<double>(width);
    weight += w;
  }
  doubles(call.workspace)[2 * chunk] = loss;
  doubles(call.workspace)[2 * chunk + 1] = weight;
}

void forward_sum(const Call& call, const StepInputs&, int64_t, Scratch) noexcept {
  double loss = 0, weight = 0;
  for (int64_t c = 0; c < row_cut(call).chunks; ++c) {
    loss += doubles(call.workspace)[2 * c];
    weight += doubles(call.workspace)[2 * c + 1];
  }
  const double inverse = weight != 0 ? 1 / weight : 0;
  for (int64_t r = 0; r < call.in[0].shape.rows(); ++r)
    call.saved[0].p[r] = static_cast<float>(weight_of(call, r) * inverse);
  *call.out.p = static_cast<float>(loss * inverse);
  if (call.stats) *call.stats = loss * inverse;
}

void backward(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  const DF d;
  const Cut c = row_cut(call);
  const int64_t width = call.in[0].shape.cols();
  const float dloss = call.dout ? *call.dout.p : 1.0f, twice = 2.0f / static_cast<float>(width);
  for (int64_t r = c.begin(chunk); r < c.end(chunk, call.in[0].shape.rows()); ++r) {
    const float share = call.saved[0].p[r];
    const float *p = call.in[0].p + r * width, *t = call.in[1].p + r * width;
    for (int k = 0; k < 2; ++k) {
      if (call.write[k] == Write::Skip) continue;
      float* to = call.din[k].p + r * width;
      const bool add = call.write[k] == Write::Add;
      if (share == 0) {
        if (!add)
          each_vector(width, [&](int64_t j, auto lanes) HWY_ATTR { lanes.store(hn::Zero(d), to + j); });
        continue;
      }
      const VF scale = hn::Set(d, (k == 0 ? dloss : -dloss) * share * twice);
      each_vector(width, [&](int64_t j, auto lanes) HWY_ATTR {
        put(lanes, hn::Mul(scale, hn::Sub(lanes.load(p + j), lanes.load(t + j))), to + j, add);
      });
    }
  }
}

Stages squared_error_forward(const Call& call) {
  Stages stages;
  stages.workspace_floats = static_cast<size_t>(4 * row_cut(call).chunks);
  stages.add(forward_rows, row_cut(call).chunks);
  stages.add(forward_sum, 1);
  return stages;
}

Stages squared_error_backward(const Call& call) { return one_stage(backward, row_cut(call).chunks); }

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NORMSCOPE_KERNELS(squared_error)
