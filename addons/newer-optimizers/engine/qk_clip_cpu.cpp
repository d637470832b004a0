// QK-clip on the CPU. The largest logit: a chunk has one head of one row of the batch, and a last stage takes the
// largest over the batch. The clip: a chunk has the columns of one head.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "addons/newer-optimizers/engine/qk_clip_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "addons/newer-optimizers/engine/qk_clip.h"
#include "engine/cpu/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

/// The larger number; NaN if either is.
inline float larger_or_nan(float most, float x) { return x > most || x != x ? x : most; }

/// Writes the largest logit of one head in one row of the batch.
void scores_of_head(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  const DF d;
  const LargestLogitSpec spec = call.attributes.as<LargestLogitSpec>();
  const Shape &sq = call.in[0].shape, &sk = call.in[1].shape;
  const int64_t D = sq[2], width = D / spec.heads, b = chunk / spec.heads, h = chunk % spec.heads;
  const int64_t kd = sk[2], shared = h / (D / kd);  // the head of keys that it reads
  const int64_t keys = call.in[2] ? smaller(sk[1], call.in[2].i32()[b]) : sk[1];
  float most = -__builtin_inff();
  for (int64_t t = 0; t < sq[1]; ++t) {
    const float* q = call.in[0].p + (b * sq[1] + t) * D + h * width;
    const int64_t window = spec.window > 0 ? spec.window : larger(sq[1], sk[1]);
    const int64_t end = smaller(keys, t + (spec.causal ? 1 : window));
    for (int64_t s = larger(0, t - window + 1); s < end; ++s) {
      const float* k = call.in[1].p + (b * sk[1] + s) * kd + shared * width;
      VF sum = hn::Zero(d);
      each_vector(width, [&](int64_t j, auto lanes)
                             HWY_ATTR { sum = hn::MulAdd(lanes.load(q + j), lanes.load(k + j), sum); });
      most = larger_or_nan(most, sum_of(d, sum));
    }
  }
  call.workspace[chunk] = most * static_cast<float>(spec.scale_of(width));
}

void largest_of_batch(const Call& call, const StepInputs&, int64_t, Scratch) noexcept {
  const int64_t heads = call.out.shape.size(), rows = call.in[0].shape[0];
  for (int64_t h = 0; h < heads; ++h) {
    float most = call.workspace[h];
    for (int64_t b = 1; b < rows; ++b) most = larger_or_nan(most, call.workspace[b * heads + h]);
    call.out.p[h] = most;
  }
  float most = call.out.p[0];
  for (int64_t h = 1; h < heads; ++h) most = larger_or_nan(most, call.out.p[h]);
  if (call.stats) *call.stats = static_cast<double>(most);
}

Stages largest_logit_forward(const Call& call) {
  const int64_t heads = call.in[0].shape[0] * call.attributes.as<LargestLogitSpec>().heads;
  Stages stages;
  stages.workspace_floats = static_cast<size_t>(heads);
  stages.add(scores_of_head, heads);
  stages.add(largest_of_batch, 1);
  return stages;
}

void scale_columns(const Tensor& of, int64_t heads, int64_t h, float factor) {
  if (!of) return;
  const int64_t cols = of.shape.cols(), width = cols / heads, rows = of.shape.size() / cols;
  const VF by = hn::Set(DF(), factor);
  for (int64_t r = 0; r < rows; ++r) {
    float* head = of.p + r * cols + h * width;
    each_vector(width, [&](int64_t j, auto lanes)
                           HWY_ATTR { lanes.store(hn::Mul(lanes.load(head + j), by), head + j); });
  }
}

void clip_head(const Call& call, const StepInputs&, int64_t h, Scratch) noexcept {
  const QkClipSpec spec = call.attributes.as<QkClipSpec>();
  const float largest = call.in[0].p[h];
  if (!(largest > spec.tau)) return;
  const double gamma = static_cast<double>(spec.tau) / static_cast<double>(largest);
  const float factor = static_cast<float>(spec.shared ? gamma : __builtin_sqrt(gamma));
  scale_columns(call.in[1], spec.heads, h, factor);
  scale_columns(call.in[3], spec.heads, h, factor);
  if (spec.shared) return;
  scale_columns(call.in[2], spec.heads, h, factor);
  scale_columns(call.in[4], spec.heads, h, factor);
}

Stages qk_clip_forward(const Call& call) {
  return one_stage(clip_head, call.attributes.as<QkClipSpec>().heads);
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NORMSCOPE_FORWARD_KERNELS(largest_logit)
NORMSCOPE_FORWARD_KERNELS(qk_clip)
