// The attention ops on the CPU, a chunk per (b,h). In a head q and out are (Tq,dh), k and v (Tk,dh); keep are the
// factors of dropout (Tq,Tk):
//   S    =  q k^T                                // relative_attention adds the products with the distances
//   P    =  softmax(S / sqrt(dh))                // over the visible keys; saved
//   out  =  (P * keep) v
// Backward:
//   dP   =  (dout v^T) * keep
//   dS   =  P * (dP - sum over keys of P * dP) / sqrt(dh)
//   dq   =  dS k
//   dk   =  dS^T q
//   dv   =  (P * keep)^T dout
// Queries go in blocks, so that a block of scores fits the worker's scratch at any length. Products go tile by tile in
// cache through the GEMM's register tiles, where a tile of a causal product takes only what it can see.
//
// What an op has of its own is a struct Op (attention_cpu.cpp, relative_attention_cpu.cpp):
//   Spec                   its attributes
//   kFetches               whether it asks the cache ahead for what it will read
//   count_keys             fills in which keys a head sees: causal, first, keys, before
//   add_positions          adds to the scores of a block what depends on the positions of its keys
//   position_gradients     computes the gradients of that
#include "engine/cpu/export.h"
#include "engine/cpu/gemm_inl.h"
#include "engine/ops/attention/attention_rows_inl.h"

#if defined(NORMSCOPE_OPS_ATTENTION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NORMSCOPE_OPS_ATTENTION_INL_H_
#undef NORMSCOPE_OPS_ATTENTION_INL_H_
#else
#define NORMSCOPE_OPS_ATTENTION_INL_H_
#endif

namespace normscope::cpu {
/// `check_key_count` refuses a call whose block of scores would not fit the scratch. It is not compiled per target, as
/// it formats a message (attention_cpu.cpp).
void check_key_count(int64_t keys, int64_t most);
}  // namespace normscope::cpu

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

// The scratch holds packed panels, then two blocks of score-like rows.
constexpr int64_t kInnerBlock = 1024;  // k of a packed panel
constexpr int64_t kPanelFloats = kInnerBlock * kPanel;
constexpr int64_t kBlockFloats = (static_cast<int64_t>(kScratchFloats) - kPanelFloats) / 2 - 64;
constexpr int64_t kUsualBlock = 32768;  // floats of a block of scores that stay in the L2 cache

/// `query_block` is the number of queries in a block: whole tiles where possible.
inline int64_t query_block(int64_t tq, int64_t tk) {
  const int64_t fit = kBlockFloats / tk, usual = round_up(larger(1, kUsualBlock / tk), kTileRows);
  return smaller(tq, fit >= kTileRows ? smaller(usual, fit / kTileRows * kTileRows) : fit);
}

/// `head_of` is the head of a chunk.
template <typename Op>
Head head_of(const Call& call, int64_t chunk) {
  const auto spec = call.attributes.as<typename Op::Spec>();
  const int64_t b = chunk / spec.heads;
  Head x;
  x.tq = call.in[0].shape[1];
  x.tk = call.in[1].shape[1];
  x.d = call.in[0].shape[2];
  x.heads = spec.heads;
  x.dh = x.d / x.heads;
  Op::count_keys(call, b, x);
  x.columns = x.tk - x.first;
  x.h_at = chunk % x.heads * x.dh;
  x.q_at = b * x.tq * x.d + x.h_at;
  x.k_at = (b * x.tk + x.first) * x.d + x.h_at;
  x.p_at = chunk * x.tq * x.tk;
  x.scale = static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(x.dh)));
  x.site = spec.dropout_site;
  return x;
}

/// `Block` is queries [q0, q0 + m) of a head, and what a worker computes with: two blocks of m rows of tk floats.
struct Block {
  int64_t q0, m;
  float* scores;   // or their gradients
  float* factors;  // probabilities after dropout; between its uses it holds the products with the distances
  float* panel;
  int64_t q1() const { return q0 + m; }
};

inline Block block_of(Scratch scratch, int64_t q0, int64_t m) {
  float *panel = scratch.p, *scores = panel + kPanelFloats;
  return {q0, m, scores, scores + kBlockFloats + 16, panel};
}

/// `Band` says which part of a product a tile of rows [i, i+rows) needs when attention is causal.
enum class Band : uint8_t {
  All,
  ColumnsUpToRow,  // columns j < shift + i + rows
  InnerUpToRow,    // k < shift + i + rows
  InnerFromRow,    // k >= shift + i
};

/// `band_of` is the band of a product of a causal head; any other head sees everything.
inline Band band_of(const Head& x, Band causal) { return x.causal ? causal : Band::All; }

/// multiply computes one product on one thread, B packed panel by panel where it cannot be read in place:
///   C (m,n)  =  [C +] A (m,k) B (k,n)
inline void multiply(Band band, int64_t shift, int64_t m, int64_t n, int64_t k, Operand a, Operand b,
                     float* c, int64_t ldc, bool add, float* panel) {
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

/// fetch asks for rows of n floats, `stride` apart, that are read while something else is computed. A head's rows are a
/// row of all heads apart, where the processor does not foresee them; its probabilities have left the cache.
HWY_INLINE void fetch(const float* p, int64_t rows, int64_t stride, int64_t n) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < n; j += kLine) hwy::Prefetch(p + i * stride + j);
}

/// next_head counts the floats from this head's slice to that of the next chunk's head, in a tensor of t rows.
inline int64_t next_head(const Head& x, int64_t chunk, int64_t t) {
  return x.dh + ((chunk + 1) % x.heads == 0 ? (t - 1) * x.d : 0);
}

inline bool writes(const Call& call, int input) { return call.write[input] != Write::Skip; }

inline void zero(float* to, int64_t n) {
  each_vector(n, [&](int64_t i, auto lanes) HWY_ATTR { lanes.store(hn::Zero(DF()), to + i); });
}

/// attend computes the probabilities and out of a head.
template <typename Op>
void attend(const Call& call, const StepInputs& step, int64_t chunk, Scratch scratch) noexcept {
  const Head x = head_of<Op>(call, chunk);
  const float *q = call.in[0].p + x.q_at, *k = call.in[1].p + x.k_at, *v = call.in[2].p + x.k_at;
  const int64_t rows = query_block(x.tq, x.tk);
  for (int64_t q0 = 0; q0 < x.tq; q0 += rows) {
    const int64_t m = smaller(rows, x.tq - q0);
    const Block at = block_of(scratch, q0, m);
    float *p = at.scores, *seen = p + x.first;
    if constexpr (Op::kFetches) {
      fetch(q + q0 * x.d, m, x.d, x.dh);
      if (q0 == 0) fetch(v, x.keys, x.d, x.dh);
    }
    multiply(band_of(x, Band::ColumnsUpToRow), q0 + x.before, m, x.keys, x.dh, {q + q0 * x.d, x.d, 1},
             {k, 1, x.d}, seen, x.tk, false, at.panel);
    if constexpr (Op::kFetches)
      if (at.q1() == x.tq) fetch(k + next_head(x, chunk, x.tk), x.tk, x.d, x.dh);
    Op::add_positions(call, x, at);
    in_groups(m, [&](int64_t i, auto group) HWY_ATTR {
      softmax_rows<group()>(rows_from<group()>(x, seen, q0, i), x.columns, x.scale);
    });
    for (int64_t i = 0; x.first > 0 && i < m; ++i) zero(p + i * x.tk, x.first);
    if (call.saved[0]) store_probabilities(p, m * x.tk, call.saved[0].p + x.p_at + q0 * x.tk);
    const float* kept = p;
    if (x.site != 0) {
      uint8_t* bits = call.kept ? kept_bits(call, x, q0, rows) : reinterpret_cast<uint8_t*>(at.panel);
      draw_rows(step, x, q0, m, p, bits, at.factors);
      kept = at.factors;
    }
    multiply(band_of(x, Band::InnerUpToRow), q0 + x.before, m, x.dh, x.keys, {kept + x.first, x.tk, 1},
             {v, x.d, 1}, call.out.p + x.q_at + q0 * x.d, x.d, false, at.panel);
  }
  hwy::FlushStream();  // visible to whoever takes the next stage
}

/// `WriteModes` says whether dq, dk, dv are added to what is there. With several blocks of queries and one tensor under
/// two of them, an assignment in a later block would wipe out an earlier block's sum: then the slices start from zero.
struct WriteModes {
  bool add[3];
};
inline WriteModes write_modes(const Call& call, const Head& x, bool several_blocks) {
  WriteModes modes;
  for (int i = 0; i < 3; ++i) modes.add[i] = call.write[i] == Write::Add;
  const float *dq = call.din[0].p, *dk = call.din[1].p, *dv = call.din[2].p;
  const bool shared = (dq && (dq == dk || dq == dv)) || (dk && dk == dv);
  if (!several_blocks || !shared) return modes;
  for (int i = 0; i < 3; ++i) {
    if (call.write[i] != Write::Assign) continue;
    float* to = call.din[i].p + (i == 0 ? x.q_at : x.k_at);
    for (int64_t t = 0; t < (i == 0 ? x.tq : x.columns); ++t) zero(to + t * x.d, x.dh);
    modes.add[i] = true;
  }
  return modes;
}

/// `zero_uncounted` zeroes the gradient of keys that do not count.
inline void zero_uncounted(const Call& call, const Head& x, int input) {
  if (call.write[input] != Write::Assign) return;
  float* to = call.din[input].p + x.k_at - x.first * x.d;
  for (int64_t s = 0; s < x.first; ++s) zero(to + s * x.d, x.dh);
}

/// score_gradients computes dS of the block into at.scores. Returns P * keep, which dv is computed from: P itself, or
/// at.factors where there is dropout.
inline const float* score_gradients(const Call& call, const StepInputs& step, const Head& x, const Block& at,
                                    int64_t rows) {
  const float *p = call.saved[0].p + x.p_at + at.q0 * x.tk, *dout = call.dout.p + x.q_at + at.q0 * x.d;
  float* g = at.scores + x.first;
  multiply(band_of(x, Band::ColumnsUpToRow), at.q0 + x.before, at.m, x.keys, x.dh, {dout, x.d, 1},
           {call.in[2].p + x.k_at, 1, x.d}, g, x.tk, false, at.panel);
  const bool drops = x.site != 0;
  Keep keep{drops ? kept_bits(call, x, at.q0, rows) : nullptr, 0, dropout_of(step).scale, nullptr};
  // A causal tile reads at most a tile's height beyond the diagonal.
  const auto read = [&](int64_t row) HWY_ATTR {
    return x.keys < x.columns ? x.columns : smaller(x.columns, x.visible(at.q0 + row) + kTileRows);
  };
  in_groups(at.m, [&](int64_t i, auto group) HWY_ATTR {
    const int64_t first = i * x.tk + x.first;
    keep.begin = first_bit(x, at.q0) + first;
    keep.product = at.factors + first;
    softmax_backward_rows<group()>(rows_from<group()>(x, g, at.q0, i), p + first, x.tk, read(i + group() - 1),
                                   x.scale, keep);
  });
  return drops ? at.factors : p;
}

/// attention_gradients computes dq, dk and dv of a head.
template <typename Op>
void attention_gradients(const Call& call, const StepInputs& step, int64_t chunk, Scratch scratch) noexcept {
  const Head x = head_of<Op>(call, chunk);
  const float *q = call.in[0].p + x.q_at, *k = call.in[1].p + x.k_at, *v = call.in[2].p + x.k_at;
  const int64_t rows = query_block(x.tq, x.tk);
  for (const int input : {1, 2}) zero_uncounted(call, x, input);
  const WriteModes modes = write_modes(call, x, rows < x.tq);
  for (int64_t q0 = 0; q0 < x.tq; q0 += rows) {
    const int64_t m = smaller(rows, x.tq - q0);
    const bool later = q0 > 0;
    const Block at = block_of(scratch, q0, m);
    const float *ds = at.scores + x.first, *dout = call.dout.p + x.q_at + q0 * x.d;
    if constexpr (Op::kFetches) {
      const float* p = call.saved[0].p + x.p_at + q0 * x.tk;
      for (int64_t i = 0; i < m; ++i) fetch(p + i * x.tk, 1, x.tk, x.visible(q0 + i));
      fetch(q + q0 * x.d, m, x.d, x.dh);
      if (!later) fetch(k, x.keys, x.d, x.dh);
    }
    const float* kept = score_gradients(call, step, x, at, rows);
    if (writes(call, 0))
      multiply(band_of(x, Band::InnerUpToRow), q0 + x.before, m, x.dh, x.keys, {ds, x.tk, 1}, {k, x.d, 1},
               call.din[0].p + x.q_at + q0 * x.d, x.d, modes.add[0], at.panel);
    if constexpr (Op::kFetches)
      if (at.q1() == x.tq) {
        fetch(v + next_head(x, chunk, x.tk), x.tk, x.d, x.dh);
        fetch(call.dout.p + x.q_at + next_head(x, chunk, x.tq), smaller(rows, x.tq), x.d, x.dh);
      }
    if (writes(call, 1))
      multiply(band_of(x, Band::InnerFromRow), -q0 - x.before, x.columns, x.dh, m, {ds, 1, x.tk},
               {q + q0 * x.d, x.d, 1}, call.din[1].p + x.k_at, x.d, modes.add[1] || later, at.panel);
    if (writes(call, 2))
      multiply(band_of(x, Band::InnerFromRow), -q0 - x.before, x.columns, x.dh, m, {kept + x.first, 1, x.tk},
               {dout, x.d, 1}, call.din[2].p + x.k_at, x.d, modes.add[2] || later, at.panel);
    Op::position_gradients(call, x, at, chunk);
  }
}

template <typename Op>
int64_t heads_of(const Call& call) {
  check_key_count(call.in[1].shape[1], kBlockFloats);
  return call.in[0].shape[0] * call.attributes.as<typename Op::Spec>().heads;
}

template <typename Op>
Stages plan_attention(const Call& call) {
  Stages stages;
  const int64_t tq = call.in[0].shape[1], tk = call.in[1].shape[1], rows = query_block(tq, tk);
  const int64_t heads = heads_of<Op>(call);
  if (call.attributes.as<typename Op::Spec>().dropout_site != 0)
    stages.kept_floats = static_cast<size_t>(heads * div_up(tq, rows) * block_mask_floats(rows, tk));
  stages.add(attend<Op>, heads);
  return stages;
}

template <typename Op>
Stages plan_attention_gradients(const Call& call) {
  Stages stages;
  stages.add(attention_gradients<Op>, heads_of<Op>(call));
  return stages;
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
