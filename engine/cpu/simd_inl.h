// Vector helpers of the kernels, compiled once per instruction set: partial loads and stores that never touch memory
// outside the tensor, exp/log/tanh that keep NaN, and sums over lanes. Included by kernel files between
// hwy/foreach_target.h and HWY_BEFORE_NAMESPACE.
#include <cstddef>
#include <cstdint>

#include "cpu/kernel.h"
#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"

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

// Masked memory access reads and writes exactly n floats on AVX; elsewhere it is emulated through a whole vector, so
// the other targets go element by element.
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
/// The first n floats at p, then zeros; 0 <= n <= kLanes.
HWY_INLINE VF load_n(DF d, const float* p, int64_t n) {
  return hn::MaskedLoad(hn::FirstN(d, static_cast<size_t>(n)), d, p);
}
HWY_INLINE void store_n(VF v, DF d, float* p, int64_t n) {
  hn::BlendedStore(v, hn::FirstN(d, static_cast<size_t>(n)), d, p);
}
#else
HWY_INLINE VF load_n(DF d, const float* p, int64_t n) {
  HWY_ALIGN float lanes[kLanes] = {};
  for (int64_t i = 0; i < n; ++i) lanes[i] = p[i];
  return hn::Load(d, lanes);
}
HWY_INLINE void store_n(VF v, DF d, float* p, int64_t n) {
  HWY_ALIGN float lanes[kLanes];
  hn::Store(v, d, lanes);
  for (int64_t i = 0; i < n; ++i) p[i] = lanes[i];
}
#endif

/// Highway's functions map NaN to a number; a non-finite value must stay visible.
HWY_INLINE VF keep_nan(VF x, VF result) { return hn::IfThenElse(hn::IsNaN(x), x, result); }
HWY_INLINE VF exp_of(DF d, VF x) { return keep_nan(x, hn::Exp(d, x)); }

/// Sum of all lanes in a fixed tree, as a scalar.
HWY_INLINE float sum_of(DF d, VF v) { return hn::GetLane(hn::SumOfLanes(d, v)); }
HWY_INLINE float max_of(DF d, VF v) { return hn::GetLane(hn::MaxOfLanes(d, v)); }

/// Cuts `items` into chunks of about `per_chunk`; shape only.
struct Cut {
  int64_t per_chunk, chunks;
  int64_t begin(int64_t chunk) const { return chunk * per_chunk; }
  int64_t end(int64_t chunk, int64_t items) const { return smaller(items, (chunk + 1) * per_chunk); }
};
inline Cut cut(int64_t items, int64_t per_chunk) {
  per_chunk = larger(1, per_chunk);
  return {per_chunk, larger(1, div_up(items, per_chunk))};
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
