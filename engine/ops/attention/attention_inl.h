// The attention ops on the CPU, a chunk for each (b,h). In a head q and out are (Tq,dh), k and v (Tk,dh); keep are the
// factors of dropout (Tq,Tk):
//   S    =  q k^T                                // some ops add terms of distances
//   C    =  S, or cap tanh(S / cap)
//   P    =  softmax(scale C)                     // over the visible keys; saved
//   out  =  (P * keep) v
// Backward:
//   dP   =  (dout v^T) * keep
//   dS   =  scale P * (dP - sum over keys of P * dP), with a cap times 1 - tanh(S / cap)^2
//   dq   =  dS k
//   dk   =  dS^T q
//   dv   =  (P * keep)^T dout
// Queries are cut into blocks, so that a block of scores fits the worker's scratch at any length. Products are
// computed tile by tile in cache with the GEMM's register tiles; a tile of a causal product skips the keys that none
// of its queries sees. Backward with a cap computes S again: saved, S would be a second tensor of P's size to keep,
// write and read, while the product is a fifth in addition to four.
//
// A struct Op has the parts that differ from op to op (attention_cpu.cpp; add-ons have others):
//   Spec                   its attributes
//   kFetches               whether a large op prefetches its inputs
//   count_keys             sets the keys that a head sees: causal, first, keys, before; also window, windowed, scale
//                          and cap where they differ from head_of()
//   add_positions          adds to the scores of a block the terms that depend on the positions of its keys
//   position_gradients     computes the gradients of these terms
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
/// Throws Error where a block of scores would not fit the scratch. It is not compiled per target, as it formats a
/// message (attention_cpu.cpp).
void check_key_count(int64_t keys, int64_t most);
}  // namespace normscope::cpu

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

/// One (b,h) of a call: addresses of its slices, and the visible keys. The rows of k and v before `first` do not
/// count: k_at is the offset of row `first`, and keys and columns are counted from this row.
struct Head {
  // Rows of q and out, rows of k and v, stride of a row, width of a head, heads.
  int64_t tq, tk, d, dh, heads;
  int64_t kd;                            // stride of a row of k and v
  int64_t times;                         // heads of q that share a head of k and v
  int64_t h_at, q_at, k_at, g_at, p_at;  // offsets of the head in a row, and of its slices; g: of dk and dv
  int64_t first;                         // keys before those that count
  int64_t keys;                          // keys before the row's length
  int64_t columns;                       // columns of a row of scores that are used
  int64_t before;                        // causal: keys before the last that the first query sees
  int64_t window;                        // causal: most keys that a query sees; tk: all
  bool causal;
  bool windowed;
  bool large;  // the probabilities of all heads are more than half of the L2 cache
  float scale;
  float cap;      // of unscaled scores; 0: none
  uint32_t site;  // of dropout; 0: none
  /// A query sees keys [begin, visible), which may be empty.
  int64_t visible(int64_t query) const { return causal ? smaller(keys, query + 1 + before) : keys; }
  int64_t begin(int64_t query) const {
    return causal ? smaller(visible(query), larger(0, query + 1 + before - window)) : 0;
  }
};

/// How many rows of scores the vector units work on at once: a single row would wait for its own sums.
constexpr int kTogether = 4;

/// The rows of a group, the columns that each of them sees, and the columns that all or none of them see.
struct RowGroup {
  int64_t begin[kTogether], visible[kTogether];
  int64_t none;  // columns before it are visible to none of them; a multiple of kLanes
  int64_t full;  // from it on no window hides a column from any of them; a multiple of kLanes, or `any`
  int64_t all;   // no row ends before this column; a multiple of kLanes
  int64_t any;   // columns from it on are visible to none
  int64_t first = 0, end;  // columns that are written
  float* at[kTogether];
};

/// Makes a group of rows [first, first + kRows) of a block of queries that begins with q0.
template <int kRows, bool kWindow>
HWY_INLINE RowGroup rows_from(const Head& x, float* p, int64_t q0, int64_t first) {
  RowGroup rows{};
  for (int r = 0; r < kRows; ++r) {
    if constexpr (kWindow) rows.begin[r] = x.begin(q0 + first + r);
    rows.visible[r] = x.visible(q0 + first + r);
    rows.at[r] = p + (first + r) * x.tk;
  }
  // Later rows see farther, and begin later.
  rows.all = rows.visible[0] / kLanes * kLanes;
  rows.any = smaller(x.columns, round_up(rows.visible[kRows - 1], kLanes));
  if constexpr (kWindow) {
    rows.none = rows.begin[0] / kLanes * kLanes;
    rows.full = smaller(rows.any, round_up(rows.begin[kRows - 1], kLanes));
  }
  rows.end = x.columns;
  return rows;
}

/// As many lanes as there are columns before `end`, which is relative to the first lane's.
HWY_INLINE auto first_lanes(int64_t end) {
  return hn::FirstN(DF(), static_cast<size_t>(larger(0, smaller(kLanes, end))));
}

// Each of these keeps the lanes of a vector that a row sees, and puts `hidden` in the others.
struct SeesAll {
  HWY_INLINE VF operator()(VF v, VF) const { return v; }
};
struct SeesUpTo {
  int64_t end;  // as for first_lanes
  HWY_INLINE VF operator()(VF v, VF hidden) const { return hn::IfThenElse(first_lanes(end), v, hidden); }
};
struct SeesWithin {
  int64_t begin, end;
  HWY_INLINE VF operator()(VF v, VF hidden) const {
    return hn::IfThenElse(first_lanes(begin), hidden, SeesUpTo{end}(v, hidden));
  }
};

/// Calls body(j, row, lanes, sees) for every vector that some row of the group sees.
template <int kRows, bool kWindow, typename Body>
HWY_INLINE void each_visible(const RowGroup& rows, const Body& body) {
  int64_t begin = 0, end = rows.all;
  if constexpr (kWindow) {
    each_vector(rows.full - rows.none, [&](int64_t j, auto lanes) HWY_ATTR {
      const int64_t at = rows.none + j;
      for (int r = 0; r < kRows; ++r)
        body(at, r, lanes, SeesWithin{rows.begin[r] - at, rows.visible[r] - at});
    });
    begin = rows.full;
    end = larger(begin, end);
  }
  for (int64_t j = begin; j < end; j += kLanes) HWY_UNROLL(4)
  for (int r = 0; r < kRows; ++r) body(j, r, Whole{}, SeesAll{});
  each_vector(rows.any - end, [&](int64_t j, auto lanes) HWY_ATTR {
    HWY_UNROLL(4)
    for (int r = 0; r < kRows; ++r) body(end + j, r, lanes, SeesUpTo{rows.visible[r] - (end + j)});
  });
}

HWY_INLINE void zero(float* to, int64_t n) {
  each_vector(n, [&](int64_t i, auto lanes) HWY_ATTR { lanes.store(hn::Zero(DF()), to + i); });
}

/// Zeroes the written columns that no row of the group sees.
template <int kRows, bool kWindow>
HWY_INLINE void zero_hidden(const RowGroup& rows) {
  for (int r = 0; r < kRows; ++r) {
    if constexpr (kWindow) zero(rows.at[r] + rows.first, rows.none - rows.first);
    zero(rows.at[r] + rows.any, rows.end - rows.any);
  }
}

/// Turns each row p of scores into probabilities, in place:
///   p  =  softmax(scale * p)       // over [begin, visible)
///   p  =  0                        // elsewhere
template <int kRows, bool kWindow>
HWY_INLINE void softmax_rows(const RowGroup& rows, float scale) {
  const DF d;
  const VF none = hn::Zero(d), lowest = hn::Set(d, -__builtin_inff()), factor = hn::Set(d, scale);
  if (rows.any > 0) {
    VF most[kRows], shift[kRows], total[kRows], inverse[kRows];
    for (int r = 0; r < kRows; ++r) {
      most[r] = lowest;
      total[r] = none;
    }
    each_visible<kRows, kWindow>(rows, [&](int64_t j, int r, auto lanes, auto sees) HWY_ATTR {
      most[r] = hn::Max(most[r], sees(lanes.load(rows.at[r] + j), lowest));
    });
    for (int r = 0; r < kRows; ++r) shift[r] = hn::Mul(hn::Set(d, max_of(d, most[r])), factor);
    each_visible<kRows, kWindow>(rows, [&](int64_t j, int r, auto lanes, auto sees) HWY_ATTR {
      const VF e = sees(exp_of(d, hn::MulSub(lanes.load(rows.at[r] + j), factor, shift[r])), none);
      total[r] = hn::Add(total[r], e);
      lanes.store(e, rows.at[r] + j);
    });
    for (int r = 0; r < kRows; ++r) {
      const float sum = sum_of(d, total[r]);
      // A window may lie beyond the row's length, also where the windows of other rows of the group do not.
      const bool empty = kWindow && rows.begin[r] == rows.visible[r];
      inverse[r] = hn::Set(d, empty ? 0.0f : 1.0f / sum);
    }
    each_visible<kRows, kWindow>(rows, [&](int64_t j, int r, auto lanes, auto) HWY_ATTR {
      lanes.store(hn::Mul(lanes.load(rows.at[r] + j), inverse[r]), rows.at[r] + j);
    });
  }
  zero_hidden<kRows, kWindow>(rows);
}

/// Calls body(i, number of rows) for m rows in groups of kTogether, and one by one at the end.
template <typename Body>
HWY_INLINE void in_groups(int64_t m, const Body& body) {
  int64_t i = 0;
  for (; i + kTogether <= m; i += kTogether) body(i, std::integral_constant<int, kTogether>{});
  for (; i < m; ++i) body(i, std::integral_constant<int, 1>{});
}

/// Turns the scores of m queries from q0 on into probabilities.
template <bool kWindow>
HWY_INLINE void softmax_block(const Head& x, int64_t q0, int64_t m, float* scores) {
  in_groups(m, [&](int64_t i, auto group) HWY_ATTR {
    softmax_rows<group(), kWindow>(rows_from<group(), kWindow>(x, scores, q0, i), x.scale);
  });
}

// A function that only a window or a cap needs stays out of line: inlined, it would crowd the path of every head.
HWY_NOINLINE void softmax_window(const Head& x, int64_t q0, int64_t m, float* scores) {
  softmax_block<true>(x, q0, m, scores);
}

/// Calls body(i, lanes) for the vectors of scores that a block's queries see; element i counts in rows of tk.
template <typename Body>
HWY_INLINE void each_seen(const Head& x, int64_t q0, int64_t m, const Body& body) {
  for (int64_t i = 0; i < m; ++i) {
    const int64_t begin = x.begin(q0 + i), row = i * x.tk + begin;
    each_vector(x.visible(q0 + i) - begin, [&](int64_t j, auto lanes) HWY_ATTR { body(row + j, lanes); });
  }
}

/// Turns the scores of m queries, in place, to
///   s  =  cap * tanh(s / cap)
/// Head::cap is the spec's cap divided by the scale, so the scaled result is the spec's cap of the scaled scores.
HWY_NOINLINE void cap_scores(const Head& x, int64_t q0, int64_t m, float* scores) {
  const DF d;
  const VF cap = hn::Set(d, x.cap), inverse = hn::Set(d, 1.0f / x.cap);
  each_seen(x, q0, m, [&](int64_t i, auto lanes) HWY_ATTR {
    lanes.store(hn::Mul(cap, tanh_of(d, hn::Mul(lanes.load(scores + i), inverse))), scores + i);
  });
}

/// Turns gradients g of capped scores into gradients of scores s, in place:
///   g  =  g * (1 - tanh(s / cap)^2)
HWY_NOINLINE void cap_gradients(const Head& x, int64_t q0, int64_t m, const float* scores, float* g) {
  const DF d;
  const VF one = hn::Set(d, 1.0f), inverse = hn::Set(d, 1.0f / x.cap);
  each_seen(x, q0, m, [&](int64_t i, auto lanes) HWY_ATTR {
    const VF t = tanh_of(d, hn::Mul(lanes.load(scores + i), inverse));
    lanes.store(hn::Mul(lanes.load(g + i), hn::NegMulAdd(t, t, one)), g + i);
  });
}

/// Counts the unused bits before the bits of query q0: elements are drawn four at a time.
inline int64_t first_bit(const Head& x, int64_t q0) { return (x.p_at + q0 * x.tk) % 4; }

/// The floats of the bits of a block of queries, with room for what the last vector's mask reads beyond them.
inline int64_t block_mask_floats(int64_t rows, int64_t tk) { return mask_floats(rows * tk + kLanes + 8); }

/// The address in Call::kept of the bits of the queries from q0 on; a block has `rows` queries.
inline uint8_t* kept_bits(const Call& call, const Head& x, int64_t q0, int64_t rows) {
  const int64_t block = block_mask_floats(rows, x.tk), head = x.p_at / (x.tq * x.tk);
  return reinterpret_cast<uint8_t*>(call.kept + (head * div_up(x.tq, rows) + q0 / rows) * block);
}

inline DropoutInputs dropout_of(const StepInputs& step) {
  return step.dropout[static_cast<int>(DropoutKind::Attention)];
}

/// Draws the bits of m queries of this head, and computes from their probabilities p
///   to  =  p * keep
inline void draw_rows(const StepInputs& step, const Head& x, int64_t q0, int64_t m, const float* p,
                      uint8_t* kept, float* to) {
  const DropoutInputs inputs = dropout_of(step);
  const int64_t before = first_bit(x, q0);
  draw_kept({x.site, step.step, step.seed, inputs}, static_cast<uint64_t>(x.p_at + q0 * x.tk - before),
            m * x.tk + before, kept, [&](int64_t i, int64_t count) HWY_ATTR {
              const int64_t at = larger(0, i - before);
              keep_scaled(p + at, kept, at + before, i + count - before - at, inputs.scale, to + at, false);
            });
}

/// Writes a block of probabilities, bypassing the cache for aligned rows of a large op: they would be evicted before
/// the backward pass, and ordinary stores would first fetch lines that they only overwrite.
inline void store_probabilities(const float* p, int64_t n, float* to, bool large) {
  if (large && reinterpret_cast<uintptr_t>(to) % HWY_MAX_BYTES == 0 && n % kLanes == 0) {
    for (int64_t i = 0; i < n; i += kLanes) hn::Stream(hn::LoadU(DF(), p + i), DF(), to + i);
  } else {
    each_vector(n, [&](int64_t i, auto lanes) HWY_ATTR { lanes.store(lanes.load(p + i), to + i); });
  }
}

/// The bits of a group of rows, which begin at bit `begin`, and the destination of p * keep. No bits: no dropout.
struct Keep {
  const uint8_t* bits;
  int64_t begin;
  float scale;
  float* product;
};

/// Turns each row g of gradients of p * keep into gradients of scores, in place:
///   g  =  scale * p * (g * keep - sum over the visible of p * g * keep)      // over [begin, visible)
///   g  =  0                                                                  // elsewhere in [first, end)
/// Row r of p, and of its bits and product, begins r * width after the first.
template <int kRows, bool kWindow>
HWY_INLINE void softmax_backward_rows(const RowGroup& rows, const float* p, int64_t width, float scale,
                                      const Keep& keep) {
  const DF d;
  const VF none = hn::Zero(d), factor = hn::Set(d, scale), keep_scale = hn::Set(d, keep.scale);
  VF dot[kRows], mean[kRows];
  for (int r = 0; r < kRows; ++r) dot[r] = none;
  each_visible<kRows, kWindow>(rows, [&](int64_t j, int r, auto lanes, auto sees) HWY_ATTR {
    const int64_t at = r * width + j;
    const VF probability = lanes.load(p + at);
    VF g = lanes.load(rows.at[r] + j);
    if (keep.bits) {
      const auto kept = kept_mask(keep.bits, keep.begin + at);
      g = hn::IfThenElseZero(kept, hn::Mul(g, keep_scale));
      lanes.store(g, rows.at[r] + j);
      lanes.store(hn::IfThenElseZero(kept, hn::Mul(probability, keep_scale)), keep.product + at);
    }
    dot[r] = hn::MulAdd(probability, sees(g, none), dot[r]);
  });
  for (int r = 0; r < kRows; ++r) mean[r] = hn::Set(d, sum_of(d, dot[r]));
  each_visible<kRows, kWindow>(rows, [&](int64_t j, int r, auto lanes, auto sees) HWY_ATTR {
    const VF v =
        hn::Mul(hn::Mul(lanes.load(p + r * width + j), factor), hn::Sub(lanes.load(rows.at[r] + j), mean[r]));
    lanes.store(sees(v, none), rows.at[r] + j);
  });
  zero_hidden<kRows, kWindow>(rows);
  RowGroup products = rows;
  for (int r = 0; r < kRows; ++r) products.at[r] = keep.product + r * width;
  if (keep.bits) zero_hidden<kRows, kWindow>(products);
}

// The scratch holds packed panels, then two blocks of score-like rows.
constexpr int64_t kInnerBlock = 1024;  // k of a packed panel
constexpr int64_t kPanelFloats = kInnerBlock * kPanel;
constexpr int64_t kBlockFloats = (static_cast<int64_t>(kScratchFloats) - kPanelFloats) / 2 - 64;
constexpr int64_t kUsualBlock = 32768;  // floats of a block of scores that stay in the L2 cache

/// The number of queries in a block: whole tiles where possible.
inline int64_t query_block(int64_t tq, int64_t tk) {
  const int64_t fit = kBlockFloats / tk, usual = round_up(larger(1, kUsualBlock / tk), kTileRows);
  return smaller(tq, fit >= kTileRows ? smaller(usual, fit / kTileRows * kTileRows) : fit);
}

/// The head of a chunk.
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
  x.kd = call.in[1].shape[2];
  x.times = x.d / x.kd;
  x.window = x.tk;
  x.windowed = false;
  x.large =
      call.in[0].shape[0] * x.heads * x.tq * x.tk > l2_bytes() / 2 / static_cast<int64_t>(sizeof(float));
  x.scale = static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(x.dh)));
  x.cap = 0;
  Op::count_keys(call, b, x);
  x.columns = x.tk - x.first;
  x.h_at = chunk % x.heads * x.dh;
  x.q_at = b * x.tq * x.d + x.h_at;
  x.k_at = (b * x.tk + x.first) * x.kd + chunk % x.heads / x.times * x.dh;
  x.g_at = (b * x.tk + x.first) * x.d + x.h_at;
  x.p_at = chunk * x.tq * x.tk;
  x.site = spec.dropout_site;
  return x;
}

/// Queries [q0, q0 + m) of a head, and a worker's memory for them: two blocks of m rows of tk floats.
struct Block {
  int64_t q0, m;
  float* scores;   // or their gradients
  float* factors;  // probabilities after dropout; in between, products with the distances
  float* panel;
  int64_t q1() const { return q0 + m; }
};

inline Block block_of(Scratch scratch, int64_t q0, int64_t m) {
  float *panel = scratch.p, *scores = panel + kPanelFloats;
  return {q0, m, scores, scores + kBlockFloats + 16, panel};
}

/// The part of a product that a tile of rows [i, i+rows) needs when attention is causal.
struct Band {
  enum Kind : uint8_t {
    All,
    ColumnsUpToRow,  // columns shift + i - window < j < shift + i + rows
    InnerUpToRow,    // shift + i - window < k < shift + i + rows
    InnerFromRow,    // shift + i <= k < shift + i + rows - 1 + window
  } kind = All;
  int64_t shift = 0, window = 0;
  bool windowed = false;

  /// Whether rows from i on see none of the columns before `end`.
  bool hides(int64_t i, int64_t end) const { return kind == ColumnsUpToRow && end <= shift + i + 1 - window; }
};

/// The band of a product of a causal head, in a block of queries from q0 on; any other head sees everything.
inline Band band_of(const Head& x, Band::Kind causal, int64_t q0) {
  if (!x.causal) return {};
  const int64_t last = q0 + x.before;  // that the block's first query sees
  return {causal, causal == Band::InnerFromRow ? -last : last, x.window, x.windowed};
}

/// Computes one product on one thread, B packed panel by panel where it cannot be read in place:
///   C (m,n)  =  [C +] A (m,k) B (k,n)
inline void multiply(const Band& band, int64_t m, int64_t n, int64_t k, Operand a, Operand b, float* c,
                     int64_t ldc, bool add, float* panel) {
  const int64_t shift = band.shift, window = band.window;
  const int64_t begin = band.kind == Band::InnerUpToRow ? smaller(k, larger(0, shift + 1 - window)) : 0;
  for (int64_t k0 = begin; k0 < k || k0 == begin; k0 += kInnerBlock) {
    const int64_t k1 = smaller(k, k0 + kInnerBlock);
    const bool more = add || k0 > begin;
    for (int64_t j = 0; j < n; j += kPanel) {
      const int64_t cols = smaller(kPanel, n - j);
      if (band.kind == Band::ColumnsUpToRow && j >= shift + m) break;
      if (band.hides(0, j + cols)) continue;
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
        if ((band.kind == Band::ColumnsUpToRow && j >= shift + i + rows) || band.hides(i, j + cols)) continue;
        if (band.kind == Band::InnerUpToRow) {
          first = smaller(k1, larger(k0, shift + i + 1 - window));
          last = smaller(k1, shift + i + rows);
        }
        if (band.kind == Band::InnerFromRow) {
          first = smaller(k1, larger(k0, shift + i));
          last = smaller(k1, shift + i + rows - 1 + window);
        }
        const int64_t inner = larger(0, last - first);
        if (band.windowed && more && inner == 0) continue;
        const bool half = band.kind == Band::ColumnsUpToRow && shift + i + rows <= j + kLanes;
        run_tile(rows, half ? smaller(cols, kLanes) : cols, inner,
                 {a.p + i * a.row + first * a.col, a.row, a.col}, from + (first - k0) * sb, sb,
                 c + i * ldc + j, ldc, nullptr, more);
      }
    }
  }
}

/// Prefetches rows of n floats, `stride` apart, while something else is computed. The processor does not predict a
/// head's rows, which are a row of all heads apart, and its probabilities have left the cache.
HWY_INLINE void fetch(const float* p, int64_t rows, int64_t stride, int64_t n) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < n; j += kLine) hwy::Prefetch(p + i * stride + j);
}

/// The floats from this head's slice to the slice of the next chunk's head, in a tensor of t rows.
inline int64_t next_head(const Head& x, int64_t chunk, int64_t t) {
  return x.dh + ((chunk + 1) % x.heads == 0 ? (t - 1) * x.d : 0);
}
/// The same for k and v.
inline int64_t next_keys(const Head& x, int64_t chunk) {
  const int64_t h = chunk % x.heads, next = (chunk + 1) % x.heads;
  return (next / x.times - h / x.times) * x.dh + (next == 0 ? x.tk * x.kd : 0);
}

inline bool writes(const Call& call, int input) { return call.write[input] != Write::Skip; }

/// Computes the probabilities and out of a head.
template <typename Op>
void attend(const Call& call, const StepInputs& step, int64_t chunk, Scratch scratch) noexcept {
  const Head x = head_of<Op>(call, chunk);
  const float *q = call.in[0].p + x.q_at, *k = call.in[1].p + x.k_at, *v = call.in[2].p + x.k_at;
  const int64_t rows = query_block(x.tq, x.tk);
  for (int64_t q0 = 0; q0 < x.tq; q0 += rows) {
    const int64_t m = smaller(rows, x.tq - q0);
    const Block at = block_of(scratch, q0, m);
    float *p = at.scores, *seen = p + x.first;
    if (Op::kFetches && x.large) {
      fetch(q + q0 * x.d, m, x.d, x.dh);
      if (q0 == 0) fetch(v, x.keys, x.kd, x.dh);
    }
    multiply(band_of(x, Band::ColumnsUpToRow, q0), m, x.keys, x.dh, {q + q0 * x.d, x.d, 1}, {k, 1, x.kd},
             seen, x.tk, false, at.panel);
    if (Op::kFetches && x.large && at.q1() == x.tq) fetch(k + next_keys(x, chunk), x.tk, x.kd, x.dh);
    Op::add_positions(call, x, at);
    if (x.cap > 0) cap_scores(x, q0, m, seen);
    if (x.windowed)
      softmax_window(x, q0, m, seen);
    else
      softmax_block<false>(x, q0, m, seen);
    for (int64_t i = 0; x.first > 0 && i < m; ++i) zero(p + i * x.tk, x.first);
    if (call.saved[0]) store_probabilities(p, m * x.tk, call.saved[0].p + x.p_at + q0 * x.tk, x.large);
    const float* kept = p;
    if (x.site != 0) {
      uint8_t* bits = call.kept ? kept_bits(call, x, q0, rows) : reinterpret_cast<uint8_t*>(at.panel);
      draw_rows(step, x, q0, m, p, bits, at.factors);
      kept = at.factors;
    }
    multiply(band_of(x, Band::InnerUpToRow, q0), m, x.dh, x.keys, {kept + x.first, x.tk, 1}, {v, x.kd, 1},
             call.out.p + x.q_at + q0 * x.d, x.d, false, at.panel);
  }
  if (x.large) hwy::FlushStream();  // visible to the workers of the next stage
}

/// Whether dq, dk, dv are added to their tensors. Where two of them are one tensor, an assignment would overwrite an
/// earlier sum if there are several blocks of queries, or a cap, with which dv is computed before dq: then the slices
/// are zeroed first and all add.
struct WriteModes {
  bool add[3];
};
inline WriteModes write_modes(const Call& call, const Head& x, bool several_blocks) {
  WriteModes modes;
  for (int i = 0; i < 3; ++i) modes.add[i] = call.write[i] == Write::Add;
  const float *dq = call.din[0].p, *dk = call.din[1].p, *dv = call.din[2].p;
  const bool shared = (dq && (dq == dk || dq == dv)) || (dk && dk == dv);
  if ((!several_blocks && x.cap == 0) || !shared) return modes;
  for (int i = 0; i < 3; ++i) {
    if (call.write[i] != Write::Assign) continue;
    float* to = call.din[i].p + (i == 0 ? x.q_at : x.g_at);
    for (int64_t t = 0; t < (i == 0 ? x.tq : x.columns); ++t) zero(to + t * x.d, x.dh);
    modes.add[i] = true;
  }
  return modes;
}

/// Zeroes the gradient of keys that do not count.
inline void zero_uncounted(const Call& call, const Head& x, int input) {
  if (call.write[input] != Write::Assign) return;
  float* to = call.din[input].p + x.g_at - x.first * x.d;
  for (int64_t s = 0; s < x.first; ++s) zero(to + s * x.d, x.dh);
}

/// Turns the gradients g of a block's P * keep, which begin with the first key that counts, into dS.
/// `p` are the block's probabilities, and with dropout at.factors becomes P * keep.
template <bool kWindow>
HWY_INLINE void softmax_gradients(const Head& x, const Block& at, const float* p, float* g, Keep keep) {
  in_groups(at.m, [&](int64_t i, auto group) HWY_ATTR {
    const int64_t first = i * x.tk + x.first;
    keep.begin = first_bit(x, at.q0) + first;
    keep.product = at.factors + first;
    RowGroup rows = rows_from<group(), kWindow>(x, g, at.q0, i);
    // A causal tile reads at most a tile's height beyond the diagonal, and before a window.
    if (x.keys == x.columns) rows.end = smaller(x.columns, rows.visible[group() - 1] + kTileRows);
    if constexpr (kWindow) rows.first = larger(0, smaller(rows.none, rows.begin[0] - kTileRows));
    softmax_backward_rows<group(), kWindow>(rows, p + first, x.tk, x.scale, keep);
  });
}

HWY_NOINLINE void softmax_window_gradients(const Head& x, const Block& at, const float* p, float* g,
                                           const Keep& keep) {
  softmax_gradients<true>(x, at, p, g, keep);
}

/// Computes dS of the block into at.scores. Returns P * keep, the input of dv: P itself, or at.factors where there is
/// dropout.
inline const float* score_gradients(const Call& call, const StepInputs& step, const Head& x, const Block& at,
                                    int64_t rows) {
  const float *p = call.saved[0].p + x.p_at + at.q0 * x.tk, *dout = call.dout.p + x.q_at + at.q0 * x.d;
  float* g = at.scores + x.first;
  multiply(band_of(x, Band::ColumnsUpToRow, at.q0), at.m, x.keys, x.dh, {dout, x.d, 1},
           {call.in[2].p + x.k_at, 1, x.kd}, g, x.tk, false, at.panel);
  const bool drops = x.site != 0;
  const Keep keep{drops ? kept_bits(call, x, at.q0, rows) : nullptr, 0, dropout_of(step).scale, nullptr};
  if (x.windowed)
    softmax_window_gradients(x, at, p, g, keep);
  else
    softmax_gradients<false>(x, at, p, g, keep);
  return drops ? at.factors : p;
}

/// Computes dk from dS (`input` 1) or dv from P * keep (2): the gradient of a key's row is the sum over the block's
/// queries of the key's weight times a row of q or dout.
inline void key_gradients(const Call& call, const Head& x, const Block& at, int input, const float* weights,
                          bool add) {
  if (!writes(call, input)) return;
  const float* rows = (input == 1 ? call.in[0].p : call.dout.p) + x.q_at + at.q0 * x.d;
  multiply(band_of(x, Band::InnerFromRow, at.q0), x.columns, x.dh, at.m, {weights + x.first, 1, x.tk},
           {rows, x.d, 1}, call.din[input].p + x.g_at, x.d, add || at.q0 > 0, at.panel);
}

/// Turns dS of capped scores into dS. It computes the scores of the block again, into at.factors.
HWY_NOINLINE void uncap(const Call& call, const Head& x, const Block& at) {
  float* scores = at.factors + x.first;
  multiply(band_of(x, Band::ColumnsUpToRow, at.q0), at.m, x.keys, x.dh,
           {call.in[0].p + x.q_at + at.q0 * x.d, x.d, 1}, {call.in[1].p + x.k_at, 1, x.kd}, scores, x.tk,
           false, at.panel);
  cap_gradients(x, at.q0, at.m, scores, at.scores + x.first);
}

/// The call with which each head writes dk and dv to the workspace, in rows as wide as q's; a later stage sums groups.
inline Call with_own_keys(Call call, const Head& x) {
  for (const int input : {1, 2}) {
    if (!writes(call, input)) continue;
    call.din[input].p = call.workspace + (input - 1) * call.in[0].shape[0] * x.tk * x.d;
    call.write[input] = Write::Assign;
  }
  return call;
}

/// Computes dq, dk and dv of a head.
template <typename Op>
void attention_gradients(const Call& whole, const StepInputs& step, int64_t chunk, Scratch scratch) noexcept {
  const Head x = head_of<Op>(whole, chunk);
  const Call own = x.times > 1 ? with_own_keys(whole, x) : Call{};
  const Call& call = x.times > 1 ? own : whole;
  const float *q = call.in[0].p + x.q_at, *k = call.in[1].p + x.k_at, *v = call.in[2].p + x.k_at;
  const int64_t rows = query_block(x.tq, x.tk);
  for (const int input : {1, 2}) zero_uncounted(call, x, input);
  const WriteModes modes = write_modes(call, x, rows < x.tq);
  for (int64_t q0 = 0; q0 < x.tq; q0 += rows) {
    const int64_t m = smaller(rows, x.tq - q0);
    const Block at = block_of(scratch, q0, m);
    if (Op::kFetches && x.large) {
      const float* p = call.saved[0].p + x.p_at + q0 * x.tk;
      for (int64_t i = 0; i < m; ++i) {
        const int64_t begin = x.windowed ? x.begin(q0 + i) : 0;
        fetch(p + i * x.tk + begin, 1, x.tk, x.visible(q0 + i) - begin);
      }
      fetch(q + q0 * x.d, m, x.d, x.dh);
      if (q0 == 0) fetch(k, x.keys, x.kd, x.dh);
    }
    const float* kept = score_gradients(call, step, x, at, rows);
    if (x.cap > 0) {
      key_gradients(call, x, at, 2, kept, modes.add[2]);  // before the scores overwrite `kept`
      uncap(call, x, at);
    }
    if (writes(call, 0))
      multiply(band_of(x, Band::InnerUpToRow, q0), m, x.dh, x.keys, {at.scores + x.first, x.tk, 1},
               {k, x.kd, 1}, call.din[0].p + x.q_at + q0 * x.d, x.d, modes.add[0], at.panel);
    if (Op::kFetches && x.large && at.q1() == x.tq) {
      fetch(v + next_keys(x, chunk), x.tk, x.kd, x.dh);
      fetch(call.dout.p + x.q_at + next_head(x, chunk, x.tq), smaller(rows, x.tq), x.d, x.dh);
    }
    key_gradients(call, x, at, 1, at.scores, modes.add[1]);
    if (x.cap == 0) key_gradients(call, x, at, 2, kept, modes.add[2]);
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
  return one_stage(attention_gradients<Op>, heads_of<Op>(call));
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
