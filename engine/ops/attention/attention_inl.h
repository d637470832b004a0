// What the attention ops have in common on the CPU: products tile by tile in cache through the GEMM's register tiles,
// where a tile of a causal product takes only what it can see; softmax over rows of different length, forward and
// backward; dropout of a block of probabilities. Included by attention_cpu.cpp and relative_attention_cpu.cpp.
#include <cstdint>
#include <type_traits>

#include "engine/cpu/gemm_inl.h"
#include "engine/cpu/philox_inl.h"

#if defined(NORMSCOPE_OPS_ATTENTION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NORMSCOPE_OPS_ATTENTION_INL_H_
#undef NORMSCOPE_OPS_ATTENTION_INL_H_
#else
#define NORMSCOPE_OPS_ATTENTION_INL_H_
#endif

namespace normscope::cpu {
/// Refuses a call whose block of scores would not fit the scratch. Not compiled per target: it formats a message
/// (attention_cpu.cpp).
void check_key_count(int64_t keys, int64_t most);
}  // namespace normscope::cpu

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

constexpr int64_t kLine = 16;  // floats of a cache line

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
  int64_t columns;           // of a row of scores: of tk, those that are looked at
  int64_t before;            // causal: keys before the first query's own
  bool causal;
  float scale;
  uint32_t site;  // of dropout; 0: none
  int64_t visible(int64_t query) const { return causal ? smaller(keys, query + 1 + before) : keys; }
};

/// Queries in a block: whole tiles where possible.
inline int64_t query_block(int64_t tq, int64_t tk) {
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

/// fetch asks for rows of n floats, `stride` apart, that are read while something else is computed: a head's rows lie a
/// row of all heads apart, where the processor does not foresee them, and its probabilities are no longer in the cache.
HWY_INLINE void fetch(const float* p, int64_t rows, int64_t stride, int64_t n) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < n; j += kLine) hwy::Prefetch(p + i * stride + j);
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
  rows.any = smaller(x.columns, round_up(rows.visible[kRows - 1], kLanes));
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

/// softmax_rows turns each row p of n scores into probabilities, in place:
///   p[0..visible)  =  softmax(scale * p[0..visible))
///   p[visible..n)  =  0
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
inline float* kept_bits(const Call& call, const Head& x, int64_t q0, int64_t rows) {
  const int64_t block = mask_floats(rows * x.tk), head = x.p_at / (x.tq * x.tk);
  return call.kept ? call.kept + (head * div_up(x.tq, rows) + q0 / rows) * block : nullptr;
}

/// The factors of rows [q0,q1) of this head, drawn; `to` has room for the rows and 4 kLanes + 4 floats more. `kept`
/// takes their bits unless it is null. Returns where element (q0, 0) lies.
inline float* draw_factors(const StepInputs& step, const Head& x, int64_t q0, int64_t q1, float* to,
                           float* kept) {
  const uint64_t first = static_cast<uint64_t>(x.p_at + q0 * x.tk);
  const int64_t before = static_cast<int64_t>(first % 4);
  const DropoutInputs inputs = step.dropout[static_cast<int>(DropoutKind::Attention)];
  dropout_factors({x.site, step.step, step.seed, inputs}, first - first % 4, (q1 - q0) * x.tk + before, to);
  if (kept) keep_factors(to + before, 0, (q1 - q0) * x.tk, kept);
  return to + before;
}

inline void multiply_by_factors(const float* p, const float* factors, int64_t n, float* to) {
  each_vector(n, [&](int64_t i, auto lanes) HWY_ATTR {
    lanes.store(apply_factor(lanes.load(p + i), lanes.load(factors + i)), to + i);
  });
}

/// A block of probabilities to where they are kept, past the cache if their lines allow: nobody reads them before the
/// backward pass, and lines that are only written to would be fetched first.
inline void store_probabilities(const float* p, int64_t n, float* to) {
  if (reinterpret_cast<uintptr_t>(to) % HWY_MAX_BYTES == 0 && n % kLanes == 0) {
    for (int64_t i = 0; i < n; i += kLanes) hn::Stream(hn::LoadU(DF(), p + i), DF(), to + i);
  } else {
    each_vector(n, [&](int64_t i, auto lanes) HWY_ATTR { lanes.store(lanes.load(p + i), to + i); });
  }
}

/// softmax_backward_rows turns each row g of gradients of probabilities into gradients of scores, in place:
///   g[0..visible)  =  scale * p * (g - sum over the visible of p * g)
///   g[visible..n)  =  0
/// Row r of p lies at p + r * width.
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

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
