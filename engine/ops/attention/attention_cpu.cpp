// attention on the CPU, a chunk per (b,h):  S = q k^T / sqrt(dh),  P = softmax(S) over visible keys (saved),
// out = (P * keep) v.   Backward, with dP = (dout v^T) * keep:  dS = P (dP - sum_s P dP) / sqrt(dh),
//   dq = dS k        dk = dS^T q        dv = (P * keep)^T dout
// Products run tile by tile in cache through the GEMM's register tiles; with causal attention a tile of rows
// takes only the keys that it can see. Queries go in blocks, so that a block of scores fits the worker's
// scratch at any length.
#include <cstdint>
#include <type_traits>

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

/// Rows of scores that the vector units work on together: one alone would wait for its own sums.
constexpr int kTogether = 4;

/// The rows of a group: how many columns each sees, and what all of them do.
struct RowGroup {
  int64_t visible[kTogether];
  int64_t all;  // columns before it are visible to all of them; a multiple of kLanes
  int64_t any;  // columns from it on are visible to none
  float* at[kTogether];
};

/// Rows [first, first + kRows) of a block of queries that begins with q0.
template <int kRows>
RowGroup rows_from(const Head& x, float* p, int64_t q0, int64_t first) {
  RowGroup rows{};
  for (int r = 0; r < kRows; ++r) {
    rows.visible[r] = x.visible(q0 + first + r);
    rows.at[r] = p + (first + r) * x.tk;
  }
  rows.all = rows.visible[0] / kLanes * kLanes;  // later rows see more
  rows.any = smaller(x.tk, round_up(rows.visible[kRows - 1], kLanes));
  return rows;
}

/// The lanes at column j that a row sees; elsewhere `hidden`.
HWY_INLINE VF hide(VF v, int64_t j, int64_t visible, VF hidden) {
  const int64_t n = larger(0, smaller(kLanes, visible - j));
  return hn::IfThenElse(hn::FirstN(DF(), static_cast<size_t>(n)), v, hidden);
}

/// body(j, row, lanes, masked) for every vector of the rows that one of them sees.
template <int kRows, typename Body>
HWY_INLINE void each_visible(const RowGroup& rows, const Body& body) {
  for (int64_t j = 0; j < rows.all; j += kLanes) HWY_UNROLL(4)
  for (int r = 0; r < kRows; ++r) body(j, r, Whole{}, std::false_type{});
  each_vector(rows.any - rows.all, [&](int64_t j, auto lanes) HWY_ATTR {
    HWY_UNROLL(4)
    for (int r = 0; r < kRows; ++r) body(rows.all + j, r, lanes, std::true_type{});
  });
}

/// Zeros from column `any` on to before n.
template <int kRows>
HWY_INLINE void zero_rest(const RowGroup& rows, int64_t n) {
  const VF zero = hn::Zero(DF());
  for (int r = 0; r < kRows; ++r)
    each_vector(n - rows.any,
                [&](int64_t j, auto lanes) HWY_ATTR { lanes.store(zero, rows.at[r] + rows.any + j); });
}

/// Each row p: p[0..visible) = softmax(scale * p), p[visible..n) = 0.
template <int kRows>
void softmax_rows(const RowGroup& rows, int64_t n, float scale) {
  const DF d;
  const VF zero = hn::Zero(d), lowest = hn::Set(d, -__builtin_inff()), factor = hn::Set(d, scale);
  if (rows.any > 0) {
    VF most[kRows], shift[kRows], total[kRows], inverse[kRows];
    for (int r = 0; r < kRows; ++r) {
      most[r] = lowest;
      total[r] = zero;
    }
    each_visible<kRows>(rows, [&](int64_t j, int r, auto lanes, auto masked) HWY_ATTR {
      const VF v = lanes.load(rows.at[r] + j);
      most[r] = hn::Max(most[r], masked ? hide(v, j, rows.visible[r], lowest) : v);
    });
    for (int r = 0; r < kRows; ++r) shift[r] = hn::Mul(hn::Set(d, max_of(d, most[r])), factor);
    each_visible<kRows>(rows, [&](int64_t j, int r, auto lanes, auto masked) HWY_ATTR {
      const VF v = exp_of(d, hn::MulSub(lanes.load(rows.at[r] + j), factor, shift[r]));
      const VF e = masked ? hide(v, j, rows.visible[r], zero) : v;
      total[r] = hn::Add(total[r], e);
      lanes.store(e, rows.at[r] + j);
    });
    for (int r = 0; r < kRows; ++r) inverse[r] = hn::Set(d, 1.0f / sum_of(d, total[r]));
    each_visible<kRows>(rows, [&](int64_t j, int r, auto lanes, auto) HWY_ATTR {
      lanes.store(hn::Mul(lanes.load(rows.at[r] + j), inverse[r]), rows.at[r] + j);
    });
  }
  zero_rest<kRows>(rows, n);
}

/// body(i, number of rows) for m rows in groups of kTogether, and one by one at the end.
template <typename Body>
HWY_INLINE void in_groups(int64_t m, const Body& body) {
  int64_t i = 0;
  for (; i + kTogether <= m; i += kTogether) body(i, std::integral_constant<int, kTogether>{});
  for (; i < m; ++i) body(i, std::integral_constant<int, 1>{});
}

/// Where the bits of the block of queries that begins with q0 lie in Call::kept; blocks have `rows` queries.
float* kept_bits(const Call& call, const Head& x, int64_t q0, int64_t rows) {
  const int64_t block = mask_floats(rows * x.tk), head = x.p_at / (x.tq * x.tk);
  return call.kept ? call.kept + (head * div_up(x.tq, rows) + q0 / rows) * block : nullptr;
}

/// The factors of rows [q0,q1) of this head, drawn; `to` has room for the rows and 4 kLanes + 4 floats more. `kept`
/// takes their bits unless it is null. Returns where element (q0, 0) lies.
float* draw_factors(const Call& call, const StepInputs& step, const Head& x, int64_t q0, int64_t q1,
                    float* to, float* kept) {
  const uint64_t first = static_cast<uint64_t>(x.p_at + q0 * x.tk);
  const int64_t before = static_cast<int64_t>(first % 4);
  const DropoutInputs inputs = step.dropout[static_cast<int>(DropoutKind::Attention)];
  dropout_factors({call.attributes.as<AttentionSpec>().dropout_site, step.step, step.seed, inputs},
                  first - first % 4, (q1 - q0) * x.tk + before, to);
  if (kept) keep_factors(to + before, 0, (q1 - q0) * x.tk, kept);
  return to + before;
}

void multiply_by_factors(const float* p, const float* factors, int64_t n, float* to) {
  each_vector(n, [&](int64_t i, auto lanes) HWY_ATTR {
    lanes.store(apply_factor(lanes.load(p + i), lanes.load(factors + i)), to + i);
  });
}

/// A block of probabilities to where they are kept, past the cache if their lines allow: nobody reads them before the
/// backward pass, and lines that are only written to would be fetched first.
void store_probabilities(const float* p, int64_t n, float* to) {
  if (reinterpret_cast<uintptr_t>(to) % HWY_MAX_BYTES == 0 && n % kLanes == 0) {
    for (int64_t i = 0; i < n; i += kLanes) hn::Stream(hn::LoadU(DF(), p + i), DF(), to + i);
  } else {
    each_vector(n, [&](int64_t i, auto lanes) HWY_ATTR { lanes.store(lanes.load(p + i), to + i); });
  }
}

void forward(const Call& call, const StepInputs& step, int64_t chunk, Scratch scratch) noexcept {
  const Head x = head_of(call, chunk);
  float *panel = scratch.p, *p = panel + kPanelFloats, *block = p + kBlockFloats + 16;
  const float *q = call.in[0].p + x.q_at, *k = call.in[1].p + x.k_at, *v = call.in[2].p + x.k_at;
  const int64_t rows = query_block(x.tq, x.tk);
  for (int64_t q0 = 0; q0 < x.tq; q0 += rows) {
    const int64_t m = smaller(rows, x.tq - q0), q1 = q0 + m;
    multiply(x.causal ? Band::ColumnsUpToRow : Band::All, q0, m, x.keys, x.dh, {q + q0 * x.d, x.d, 1},
             {k, 1, x.d}, p, x.tk, false, panel);
    in_groups(m, [&](int64_t i, auto rows)
                     HWY_ATTR { softmax_rows<rows()>(rows_from<rows()>(x, p, q0, i), x.tk, x.scale); });
    if (call.saved[0]) store_probabilities(p, m * x.tk, call.saved[0].p + x.p_at + q0 * x.tk);
    const float* kept = p;
    if (call.attributes.as<AttentionSpec>().dropout_site != 0) {
      float* factors = draw_factors(call, step, x, q0, q1, block, kept_bits(call, x, q0, rows));
      multiply_by_factors(p, factors, m * x.tk, factors);
      kept = factors;
    }
    multiply(x.causal ? Band::InnerUpToRow : Band::All, q0, m, x.dh, x.keys, {kept, x.tk, 1}, {v, x.d, 1},
             call.out.p + x.q_at + q0 * x.d, x.d, false, panel);
  }
  hwy::FlushStream();  // visible to whoever takes the next stage
}

/// Each row g: g[0..visible) = p (g - sum p g) scale, g[visible..n) = 0. Row r of p lies at p + r * width.
template <int kRows>
void softmax_backward_rows(const RowGroup& rows, const float* p, int64_t width, int64_t n, float scale) {
  const DF d;
  const VF zero = hn::Zero(d), factor = hn::Set(d, scale);
  VF dot[kRows], mean[kRows];
  for (int r = 0; r < kRows; ++r) dot[r] = zero;
  each_visible<kRows>(rows, [&](int64_t j, int r, auto lanes, auto masked) HWY_ATTR {
    const VF g = lanes.load(rows.at[r] + j);
    dot[r] =
        hn::MulAdd(lanes.load(p + r * width + j), masked ? hide(g, j, rows.visible[r], zero) : g, dot[r]);
  });
  for (int r = 0; r < kRows; ++r) mean[r] = hn::Set(d, sum_of(d, dot[r]));
  each_visible<kRows>(rows, [&](int64_t j, int r, auto lanes, auto masked) HWY_ATTR {
    const VF v =
        hn::Mul(hn::Mul(lanes.load(p + r * width + j), factor), hn::Sub(lanes.load(rows.at[r] + j), mean[r]));
    lanes.store(masked ? hide(v, j, rows.visible[r], zero) : v, rows.at[r] + j);
  });
  zero_rest<kRows>(rows, n);
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
      float* factors = block;
      factors_of(kept_bits(call, x, q0, rows), m * x.tk,
                 step.dropout[static_cast<int>(DropoutKind::Attention)].scale, factors);
      for (int64_t i = 0; i < m; ++i) {
        float* row = g + i * x.tk;
        multiply_by_factors(row, factors + i * x.tk, x.visible(q0 + i), row);
      }
      multiply_by_factors(p, factors, m * x.tk, factors);
      kept = factors;
    }
    // A causal tile reads at most a tile's height beyond the diagonal.
    const auto read = [&](int64_t row) HWY_ATTR {
      return x.keys < x.tk ? x.tk : smaller(x.tk, x.visible(q0 + row) + kTileRows);
    };
    in_groups(m, [&](int64_t i, auto rows) HWY_ATTR {
      softmax_backward_rows<rows()>(rows_from<rows()>(x, g, q0, i), p + i * x.tk, x.tk, read(i + rows() - 1),
                                    x.scale);
    });
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
  const int64_t tq = call.in[0].shape[1], tk = call.in[1].shape[1], rows = query_block(tq, tk);
  if (call.attributes.as<AttentionSpec>().dropout_site != 0)
    stages.kept_floats = static_cast<size_t>(chunks_of(call) * div_up(tq, rows) * mask_floats(rows * tk));
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
