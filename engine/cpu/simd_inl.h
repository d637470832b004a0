// The kernels' vector helpers, compiled once per instruction set: partial loads and stores that never touch
// memory outside the tensor, exp, tanh and erf that keep NaN, and sums over lanes. Included by kernel files between
// hwy/foreach_target.h and HWY_BEFORE_NAMESPACE.
#include <cstddef>
#include <cstdint>

#include "engine/cpu/kernel.h"
#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"

// Connects a kernel file to the registry: the plan functions of the chosen instruction set are picked when a Program
// is lowered. The stages that a plan returns point straight into that set's code, so replay dispatches nothing.
// NORMSCOPE_KERNELS(name), after HWY_AFTER_NAMESPACE, defines name##_kernels() from
// `Stages name##_forward(const Call&)` and `name##_backward` of each instruction set's namespace;
// NORMSCOPE_FORWARD_KERNELS(name) is for an op without a backward.
#undef NORMSCOPE_PLAN
#undef NORMSCOPE_KERNELS
#undef NORMSCOPE_FORWARD_KERNELS
#if HWY_ONCE
#define NORMSCOPE_PLAN(plan) \
  HWY_EXPORT(plan);          \
  static Stages chosen_##plan(const Call& call) { return HWY_DYNAMIC_DISPATCH(plan)(call); }
#define NORMSCOPE_KERNELS(name)                                                              \
  namespace normscope::cpu {                                                                 \
  NORMSCOPE_PLAN(name##_forward)                                                             \
  NORMSCOPE_PLAN(name##_backward)                                                            \
  Kernels name##_kernels() { return {&chosen_##name##_forward, &chosen_##name##_backward}; } \
  }
#define NORMSCOPE_FORWARD_KERNELS(name)                                    \
  namespace normscope::cpu {                                               \
  NORMSCOPE_PLAN(name##_forward)                                           \
  Kernels name##_kernels() { return {&chosen_##name##_forward, nullptr}; } \
  }
#else
#define NORMSCOPE_KERNELS(name)
#define NORMSCOPE_FORWARD_KERNELS(name)
#endif

#if defined(NORMSCOPE_CPU_SIMD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NORMSCOPE_CPU_SIMD_INL_H_
#undef NORMSCOPE_CPU_SIMD_INL_H_
#else
#define NORMSCOPE_CPU_SIMD_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using DF = hn::ScalableTag<float>;
using VF = hn::Vec<DF>;
constexpr int64_t kLanes = static_cast<int64_t>(HWY_MAX_BYTES / sizeof(float));

constexpr int64_t div_up(int64_t a, int64_t b) { return (a + b - 1) / b; }
constexpr int64_t round_up(int64_t a, int64_t b) { return div_up(a, b) * b; }
constexpr int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
constexpr int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

// Masked memory access reads and writes exactly n floats on AVX. Elsewhere Highway emulates it through a whole vector,
// so partial vectors of four floats go lane by lane there; the compiler would turn a loop into a call of memcpy, and
// spill all vectors of the loop around it to the stack.
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
/// Reads the first n floats at p, then zeros; 0 <= n <= kLanes.
HWY_INLINE VF load_n(DF d, const float* p, int64_t n) {
  return hn::MaskedLoad(hn::FirstN(d, static_cast<size_t>(n)), d, p);
}
HWY_INLINE void store_n(VF v, DF d, float* p, int64_t n) {
  hn::BlendedStore(v, hn::FirstN(d, static_cast<size_t>(n)), d, p);
}
#else
static_assert(kLanes == 4);
HWY_INLINE VF load_n(DF d, const float* p, int64_t n) {
  VF v = hn::Zero(d);
  if (n > 0) v = hn::InsertLane(v, 0, p[0]);
  if (n > 1) v = hn::InsertLane(v, 1, p[1]);
  if (n > 2) v = hn::InsertLane(v, 2, p[2]);
  if (n > 3) v = hn::InsertLane(v, 3, p[3]);
  return v;
}
HWY_INLINE void store_n(VF v, DF, float* p, int64_t n) {
  if (n > 0) p[0] = hn::ExtractLane(v, 0);
  if (n > 1) p[1] = hn::ExtractLane(v, 1);
  if (n > 2) p[2] = hn::ExtractLane(v, 2);
  if (n > 3) p[3] = hn::ExtractLane(v, 3);
}
#endif

/// Truncates v to integers, for numbers that fit: Highway's conversion spends five instructions on saturation.
#if HWY_TARGET == HWY_AVX3
HWY_INLINE hn::Vec512<int32_t> to_int(VF v) { return hn::Vec512<int32_t>{_mm512_cvttps_epi32(v.raw)}; }
#elif HWY_TARGET == HWY_AVX2
HWY_INLINE hn::Vec256<int32_t> to_int(VF v) { return hn::Vec256<int32_t>{_mm256_cvttps_epi32(v.raw)}; }
#elif HWY_TARGET == HWY_SSE4
HWY_INLINE hn::Vec128<int32_t> to_int(VF v) { return hn::Vec128<int32_t>{_mm_cvttps_epi32(v.raw)}; }
#else
HWY_INLINE auto to_int(VF v) { return hn::ConvertTo(hn::RebindToSigned<DF>(), v); }
#endif

/// Represents e^x = 2^power (1 + rest), by the steps and constants of Highway's Exp; `half` is 0.5 with the sign of x.
/// Beyond the range of scaled() the results are arbitrary.
struct Exponential {
  hn::Vec<hn::RebindToSigned<DF>> power;
  VF rest;

  HWY_INLINE Exponential(DF d, VF x, VF half) {
    power = to_int(hn::MulAdd(x, hn::Set(d, 1.442695040888963407f), half));
    const VF n = hn::ConvertTo(d, power);
    const VF r = hn::MulAdd(n, hn::Set(d, -1.428606765330187045e-6f),
                            hn::MulAdd(n, hn::Set(d, -0.693145751953125f), x));
    const VF r2 = hn::Mul(r, r);
    const auto pair = [&](float low, float high)
                          HWY_ATTR { return hn::MulAdd(hn::Set(d, high), r, hn::Set(d, low)); };
    const VF first = hn::MulAdd(r2, pair(0.0416664853692054748535156f, 0.00833336077630519866943359f),
                                pair(0.5f, 0.166666671633720397949219f));
    const VF last = pair(0.00139304355252534151077271f, 0.000198527617612853646278381f);
    rest = hn::MulAdd(hn::MulAdd(hn::Mul(r2, r2), last, first), r2, r);
  }
  HWY_INLINE VF scaled(DF d) const {
    const hn::RebindToSigned<DF> di;
    const auto two_to = [&](auto n) HWY_ATTR {
      return hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(n, hn::Set(di, 127))));
    };
    const auto part = hn::ShiftRight<1>(power);
    return hn::Mul(hn::Mul(hn::Add(rest, hn::Set(d, 1.0f)), two_to(part)), two_to(hn::Sub(power, part)));
  }
};

// exp_of and tanh_of follow the steps of Highway's Exp and Tanh, which map NaN, and Exp infinity too, to ordinary
// numbers; here a non-finite value must stay visible.
// e^x, 2 ulp; infinite from 88.723 on, zero below -104.
HWY_INLINE VF exp_of(DF d, VF x) {
  const VF beyond = hn::Mul(x, hn::Set(d, 3.4e38f));  // infinity or NaN where it is taken
  const VF half = hn::Or(hn::Set(d, 0.5f), hn::And(x, hn::Set(d, -0.0f)));
  const VF y = hn::IfThenElseZero(hn::Ge(x, hn::Set(d, -104.0f)), Exponential(d, x, half).scaled(d));
  return hn::IfThenElse(hn::Lt(x, hn::Set(d, 88.7228394f)), y, beyond);
}
/// Computes tanh x, 4 ulp, from e^(2|x|) - 1.
HWY_INLINE VF tanh_of(DF d, VF x) {
  const VF one = hn::Set(d, 1.0f), two = hn::Set(d, 2.0f), size = hn::Abs(x), twice = hn::Mul(size, two);
  const Exponential e(d, twice, hn::Set(d, 0.5f));
  const VF y = hn::IfThenElse(hn::Lt(twice, hn::Set(d, 0.346573590279972654708616f)), e.rest,
                              hn::Sub(e.scaled(d), one));
  const VF z = hn::IfThenElse(hn::Gt(size, hn::Set(d, 18.714973875f)), one, hn::Div(y, hn::Add(y, two)));
  return hn::CopySign(z, x);
}
/// Computes erf x, 2 ulp; infinity gives one, NaN stays NaN. Up to 0.9 it is x + x p(x^2), beyond that 1 - e^q(|x|).
/// Among polynomials of degree 5 and 6, p of erf(x) / x - 1 and q of log(1 - erf(x)) minimize the largest relative
/// error of erf (Remez), at 1.2e-8 and 1.7e-9. From 4 on erf rounds to one.
HWY_INLINE VF erf_of(DF d, VF x) {
  const auto horner = [&](VF at, auto first, auto... rest) HWY_ATTR {
    VF sum = hn::Set(d, first);
    ((sum = hn::MulAdd(sum, at, hn::Set(d, rest))), ...);
    return sum;
  };
  const VF size = hn::Abs(x), four = hn::Set(d, 4.0f);
  const VF p = horner(hn::Mul(x, x), -6.09036041e-4f, 5.0119629e-3f, -2.6778909e-2f, 0.112821408f,
                      -0.376125233f, 0.128379154f);
  const VF q = horner(hn::IfThenElse(hn::Gt(size, four), four, size), 1.98219649e-4f, -3.06549024e-3f,
                      2.23152128e-2f, -0.104113678f, -0.636976084f, -1.12779724f, -1.66447806e-4f);
  const VF above = hn::Sub(hn::Set(d, 1.0f), Exponential(d, q, hn::Set(d, -0.5f)).scaled(d));
  return hn::IfThenElse(hn::Lt(size, hn::Set(d, 0.9f)), hn::MulAdd(x, p, x), hn::CopySign(above, x));
}

/// The sum of all lanes in a fixed tree, as a scalar.
HWY_INLINE float sum_of(DF d, VF v) { return hn::GetLane(hn::SumOfLanes(d, v)); }
HWY_INLINE float max_of(DF d, VF v) { return hn::GetLane(hn::MaxOfLanes(d, v)); }

/// `Whole` and `Part` are the memory access of the body of each_vector: whole vectors, or the last n < kLanes floats
/// (the rest reads as zero).
struct Whole {
  HWY_INLINE VF load(const float* p) const { return hn::LoadU(DF(), p); }
  HWY_INLINE void store(VF v, float* p) const { hn::StoreU(v, DF(), p); }
  HWY_INLINE VF zero_rest(VF v) const { return v; }
  HWY_INLINE VF fill_rest(VF v, VF) const { return v; }
};
struct Part {
  int64_t n;
  HWY_INLINE VF load(const float* p) const { return load_n(DF(), p, n); }
  HWY_INLINE void store(VF v, float* p) const { store_n(v, DF(), p, n); }
  HWY_INLINE VF zero_rest(VF v) const {
    return hn::IfThenElseZero(hn::FirstN(DF(), static_cast<size_t>(n)), v);
  }
  HWY_INLINE VF fill_rest(VF v, VF rest) const {
    return hn::IfThenElse(hn::FirstN(DF(), static_cast<size_t>(n)), v, rest);
  }
};

/// Calls body(i, Whole or Part) for the vectors that cover n floats. Lambdas need HWY_ATTR.
template <typename Body>
HWY_INLINE void each_vector(int64_t n, const Body& body) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) body(i, Whole{});
  if (i < n) body(i, Part{n - i});
}

/// Calls body(begin, n) for every contiguous run of a region's numbers in a tensor of `cols` columns.
template <typename Body>
HWY_INLINE void each_run(const Region& region, int64_t cols, const Body& body) {
  const bool whole = region.cols == cols;
  const int64_t runs = whole ? 1 : region.rows, n = whole ? region.rows * cols : region.cols;
  for (int64_t r = 0; r < runs; ++r) body((region.row + r) * cols + region.col, n);
}

/// Stores v, or adds it to the floats at p.
template <typename Lanes>
HWY_INLINE void put(const Lanes& lanes, VF v, float* p, bool add) {
  lanes.store(add ? hn::Add(v, lanes.load(p)) : v, p);
}

/// A float sum that carries its rounding errors along (Knuth's two-sum), for partials of many chunks.
struct CompensatedSum {
  VF sum, low;
  HWY_INLINE CompensatedSum() : sum(hn::Zero(DF())), low(hn::Zero(DF())) {}
  HWY_INLINE void add(VF v) {
    const VF next = hn::Add(sum, v), part = hn::Sub(next, sum);
    low = hn::Add(low, hn::Add(hn::Sub(sum, hn::Sub(next, part)), hn::Sub(v, part)));
    sum = next;
  }
  HWY_INLINE VF total() const { return hn::Add(sum, low); }
};

/// Adds `count` partial rows of n floats, `stride` apart, in order; assigns or adds the sums to `to`.
inline void reduce_rows(const float* partials, int64_t count, int64_t stride, int64_t n, float* to,
                        bool add) {
  each_vector(n, [&](int64_t j, auto lanes) HWY_ATTR {
    CompensatedSum c;
    for (int64_t i = 0; i < count; ++i) c.add(lanes.load(partials + i * stride + j));
    put(lanes, c.total(), to + j, add);
  });
}

constexpr int64_t kSumColumns = 4 * kLanes;  // columns per chunk of sum_columns()
constexpr int64_t kSumRows = 64;             // rows per partial sum: error grows with rows / 64

/// Sums up to kVectors vectors of columns of p side by side, so that whole cache lines are read.
template <int kVectors>
void column_vectors(const float* p, int64_t rows, int64_t cols, int64_t j0, float* to, bool add) {
  const DF d;
  const int64_t last = smaller(kLanes, cols - j0 - (kVectors - 1) * kLanes);  // columns of the last vector
  const auto lanes_of = [&](int v) HWY_ATTR { return v + 1 < kVectors ? kLanes : last; };
  VF total[kVectors], part[kVectors];
  for (int v = 0; v < kVectors; ++v) total[v] = hn::Zero(d);
  for (int64_t i0 = 0; i0 < rows; i0 += kSumRows) {
    for (int v = 0; v < kVectors; ++v) part[v] = hn::Zero(d);
    for (int64_t i = i0; i < smaller(rows, i0 + kSumRows); ++i) {
      const float* row = p + i * cols + j0;
      for (int v = 0; v + 1 < kVectors; ++v) part[v] = hn::Add(part[v], hn::LoadU(d, row + v * kLanes));
      const float* tail = row + (kVectors - 1) * kLanes;
      part[kVectors - 1] =
          hn::Add(part[kVectors - 1], last == kLanes ? hn::LoadU(d, tail) : load_n(d, tail, last));
    }
    for (int v = 0; v < kVectors; ++v) total[v] = hn::Add(total[v], part[v]);
  }
  for (int v = 0; v < kVectors; ++v) {
    float* at = to + j0 + v * kLanes;
    if (add) total[v] = hn::Add(total[v], load_n(d, at, lanes_of(v)));
    store_n(total[v], d, at, lanes_of(v));
  }
}

/// Assigns or adds one of div_up(cols, kSumColumns) chunks of the sums over the rows of p to `to`.
inline void sum_columns(const float* p, int64_t rows, int64_t cols, int64_t chunk, float* to, bool add) {
  const int64_t j0 = chunk * kSumColumns;
  constexpr void (*kSums[])(const float*, int64_t, int64_t, int64_t, float*, bool) = {
      column_vectors<1>, column_vectors<2>, column_vectors<3>, column_vectors<4>};
  kSums[div_up(smaller(kSumColumns, cols - j0), kLanes) - 1](p, rows, cols, j0, to, add);
}

/// Sums body(i, lanes) -> VF over n floats: float lanes within blocks of 4096, double across them.
template <typename Body>
HWY_INLINE double sum_over(int64_t n, const Body& body) {
  const DF d;
  double total = 0;
  for (int64_t i0 = 0; i0 < n; i0 += 4096) {
    const int64_t i1 = smaller(n, i0 + 4096);
    VF s0 = hn::Zero(d), s1 = hn::Zero(d), s2 = hn::Zero(d), s3 = hn::Zero(d);
    int64_t i = i0;
    for (; i + 4 * kLanes <= i1; i += 4 * kLanes) {
      s0 = hn::Add(s0, body(i, Whole{}));
      s1 = hn::Add(s1, body(i + kLanes, Whole{}));
      s2 = hn::Add(s2, body(i + 2 * kLanes, Whole{}));
      s3 = hn::Add(s3, body(i + 3 * kLanes, Whole{}));
    }
    for (; i + kLanes <= i1; i += kLanes) s0 = hn::Add(s0, body(i, Whole{}));
    if (i < i1) {
      const Part part{i1 - i};
      s1 = hn::Add(s1, part.zero_rest(body(i, part)));
    }
    total += static_cast<double>(sum_of(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
  }
  return total;
}

inline double sum_of_row(const float* x, int64_t n) {
  return sum_over(n, [&](int64_t i, auto lanes) HWY_ATTR { return lanes.load(x + i); });
}

/// The sum of a_i b_i; for a == b the sum of squares.
inline double sum_of_products(const float* a, const float* b, int64_t n) {
  return sum_over(
      n, [&](int64_t i, auto lanes) HWY_ATTR { return hn::Mul(lanes.load(a + i), lanes.load(b + i)); });
}

/// Views the float workspace as doubles, for partial sums of chunks.
inline double* doubles(float* workspace) { return reinterpret_cast<double*>(workspace); }

/// Adds the partial sums of chunks in chunk order, and assigns or adds the total to `to`.
inline void reduce_doubles(const double* partials, int64_t chunks, int64_t stride, float& to, bool add) {
  double sum = add ? static_cast<double>(to) : 0.0;
  for (int64_t c = 0; c < chunks; ++c) sum += partials[c * stride];
  to = static_cast<float>(sum);
}

/// Cuts rows that are read and written once: chunks of half of kFlatChunk floats, and no more than 64 chunks.
inline Cut row_cut(const Shape& shape) {
  const int64_t rows = shape.rows();
  return cut(rows, larger(kFlatChunk / 2 / shape.cols(), div_up(rows, 64)));
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
