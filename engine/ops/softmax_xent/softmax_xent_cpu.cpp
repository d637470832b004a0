// softmax_xent on the CPU, over the rows x (V) of the logits that have a target; e is the label smoothing:
//   lse_r     =  log(sum over v of exp(x_v))
//   CE_r      =  (1 - e) (lse_r - x_target) + e (lse_r - mean(x))
//   loss      =  sum over r of (w_r / W) CE_r                         // W: the sum of w_r over these rows
// Backward:
//   dlogit_v  =  dloss (w_r / W) exp(x_v - lse_r)                     // the softmax
//              - dloss (w_r / W) ((1 - e) [v = target] + e / V)       // the target distribution
// A row without a target (or with one outside [0,V)) has no gradient. With no row left the loss is 0.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/ops/softmax_xent/softmax_xent_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "engine/cpu/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

Cut row_cut(const Call& call) {
  const int64_t v = call.in[0].shape.cols(), r = call.in[0].shape.rows();
  return cut(r, larger(larger(1, kFlatChunk / 4 / v), div_up(r, 64)));
}
bool has_target(const Call& call, int64_t r) {
  const int32_t target = call.in[1].i32()[r];
  return target >= 0 && target < call.in[0].shape.cols();
}

// The exponentials of a wide row are added up in parts, and the parts in double: a float sum loses terms much smaller
// than itself.
constexpr int64_t kWide = 1 << 14, kPart = 1 << 11;

/// Returns the log-sum-exp of a row, and the sum of its logits.
HWY_INLINE float log_sum_exp(const float* x, int64_t n, float* sum_of_logits) {
  const DF d;
  const VF lowest = hn::Set(d, -__builtin_inff());
  VF most = lowest, logits = hn::Zero(d);
  each_vector(n, [&](int64_t j, auto lanes) HWY_ATTR {
    const VF v = lanes.load(x + j);
    most = hn::Max(most, lanes.fill_rest(v, lowest));
    logits = hn::Add(logits, v);
  });
  const float largest = max_of(d, most);
  const VF shift = hn::Set(d, largest);
  double total = 0;
  for (const int64_t part = n > kWide ? kPart : n; n > 0; x += part, n -= part) {
    VF terms = hn::Zero(d);
    each_vector(smaller(n, part), [&](int64_t j, auto lanes) HWY_ATTR {
      terms = hn::Add(terms, lanes.zero_rest(exp_of(d, hn::Sub(lanes.load(x + j), shift))));
    });
    total += static_cast<double>(sum_of(d, terms));
  }
  *sum_of_logits = sum_of(d, logits);
  return static_cast<float>(static_cast<double>(largest) + __builtin_log(total));
}

/// Writes the chunk's sums of w CE and of w to the workspace.
void forward_rows(const Call& call, const StepInputs& step, int64_t chunk, Scratch) noexcept {
  const Cut c = row_cut(call);
  const int64_t width = call.in[0].shape.cols();
  const double smoothing = static_cast<double>(step.label_smoothing);
  double loss = 0, weight = 0;
  for (int64_t r = c.begin(chunk); r < c.end(chunk, call.in[0].shape.rows()); ++r) {
    const float* x = call.in[0].p + r * width;
    float logits;
    const float lse = log_sum_exp(x, width, &logits);
    call.saved[0].p[r] = lse;
    if (!has_target(call, r)) continue;
    const double w = call.in[2] ? static_cast<double>(call.in[2].p[r]) : 1.0;
    const double hit = static_cast<double>(lse) - static_cast<double>(x[call.in[1].i32()[r]]);
    const double mean = static_cast<double>(lse) - static_cast<double>(logits) / static_cast<double>(width);
    loss += w * (smoothing == 0 ? hit : (1 - smoothing) * hit + smoothing * mean);
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
  for (int64_t r = 0; r < call.in[0].shape.rows(); ++r) {
    const double w = call.in[2] ? static_cast<double>(call.in[2].p[r]) : 1.0;
    call.saved[1].p[r] = has_target(call, r) ? static_cast<float>(w * inverse) : 0.0f;
  }
  *call.out.p = static_cast<float>(loss * inverse);
  if (call.stats) *call.stats = loss * inverse;
}

void backward(const Call& call, const StepInputs& step, int64_t chunk, Scratch) noexcept {
  const DF d;
  const Cut c = row_cut(call);
  const int64_t width = call.in[0].shape.cols();
  const float dloss = call.dout ? *call.dout.p : 1.0f;
  const VF even = hn::Set(d, step.label_smoothing / static_cast<float>(width));
  const bool add = call.write[0] == Write::Add;
  for (int64_t r = c.begin(chunk); r < c.end(chunk, call.in[0].shape.rows()); ++r) {
    const float* x = call.in[0].p + r * width;
    float* dx = call.din[0].p + r * width;
    if (!has_target(call, r)) {
      if (!add) each_vector(width, [&](int64_t j, auto lanes) HWY_ATTR { lanes.store(hn::Zero(d), dx + j); });
      continue;
    }
    const float weight = dloss * call.saved[1].p[r];
    const VF shift = hn::Set(d, call.saved[0].p[r]), scale = hn::Set(d, weight);
    each_vector(width, [&](int64_t j, auto lanes) HWY_ATTR {
      const VF p = exp_of(d, hn::Sub(lanes.load(x + j), shift));
      put(lanes, hn::Mul(scale, hn::Sub(p, even)), dx + j, add);
    });
    dx[call.in[1].i32()[r]] -= weight * (1.0f - step.label_smoothing);
  }
}

Stages softmax_xent_forward(const Call& call) {
  Stages stages;
  stages.workspace_floats = static_cast<size_t>(4 * row_cut(call).chunks);
  stages.add(forward_rows, row_cut(call).chunks);
  stages.add(forward_sum, 1);
  return stages;
}

Stages softmax_xent_backward(const Call& call) {
  return one_stage(backward, call.write[0] == Write::Skip ? 0 : row_cut(call).chunks);
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NORMSCOPE_KERNELS(softmax_xent)
