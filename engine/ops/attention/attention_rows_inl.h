// What the attention ops do with a block of scores on the CPU: softmax over rows of different length, forward and
// backward, and dropout of the probabilities. The products before and after it are in attention_inl.h.
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

/// `Head` is one (b,h) of a call: addresses of its slices, and what is visible. Of the tk rows of k and v those before
/// `first` do not count: k_at is the first that does, and keys and columns are counted from it.
struct Head {
  int64_t tq, tk, d, dh,
      heads;  // rows of q and out, rows of k and v, stride of a row, width of a head, heads
  int64_t h_at, q_at, k_at, p_at;  // offsets of the head in a row, and of its slices
  int64_t first;                   // keys before those that count
  int64_t keys;                    // keys before the row's length
  int64_t columns;                 // columns of a row of scores that are looked at
  int64_t before;                  // causal: keys before the first query's own
  bool causal;
  float scale;
  uint32_t site;  // of dropout; 0: none
  int64_t visible(int64_t query) const { return causal ? smaller(keys, query + 1 + before) : keys; }
};

/// `kTogether` is how many rows of scores the vector units work on at once: one alone would wait for its own sums.
constexpr int kTogether = 4;

/// `RowGroup` is the rows of a group, how many columns each sees, and which columns all or none of them see.
struct RowGroup {
  int64_t visible[kTogether];
  int64_t all;  // columns before it are visible to all of them; a multiple of kLanes
  int64_t any;  // columns from it on are visible to none
  float* at[kTogether];
};

/// `rows_from` makes a group of rows [first, first + kRows) of a block of queries that begins with q0.
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

/// `hide` keeps the lanes at column j that a row sees, and puts `hidden` in the others.
HWY_INLINE VF hide(VF v, int64_t j, int64_t visible, VF hidden) {
  const int64_t n = larger(0, smaller(kLanes, visible - j));
  return hn::IfThenElse(hn::FirstN(DF(), static_cast<size_t>(n)), v, hidden);
}

/// `each_visible` calls body(j, row, lanes, masked) for every vector that some row of the group sees.
template <int kRows, typename Body>
HWY_INLINE void each_visible(const RowGroup& rows, const Body& body) {
  for (int64_t j = 0; j < rows.all; j += kLanes) HWY_UNROLL(4)
  for (int r = 0; r < kRows; ++r) body(j, r, Whole{}, std::false_type{});
  each_vector(rows.any - rows.all, [&](int64_t j, auto lanes) HWY_ATTR {
    HWY_UNROLL(4)
    for (int r = 0; r < kRows; ++r) body(rows.all + j, r, lanes, std::true_type{});
  });
}

/// `zero_rest` zeroes the rows from column `any` to before n.
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

/// `in_groups` calls body(i, number of rows) for m rows in groups of kTogether, and one by one at the end.
template <typename Body>
HWY_INLINE void in_groups(int64_t m, const Body& body) {
  int64_t i = 0;
  for (; i + kTogether <= m; i += kTogether) body(i, std::integral_constant<int, kTogether>{});
  for (; i < m; ++i) body(i, std::integral_constant<int, 1>{});
}

/// `first_bit` counts the bits before those of the queries from q0 on: elements are drawn four at a time.
inline int64_t first_bit(const Head& x, int64_t q0) { return (x.p_at + q0 * x.tk) % 4; }

/// `block_mask_floats` has room for what the mask of a last vector reads beyond the bits of a block of queries.
inline int64_t block_mask_floats(int64_t rows, int64_t tk) { return mask_floats(rows * tk + kLanes + 8); }

/// `kept_bits` is where Call::kept has the bits of the block of queries from q0 on; blocks have `rows` queries.
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

/// `store_probabilities` writes a block past the cache if its lines allow: nobody reads the probabilities before the
/// backward pass, and the cache would fetch lines first that are only written to.
inline void store_probabilities(const float* p, int64_t n, float* to) {
  if (reinterpret_cast<uintptr_t>(to) % HWY_MAX_BYTES == 0 && n % kLanes == 0) {
    for (int64_t i = 0; i < n; i += kLanes) hn::Stream(hn::LoadU(DF(), p + i), DF(), to + i);
  } else {
    each_vector(n, [&](int64_t i, auto lanes) HWY_ATTR { lanes.store(lanes.load(p + i), to + i); });
  }
}

/// `Keep` says where the bits of a group of rows begin, and where p * keep goes. Without bits there is no dropout.
struct Keep {
  const uint8_t* bits;
  int64_t begin;
  float scale;
  float* product;
};

/// softmax_backward_rows turns each row g of gradients of p * keep into gradients of scores, in place:
///   g[0..visible)  =  scale * p * (g * keep - sum over the visible of p * g * keep)
///   g[visible..n)  =  0
/// Row r of p, and of its bits and product, begins r * width after the first.
template <int kRows>
void softmax_backward_rows(const RowGroup& rows, const float* p, int64_t width, int64_t n, float scale,
                           const Keep& keep) {
  const DF d;
  const VF zero = hn::Zero(d), factor = hn::Set(d, scale), keep_scale = hn::Set(d, keep.scale);
  VF dot[kRows], mean[kRows];
  for (int r = 0; r < kRows; ++r) dot[r] = zero;
  each_visible<kRows>(rows, [&](int64_t j, int r, auto lanes, auto masked) HWY_ATTR {
    const int64_t at = r * width + j;
    const VF probability = lanes.load(p + at);
    VF g = lanes.load(rows.at[r] + j);
    if (keep.bits) {
      const auto kept = kept_mask(keep.bits, keep.begin + at);
      g = hn::IfThenElseZero(kept, hn::Mul(g, keep_scale));
      lanes.store(g, rows.at[r] + j);
      lanes.store(hn::IfThenElseZero(kept, hn::Mul(probability, keep_scale)), keep.product + at);
    }
    dot[r] = hn::MulAdd(probability, masked ? hide(g, j, rows.visible[r], zero) : g, dot[r]);
  });
  for (int r = 0; r < kRows; ++r) mean[r] = hn::Set(d, sum_of(d, dot[r]));
  each_visible<kRows>(rows, [&](int64_t j, int r, auto lanes, auto masked) HWY_ATTR {
    const VF v =
        hn::Mul(hn::Mul(lanes.load(p + r * width + j), factor), hn::Sub(lanes.load(rows.at[r] + j), mean[r]));
    lanes.store(masked ? hide(v, j, rows.visible[r], zero) : v, rows.at[r] + j);
  });
  zero_rest<kRows>(rows, n);
  RowGroup products = rows;
  for (int r = 0; r < kRows; ++r) products.at[r] = keep.product + r * width;
  if (keep.bits) zero_rest<kRows>(products, n);
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
