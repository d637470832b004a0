// attention on the CPU, a chunk per (b,h):  S = q k^T / sqrt(dh),  P = softmax(S) over visible keys (saved),
// out = (P * keep) v.   Backward, with dP = (dout v^T) * keep:  dS = P (dP - sum_s P dP) / sqrt(dh),
//   dq = dS k        dk = dS^T q        dv = (P * keep)^T dout
// Products run tile by tile in cache through the GEMM's register tiles; with causal attention a tile of rows
// takes only the keys that it can see. Queries go in blocks, so that a block of scores fits the worker's
// scratch at any length.
#include <cstdint>

namespace normscope::cpu {
/// Refuses a call whose block of scores would not fit the scratch. Not compiled per target: it formats a message.
void check_key_count(int64_t keys, int64_t most);
}  // namespace normscope::cpu

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/ops/attention/attention_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "engine/cpu/export.h"
#include "engine/cpu/gemm_inl.h"
#include "engine/cpu/philox_inl.h"
#include "engine/ops/attention/attention.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

// Scratch: packed panels, then two blocks of score-like rows.
constexpr int64_t kInnerBlock = 1024;  // k of a packed panel
constexpr int64_t kPanelFloats = kInnerBlock * kPanel;
constexpr int64_t kBlockFloats = (static_cast<int64_t>(kScratchFloats) - kPanelFloats) / 2 - 64;
constexpr int64_t kUsualBlock = 32768;  // floats of a block of scores that stay in the L2 cache

/// One (b,h) of a call: addresses of its slices, and what is visible.
struct Head {
  int64_t tq, tk, d, dh;     // rows of q and out, rows of k and v, stride of a row, width of the head
  int64_t q_at, k_at, p_at;  // offsets of its slices
  int64_t keys;              // keys before the row's length
  bool causal;
  float scale;
  int64_t visible(int64_t query) const { return causal ? smaller(keys, query + 1) : keys; }
};

Head head_of(const Call& call, int64_t chunk) {
  const int64_t heads = call.attributes.as<AttentionSpec>().heads, b = chunk / heads, h = chunk % heads;
  Head x;
  x.tq = call.in[0].shape[1];
  x.tk = call.in[1].shape[1];
  x.d = call.in[0].shape[2];
  x.dh = x.d / heads;
  x.q_at = b * x.tq * x.d + h * x.dh;
  x.k_at = b * x.tk * x.d + h * x.dh;
  x.p_at = chunk * x.tq * x.tk;
  x.keys = call.in[3] ? larger(0, smaller(x.tk, call.in[3].i32()[b])) : x.tk;
  x.causal = call.attributes.as<AttentionSpec>().causal;
  x.scale = static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(x.dh)));
  return x;
}

/// Queries in a block: whole tiles where possible.
int64_t query_block(int64_t tq, int64_t tk) {
  const int64_t fit = kBlockFloats / tk, usual = round_up(larger(1, kUsualBlock / tk), kTileRows);
  return smaller(tq, fit >= kTileRows ? smaller(usual, fit / kTileRows * kTileRows) : fit);
}

/// Which part of a product a tile of rows [i, i+rows) needs when attention is causal.
enum class Band : uint8_t {
  All,
  ColumnsUpToRow,  // columns j < shift + i + rows
  InnerUpToRow,    // k < shift + i + rows
  InnerFromRow,    // k >= shift + i
};

/// C (m,n) = [C +] A (m,k) B (k,n), one thread, B packed panel by panel where it cannot be read in place.
void multiply(Band band, int64_t shift, int64_t m, int64_t n, int64_t k, Operand a, Operand b, float* c,
              int64_t ldc, bool add, float* panel) {
  for (int64_t k0 = 0; k0 < k || k0 == 0; k0 += kInnerBlock) {
    const int64_t k1 = smaller(k, k0 + kInnerBlock);
    const bool more = add || k0 > 0;
    for (int64_t j = 0; j < n; j += kPanel) {
      const int64_t cols = smaller(kPanel, n - j);
      if (band == Band::ColumnsUpToRow && j >= shift + m) break;
      const float* from = b.p + k0 * b.row + j * b.col;
      int64_t sb = b.row;
      if (b.col != 1 || cols % kLanes != 0) {
        pack_panel({from, b.row, b.col}, k1 - k0, cols, panel);
        from = panel;
        sb = kPanel;
      }
      for (int64_t i = 0; i < m; i += kTileRows) {
        const int64_t rows = smaller(kTileRows, m - i);
        int64_t first = k0, last = k1;
        if (band == Band::ColumnsUpToRow && j >= shift + i + rows) continue;
        if (band == Band::InnerUpToRow) last = smaller(k1, shift + i + rows);
        if (band == Band::InnerFromRow) first = smaller(k1, larger(k0, shift + i));
        const int64_t inner = larger(0, last - first);
        run_tile(rows, cols, inner, {a.p + i * a.row + first * a.col, a.row, a.col}, from + (first - k0) * sb,
                 sb, c + i * ldc + j, ldc, nullptr, more);
      }
    }
  }
}

/// The lanes of the vector at column j that are visible; all but the last vector of a row need no mask.
template <typename Value>
HWY_INLINE VF hide(VF v, int64_t j, int64_t visible, const Value& hidden) {
  return j + kLanes <= visible
             ? v
             : hn::IfThenElse(hn::FirstN(DF(), static_cast<size_t>(visible - j)), v, hidden);
}

/// p[0..visible) = softmax(scale * p), p[visible..n) = 0. Vectors are whole wherever the row has room for them.
void softmax_row(float* p, int64_t visible, int64_t n, float scale) {
  const DF d;
  const VF zero = hn::Zero(d);
  const int64_t covered = smaller(n, round_up(visible, kLanes));
  if (covered > 0) {
    const VF lowest = hn::Set(d, -__builtin_inff());
    VF most = lowest, total = zero;
    each_vector(covered, [&](int64_t j, auto lanes)
                             HWY_ATTR { most = hn::Max(most, hide(lanes.load(p + j), j, visible, lowest)); });
    const VF factor = hn::Set(d, scale), shift = hn::Mul(hn::Set(d, max_of(d, most)), factor);
    each_vector(covered, [&](int64_t j, auto lanes) HWY_ATTR {
      const VF e = hide(exp_of(d, hn::MulSub(lanes.load(p + j), factor, shift)), j, visible, zero);
      total = hn::Add(total, e);
      lanes.store(e, p + j);
    });
    const VF inverse = hn::Set(d, 1.0f / sum_of(d, total));
    each_vector(covered, [&](int64_t j, auto lanes)
                             HWY_ATTR { lanes.store(hn::Mul(lanes.load(p + j), inverse), p + j); });
  }
  each_vector(n - covered, [&](int64_t j, auto lanes) HWY_ATTR { lanes.store(zero, p + covered + j); });
}

/// to = p * keep for rows [q0,q1) of this head; `to` has room for the rows and 4 kLanes + 4 floats more.
/// Returns where element (q0, 0) lies in it.
float* dropout_block(const Call& call, const StepInputs& step, const Head& x, int64_t q0, int64_t q1,
                     float* to) {
  const uint64_t first = static_cast<uint64_t>(x.p_at + q0 * x.tk);
  const int64_t before = static_cast<int64_t>(first % 4);
  const DropoutInputs inputs = step.dropout[static_cast<int>(DropoutKind::Attention)];
  dropout_factors({call.attributes.as<AttentionSpec>().dropout_site, step.step, step.seed, inputs},
                  first - first % 4, (q1 - q0) * x.tk + before, to);
  return to + before;
}

void multiply_by_factors(const float* p, const float* factors, int64_t n, float* to) {
  each_vector(n, [&](int64_t i, auto lanes) HWY_ATTR {
    lanes.store(apply_factor(lanes.load(p + i), lanes.load(factors + i)), to + i);
  });
}

void forward(const Call& call, const StepInputs& step, int64_t chunk, Scratch scratch) noexcept {
  const Head x = head_of(call, chunk);
  float *panel = scratch.p, *block = scratch.p + kPanelFloats;
  const float *q = call.in[0].p + x.q_at, *k = call.in[1].p + x.k_at, *v = call.in[2].p + x.k_at;
  const int64_t rows = query_block(x.tq, x.tk);
  for (int64_t q0 = 0; q0 < x.tq; q0 += rows) {
    const int64_t m = smaller(rows, x.tq - q0), q1 = q0 + m;
    float* p = call.saved[0].p + x.p_at + q0 * x.tk;
    multiply(x.causal ? Band::ColumnsUpToRow : Band::All, q0, m, x.keys, x.dh, {q + q0 * x.d, x.d, 1},
             {k, 1, x.d}, p, x.tk, false, panel);
    for (int64_t i = 0; i < m; ++i) softmax_row(p + i * x.tk, x.visible(q0 + i), x.tk, x.scale);
    const float* kept = p;
    if (call.attributes.as<AttentionSpec>().dropout_site != 0) {
      float* factors = dropout_block(call, step, x, q0, q1, block);
      multiply_by_factors(p, factors, m * x.tk, factors);
      kept = factors;
    }
    multiply(x.causal ? Band::InnerUpToRow : Band::All, q0, m, x.dh, x.keys, {kept, x.tk, 1}, {v, x.d, 1},
             call.out.p + x.q_at + q0 * x.d, x.d, false, panel);
  }
}

/// g[0..visible) = p (g - sum p g) scale, g[visible..n) = 0; rows of g and p have `width` floats.
void softmax_backward_row(const float* p, float* g, int64_t visible, int64_t n, int64_t width, float scale) {
  const DF d;
  const VF zero = hn::Zero(d);
  const int64_t covered = smaller(width, round_up(visible, kLanes));
  VF dot = zero;
  each_vector(covered, [&](int64_t j, auto lanes) HWY_ATTR {
    dot = hn::MulAdd(lanes.load(p + j), hide(lanes.load(g + j), j, visible, zero), dot);
  });
  const VF mean = hn::Set(d, sum_of(d, dot)), factor = hn::Set(d, scale);
  each_vector(covered, [&](int64_t j, auto lanes) HWY_ATTR {
    const VF v = hn::Mul(hn::Mul(lanes.load(p + j), factor), hn::Sub(lanes.load(g + j), mean));
    lanes.store(hide(v, j, visible, zero), g + j);
  });
  if (n > covered)
    each_vector(n - covered, [&](int64_t j, auto lanes) HWY_ATTR { lanes.store(zero, g + covered + j); });
}

/// Whether dq, dk, dv are added to what is there. With several blocks of queries and one tensor under two of them,
/// an assignment in a later block would wipe out an earlier block's sum: then the slices start from zero.
struct WriteModes {
  bool add[3];
};
WriteModes write_modes(const Call& call, const Head& x, bool several_blocks) {
  WriteModes modes;
  for (int i = 0; i < 3; ++i) modes.add[i] = call.write[i] == Write::Add;
  const float *dq = call.din[0].p, *dk = call.din[1].p, *dv = call.din[2].p;
  const bool shared = (dq && (dq == dk || dq == dv)) || (dk && dk == dv);
  if (!several_blocks || !shared) return modes;
  for (int i = 0; i < 3; ++i) {
    if (call.write[i] != Write::Assign) continue;
    float* to = call.din[i].p + (i == 0 ? x.q_at : x.k_at);
    for (int64_t t = 0; t < (i == 0 ? x.tq : x.tk); ++t)
      for (int64_t j = 0; j < x.dh; ++j) to[t * x.d + j] = 0.0f;
    modes.add[i] = true;
  }
  return modes;
}

void backward(const Call& call, const StepInputs& step, int64_t chunk, Scratch scratch) noexcept {
  const Head x = head_of(call, chunk);
  float *panel = scratch.p, *g = panel + kPanelFloats, *block = g + kBlockFloats + 16;
  const float *q = call.in[0].p + x.q_at, *k = call.in[1].p + x.k_at, *v = call.in[2].p + x.k_at;
  const int64_t rows = query_block(x.tq, x.tk);
  const WriteModes modes = write_modes(call, x, rows < x.tq);
  const auto band = [&](Band causal) HWY_ATTR { return x.causal ? causal : Band::All; };
  for (int64_t q0 = 0; q0 < x.tq; q0 += rows) {
    const int64_t m = smaller(rows, x.tq - q0);
    const bool later = q0 > 0;
    const float* p = call.saved[0].p + x.p_at + q0 * x.tk;
    const float* dout = call.dout.p + x.q_at + q0 * x.d;
    multiply(band(Band::ColumnsUpToRow), q0, m, x.keys, x.dh, {dout, x.d, 1}, {v, 1, x.d}, g, x.tk, false,
             panel);
    const float* kept = p;
    if (call.attributes.as<AttentionSpec>().dropout_site != 0) {
      float* factors = dropout_block(call, step, x, q0, q0 + m, block);
      for (int64_t i = 0; i < m; ++i) {
        float* row = g + i * x.tk;
        multiply_by_factors(row, factors + i * x.tk, x.visible(q0 + i), row);
      }
      multiply_by_factors(p, factors, m * x.tk, factors);
      kept = factors;
    }
    for (int64_t i = 0; i < m; ++i) {
      // A causal tile reads at most a tile's height beyond the diagonal.
      const int64_t visible = x.visible(q0 + i);
      const int64_t read = x.keys < x.tk ? x.tk : smaller(x.tk, visible + kTileRows);
      softmax_backward_row(p + i * x.tk, g + i * x.tk, visible, read, x.tk, x.scale);
    }
    if (call.write[0] != Write::Skip)
      multiply(band(Band::InnerUpToRow), q0, m, x.dh, x.keys, {g, x.tk, 1}, {k, x.d, 1},
               call.din[0].p + x.q_at + q0 * x.d, x.d, modes.add[0], panel);
    if (call.write[1] != Write::Skip)
      multiply(band(Band::InnerFromRow), -q0, x.tk, x.dh, m, {g, 1, x.tk}, {q + q0 * x.d, x.d, 1},
               call.din[1].p + x.k_at, x.d, modes.add[1] || later, panel);
    if (call.write[2] != Write::Skip)
      multiply(band(Band::InnerFromRow), -q0, x.tk, x.dh, m, {kept, 1, x.tk}, {dout, x.d, 1},
               call.din[2].p + x.k_at, x.d, modes.add[2] || later, panel);
  }
}

int64_t chunks_of(const Call& call) {
  check_key_count(call.in[1].shape[1], kBlockFloats);
  return call.in[0].shape[0] * call.attributes.as<AttentionSpec>().heads;
}

Stages attention_forward(const Call& call) {
  Stages stages;
  stages.add(forward, chunks_of(call));
  return stages;
}

Stages attention_backward(const Call& call) {
  Stages stages;
  stages.add(backward, chunks_of(call));
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
NORMSCOPE_KERNELS(attention)
}  // namespace normscope::cpu
#endif
