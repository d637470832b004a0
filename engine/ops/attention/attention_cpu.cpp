// attention on the CPU: the passes of attention_inl.h over keys up to a row's length and, if causal, up to the query,
// or within a window that ends with it. A window on both sides of the query is computed as the window of a causal head
// that sees window - 1 more keys.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/ops/attention/attention_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "engine/ops/attention/attention_inl.h"
#include "engine/ops/ops.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

/// Adds to the scores of key j and query t, which are not yet scaled,
///   slope (j - t)
HWY_NOINLINE void add_slopes(const Head& x, const Block& at) {
  const DF d;
  const double slope = alibi_slope(x.h_at / x.dh, x.heads);
  const VF by = hn::Set(d, static_cast<float>(slope / static_cast<double>(x.scale)));
  for (int64_t i = 0; i < at.m; ++i) {
    const int64_t t = at.q0 + i, begin = x.begin(t);
    float* row = at.scores + i * x.tk + begin;
    each_vector(x.visible(t) - begin, [&](int64_t j, auto lanes) HWY_ATTR {
      const VF ahead = hn::Iota(d, static_cast<float>(begin + j - t));
      lanes.store(hn::MulAdd(ahead, by, lanes.load(row + j)), row + j);
    });
  }
}

struct PlainAttention {
  using Spec = AttentionSpec;
  static constexpr bool kFetches = true;

  static void count_keys(const Call& call, int64_t b, Head& x) {
    const auto spec = call.attributes.as<AttentionSpec>();
    x.first = x.before = 0;
    x.causal = spec.causal || spec.window > 0;
    if (spec.causal && spec.window > 0) {
      x.window = smaller(x.tk, spec.window);
      x.windowed = x.window < x.tk;
    } else if (spec.window > 0) {
      x.before = smaller(spec.window, larger(x.tq, x.tk)) - 1;
      x.window = 2 * x.before + 1;
      x.windowed = true;
    }
    const double scale = spec.scale_of(x.dh);
    x.scale = static_cast<float>(scale);
    x.cap = static_cast<float>(static_cast<double>(spec.cap) / scale);
    x.keys = call.in[3] ? larger(0, smaller(x.tk, call.in[3].i32()[b])) : x.tk;
  }
  static void add_positions(const Call& call, const Head& x, const Block& at) {
    if (call.attributes.as<AttentionSpec>().alibi) add_slopes(x, at);
  }
  static void position_gradients(const Call&, const Head&, const Block&, int64_t) {}
};

Stages attention_forward(const Call& call) { return plan_attention<PlainAttention>(call); }

/// Adds up the workspace's dk and dv of the heads of a group, in their order; a chunk is a number of rows.
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
