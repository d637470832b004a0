// What the attention ops do with a block of scores on the CPU: a soft cap, softmax over rows of different length, both
// forward and backward, and dropout of the probabilities. The products before and after it are in attention_inl.h.
#include <cstdint>
#include <type_traits>

#include "engine/cpu/philox_inl.h"
#include "engine/cpu/simd_inl.h"

#if defined(NORMSCOPE_OPS_ATTENTION_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NORMSCOPE_OPS_ATTENTION_ROWS_INL_H_
#undef NORMSCOPE_OPS_ATTENTION_ROWS_INL_H_
#else
#define NORMSCOPE_OPS_ATTENTION_ROWS_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

/// One (b,h) of a call: addresses of its slices, and what is visible. Of the tk rows of k and v those before
/// `first` do not count: k_at is the first that does, and keys and columns are counted from it.
struct Head {
  int64_t tq, tk, d, dh,
      heads;      // rows of q and out, rows of k and v, stride of a row, width of a head, heads
  int64_t kd;     // stride of a row of k and v
  int64_t times;  // heads that share one of k and v
  int64_t h_at, q_at, k_at, g_at, p_at;  // offsets of the head in a row, and of its slices; g: of dk and dv
  int64_t first;                         // keys before those that count
  int64_t keys;                          // keys before the row's length
  int64_t columns;                       // columns of a row of scores that are looked at
  int64_t before;                        // causal: keys before the first query's own
  int64_t window;                        // causal: keys that a query sees, its own the last of them; tk: all
  bool causal;
  float scale;
  float cap;      // of scores that are not yet scaled; 0: none
  uint32_t site;  // of dropout; 0: none
  /// A query sees keys [begin, visible), which may be none.
  int64_t visible(int64_t query) const { return causal ? smaller(keys, query + 1 + before) : keys; }
  int64_t begin(int64_t query) const {
    return causal ? smaller(visible(query), larger(0, query + 1 + before - window)) : 0;
  }
  bool windowed() const { return window < tk; }
};

/// How many rows of scores the vector units work on at once: one alone would wait for its own sums.
constexpr int kTogether = 4;

/// The rows of a group, which columns each sees, and which columns all or none of them see.
struct RowGroup {
  int64_t begin[kTogether], visible[kTogether];
  int64_t none;  // columns before it are visible to none of them; a multiple of kLanes
  int64_t full;  // from it on no window hides a column from any of them; a multiple of kLanes, or `any`
  int64_t all;   // columns before it are not beyond what any of them sees; a multiple of kLanes
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

// `SeesAll`, `SeesUpTo` and `SeesWithin` keep the lanes of a vector that a row sees, and put `hidden` in the others.
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

/// Zeroes what is written of the columns that no row of the group sees.
template <int kRows, bool kWindow>
HWY_INLINE void zero_hidden(const RowGroup& rows) {
  for (int r = 0; r < kRows; ++r) {
    if constexpr (kWindow) zero(rows.at[r] + rows.first, rows.none - rows.first);
    zero(rows.at[r] + rows.any, rows.end - rows.any);
  }
}

/// softmax_rows turns each row p of scores into probabilities, in place:
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
      // A window may lie beyond the row's length, also where those of other rows of the group do not.
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

/// softmax_block turns the scores of m queries from q0 on into probabilities.
template <bool kWindow>
HWY_INLINE void softmax_block(const Head& x, int64_t q0, int64_t m, float* scores) {
  in_groups(m, [&](int64_t i, auto group) HWY_ATTR {
    softmax_rows<group(), kWindow>(rows_from<group(), kWindow>(x, scores, q0, i), x.scale);
  });
}

// What only a window or a cap needs stays a function of its own: inlined, it would crowd what every head runs.
HWY_NOINLINE void softmax_window(const Head& x, int64_t q0, int64_t m, float* scores) {
  softmax_block<true>(x, q0, m, scores);
}

/// Calls body(i, lanes) for the vectors of what a block's queries see, element i of a block of rows of tk.
template <typename Body>
HWY_INLINE void each_seen(const Head& x, int64_t q0, int64_t m, const Body& body) {
  for (int64_t i = 0; i < m; ++i) {
    const int64_t begin = x.begin(q0 + i), row = i * x.tk + begin;
    each_vector(x.visible(q0 + i) - begin, [&](int64_t j, auto lanes) HWY_ATTR { body(row + j, lanes); });
  }
}

/// cap_scores turns the scores of m queries, in place, to
///   s  =  cap * tanh(s / cap)
/// which scaled is as the spec says it of scaled scores, as Head::cap is the spec's divided by the scale.
HWY_NOINLINE void cap_scores(const Head& x, int64_t q0, int64_t m, float* scores) {
  const DF d;
  const VF cap = hn::Set(d, x.cap), inverse = hn::Set(d, 1.0f / x.cap);
  each_seen(x, q0, m, [&](int64_t i, auto lanes) HWY_ATTR {
    lanes.store(hn::Mul(cap, tanh_of(d, hn::Mul(lanes.load(scores + i), inverse))), scores + i);
  });
}

/// cap_gradients turns gradients g of capped scores into those of scores s, in place:
///   g  =  g * (1 - tanh(s / cap)^2)
HWY_NOINLINE void cap_gradients(const Head& x, int64_t q0, int64_t m, const float* scores, float* g) {
  const DF d;
  const VF one = hn::Set(d, 1.0f), inverse = hn::Set(d, 1.0f / x.cap);
  each_seen(x, q0, m, [&](int64_t i, auto lanes) HWY_ATTR {
    const VF t = tanh_of(d, hn::Mul(lanes.load(scores + i), inverse));
    lanes.store(hn::Mul(lanes.load(g + i), hn::NegMulAdd(t, t, one)), g + i);
  });
}

/// Counts the bits before those of the queries from q0 on: elements are drawn four at a time.
inline int64_t first_bit(const Head& x, int64_t q0) { return (x.p_at + q0 * x.tk) % 4; }

/// Has room for what the mask of a last vector reads beyond the bits of a block of queries.
inline int64_t block_mask_floats(int64_t rows, int64_t tk) { return mask_floats(rows * tk + kLanes + 8); }

/// Where Call::kept has the bits of the block of queries from q0 on; blocks have `rows` queries.
inline uint8_t* kept_bits(const Call& call, const Head& x, int64_t q0, int64_t rows) {
  const int64_t block = block_mask_floats(rows, x.tk), head = x.p_at / (x.tq * x.tk);
  return reinterpret_cast<uint8_t*>(call.kept + (head * div_up(x.tq, rows) + q0 / rows) * block);
}

inline DropoutInputs dropout_of(const StepInputs& step) {
  return step.dropout[static_cast<int>(DropoutKind::Attention)];
}

/// draw_rows draws the bits of m queries of this head, and computes from their probabilities p
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

/// Writes a block past the cache if its lines allow: nobody reads the probabilities before the
/// backward pass, and the cache would fetch lines first that are only written to.
inline void store_probabilities(const float* p, int64_t n, float* to) {
  if (reinterpret_cast<uintptr_t>(to) % HWY_MAX_BYTES == 0 && n % kLanes == 0) {
    for (int64_t i = 0; i < n; i += kLanes) hn::Stream(hn::LoadU(DF(), p + i), DF(), to + i);
  } else {
    each_vector(n, [&](int64_t i, auto lanes) HWY_ATTR { lanes.store(lanes.load(p + i), to + i); });
  }
}

/// Where the bits of a group of rows begin, and where p * keep goes. Without bits there is no dropout.
struct Keep {
  const uint8_t* bits;
  int64_t begin;
  float scale;
  float* product;
};

/// softmax_backward_rows turns each row g of gradients of p * keep into gradients of scores, in place:
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

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
