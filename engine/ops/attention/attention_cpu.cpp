// attention on the CPU: the passes of attention_inl.h over keys up to a row's length and, if causal, up to the query,
// or within a window that ends with it.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/ops/attention/attention_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "engine/ops/attention/attention_inl.h"
#include "engine/ops/ops.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

struct PlainAttention {
  using Spec = AttentionSpec;
  static constexpr bool kFetches = true;

  static void count_keys(const Call& call, int64_t b, Head& x) {
    const auto spec = call.attributes.as<AttentionSpec>();
    x.causal = spec.causal;
    if (spec.window > 0) x.window = smaller(x.tk, spec.window);
    const double scale = spec.scale_of(x.dh);
    x.scale = static_cast<float>(scale);
    x.cap = static_cast<float>(static_cast<double>(spec.cap) / scale);
    x.first = x.before = 0;
    x.keys = call.in[3] ? larger(0, smaller(x.tk, call.in[3].i32()[b])) : x.tk;
  }
  static void add_positions(const Call&, const Head&, const Block&) {}
  static void position_gradients(const Call&, const Head&, const Block&, int64_t) {}
};

Stages attention_forward(const Call& call) { return plan_attention<PlainAttention>(call); }

/// What the heads of a group left in the workspace, added up in their order; a chunk is a number of rows.
void sum_groups(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  const Shape &q = call.in[0].shape, &k = call.in[1].shape;
  const int64_t width = q[2] / call.attributes.as<AttentionSpec>().heads, times = q[2] / k[2],
                rows = k.rows();
  const Cut cut = row_cut(k);
  for (const int input : {1, 2}) {
    if (!writes(call, input)) continue;
    const bool add = call.write[input] == Write::Add;
    for (int64_t h = cut.begin(chunk) * k[2]; h < cut.end(chunk, rows) * k[2]; h += width) {
      const float* own = call.workspace + (input - 1) * rows * q[2] + h * times;
      each_vector(width, [&](int64_t j, auto lanes) HWY_ATTR {
        VF sum = lanes.load(own + j);
        for (int64_t i = 1; i < times; ++i) sum = hn::Add(sum, lanes.load(own + i * width + j));
        put(lanes, sum, call.din[input].p + h + j, add);
      });
    }
  }
}

Stages attention_backward(const Call& call) {
  Stages stages = plan_attention_gradients<PlainAttention>(call);
  const Shape &q = call.in[0].shape, &k = call.in[1].shape;
  if (q[2] == k[2]) return stages;
  stages.workspace_floats = static_cast<size_t>(2 * k.rows() * q[2]);
  stages.add(sum_groups, row_cut(k).chunks);
  return stages;
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "engine/core/error.h"

namespace normscope::cpu {
void check_key_count(int64_t keys, int64_t most) {
  if (keys > most) fail("attention", "{} keys: expected at most {}", keys, most);
}
}  // namespace normscope::cpu
#endif

NORMSCOPE_KERNELS(attention)
