// relative_attention on the CPU. In a head the queries c = q + u and e = q + v, where u and v are the biases of the
// paper, are (T,dh); keys k and values v are (M+T,dh); row r_i of the distances is for a key i positions back. It is
// the passes of attention_inl.h over s <= t + M, with c for q, and
//   S_ts   =  c_t k_s + e_t r_{t+M-s}
// Backward, with dT the gradients dS by distance, dT_ti = dS_{t,t+M-i}:
//   de     =  dT r
//   dr     =  sum over b of dT^T e
// The products e r^T of a block of queries come out by distance, the largest first; row t of them, shifted to the left
// by as many columns as queries of the block follow it, lies by keys (the relative shift of Dai et al. 2019, appendix
// B). dT is dS shifted back. Keys of the memory that do not count are left of `first`: they are neither read nor seen.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "addons/systems/engine/relative_attention_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "addons/systems/engine/relative_attention.h"
#include "engine/ops/attention/attention_inl.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

enum Input { kContent, kKeys, kValues, kPosition, kDistances, kMemoryLengths };

/// The largest distance that a block of queries looks at, and how many distances there are.
int64_t farthest(const Head& x, const Block& at) { return x.before + at.q1() - 1; }
int64_t distances(const Head& x, const Block& at) { return x.before + at.q1(); }

/// The number of columns by which row i of a block of m queries is shifted.
int64_t shift_of(int64_t i, int64_t m) { return m - 1 - i; }

struct RelativeAttention {
  using Spec = RelativeAttentionSpec;
  static constexpr bool kFetches = false;

  static void count_keys(const Call& call, int64_t b, Head& x) {
    const int64_t memory = x.tk - x.tq;
    const Tensor& lengths = call.in[kMemoryLengths];
    x.causal = true;
    x.before = lengths ? larger(0, smaller(memory, lengths.i32()[b])) : memory;
    x.first = memory - x.before;
    x.keys = x.tk - x.first;
  }

  /// Adds the products with the distances, by keys:
  ///   scores_ts  +=  e_t r_{t+M-s}
  static void add_positions(const Call& call, const Head& x, const Block& at) {
    const float *e = call.in[kPosition].p + x.q_at + at.q0 * x.d,
                *r = call.in[kDistances].p + x.h_at + farthest(x, at) * x.d;
    multiply({}, at.m, distances(x, at), x.dh, {e, x.d, 1}, {r, 1, -x.d}, at.factors, x.tk, false, at.panel);
    for (int64_t i = 0; i < at.m; ++i) {
      const float* from = at.factors + i * x.tk + shift_of(i, at.m);
      float* to = at.scores + x.first + i * x.tk;
      each_vector(x.visible(at.q0 + i),
                  [&](int64_t j, auto lanes) HWY_ATTR { put(lanes, lanes.load(from + j), to + j, true); });
    }
  }

  /// Computes dT of the block, from it de, and adds the block's part of dr to the chunk's (tk,dh).
  static void position_gradients(const Call& call, const Head& x, const Block& at, int64_t chunk) {
    float* partial = writes(call, kDistances) ? call.workspace + chunk * x.tk * x.dh : nullptr;
    if (partial && at.q0 == 0) zero(partial, x.tk * x.dh);
    if (!partial && !writes(call, kPosition)) return;
    const int64_t n = distances(x, at), last = farthest(x, at);
    for (int64_t i = 0; i < at.m; ++i) {
      float* to = at.factors + i * x.tk;
      const float* from = at.scores + x.first + i * x.tk;
      const int64_t shift = shift_of(i, at.m);
      zero(to, shift);
      each_vector(n - shift,
                  [&](int64_t j, auto lanes) HWY_ATTR { lanes.store(lanes.load(from + j), to + shift + j); });
    }
    const float *e = call.in[kPosition].p + x.q_at + at.q0 * x.d,
                *r = call.in[kDistances].p + x.h_at + last * x.d;
    if (writes(call, kPosition))
      multiply({}, at.m, x.dh, n, {at.factors, x.tk, 1}, {r, -x.d, 1},
               call.din[kPosition].p + x.q_at + at.q0 * x.d, x.d, call.write[kPosition] == Write::Add,
               at.panel);
    if (partial)
      multiply({}, n, x.dh, at.m, {at.factors, 1, x.tk}, {e, x.d, 1}, partial + last * x.dh, -x.dh, true,
               at.panel);
  }
};

/// Computes row `distance` of dr, the sum over b in order. No key is as far back as rows from tk on.
void sum_distances(const Call& call, const StepInputs&, int64_t distance, Scratch) noexcept {
  const int64_t batch = call.in[kContent].shape[0], tk = call.in[kKeys].shape[1],
                d = call.in[kContent].shape[2];
  const int64_t heads = call.attributes.as<RelativeAttentionSpec>().heads, dh = d / heads;
  const bool add = call.write[kDistances] == Write::Add;
  float* to = call.din[kDistances].p + distance * d;
  if (distance >= tk) {
    if (!add) zero(to, d);
    return;
  }
  for (int64_t h = 0; h < heads; ++h)
    reduce_rows(call.workspace + (h * tk + distance) * dh, batch, heads * tk * dh, dh, to + h * dh, add);
}

Stages relative_attention_forward(const Call& call) { return plan_attention<RelativeAttention>(call); }

Stages relative_attention_backward(const Call& call) {
  Stages stages = plan_attention_gradients<RelativeAttention>(call);
  if (!writes(call, kDistances)) return stages;
  stages.workspace_floats =
      static_cast<size_t>(call.in[kContent].shape[0] * call.in[kKeys].shape[1] * call.in[kContent].shape[2]);
  stages.add(sum_distances, call.in[kDistances].shape[0]);
  return stages;
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NORMSCOPE_KERNELS(relative_attention)
