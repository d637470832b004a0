// Packing defines the operands of the products and packs a panel of B or a transposed piece, compiled once per
// instruction set. Included by cpu/gemm_inl.h.
#include "engine/cpu/simd_inl.h"

#if defined(NORMSCOPE_CPU_GEMM_PACK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NORMSCOPE_CPU_GEMM_PACK_INL_H_
#undef NORMSCOPE_CPU_GEMM_PACK_INL_H_
#else
#define NORMSCOPE_CPU_GEMM_PACK_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

constexpr int kTileVectors = 2;
constexpr int64_t kPanel = kTileVectors * kLanes;  // columns of a packed panel of B

/// A matrix: element (i,j) at p[i*row + j*col]; one of the strides is 1.
struct Operand {
  const float* p;
  int64_t row, col;
};

/// Loads four floats from each of kLanes/4 rows, `step` floats apart, as the vector's 128-bit blocks.
#if HWY_MAX_BYTES == 64
HWY_INLINE VF load_blocks(DF, const float* const* rows, int64_t k) {
  const hn::FixedTag<float, 4> d4;
  const hn::FixedTag<float, 8> d8;
  const DF d;
  const auto low = hn::Combine(d8, hn::LoadU(d4, rows[4] + k), hn::LoadU(d4, rows[0] + k));
  const auto high = hn::Combine(d8, hn::LoadU(d4, rows[12] + k), hn::LoadU(d4, rows[8] + k));
  return hn::Combine(d, high, low);
}
#elif HWY_MAX_BYTES == 32
HWY_INLINE VF load_blocks(DF d, const float* const* rows, int64_t k) {
  const hn::FixedTag<float, 4> d4;
  return hn::Combine(d, hn::LoadU(d4, rows[4] + k), hn::LoadU(d4, rows[0] + k));
}
#else
HWY_INLINE VF load_blocks(DF d, const float* const* rows, int64_t k) { return hn::LoadU(d, rows[0] + k); }
#endif

/// Transposes kLanes rows of length k into to[kk*stride + i]. Rows beyond `valid` repeat the last
/// row: their columns of the product are never stored.
inline void pack_transposed(const float* from, int64_t step, int64_t valid, int64_t k, float* to,
                            int64_t stride) {
  const DF d;
  const float* rows[kLanes];
  for (int64_t i = 0; i < kLanes; ++i) rows[i] = from + smaller(i, valid - 1) * step;
  int64_t kk = 0;
  for (; kk + 4 <= k; kk += 4) {
    const VF r0 = load_blocks(d, rows, kk), r1 = load_blocks(d, rows + 1, kk);
    const VF r2 = load_blocks(d, rows + 2, kk), r3 = load_blocks(d, rows + 3, kk);
    const VF even_low = hn::InterleaveLower(d, r0, r2), odd_low = hn::InterleaveLower(d, r1, r3);
    const VF even_high = hn::InterleaveUpper(d, r0, r2), odd_high = hn::InterleaveUpper(d, r1, r3);
    hn::StoreU(hn::InterleaveLower(d, even_low, odd_low), d, to + kk * stride);
    hn::StoreU(hn::InterleaveUpper(d, even_low, odd_low), d, to + (kk + 1) * stride);
    hn::StoreU(hn::InterleaveLower(d, even_high, odd_high), d, to + (kk + 2) * stride);
    hn::StoreU(hn::InterleaveUpper(d, even_high, odd_high), d, to + (kk + 3) * stride);
  }
  for (; kk < k; ++kk)
    for (int64_t i = 0; i < kLanes; ++i) to[kk * stride + i] = rows[i][kk];
}

/// Packs one panel of B, k rows and `cols` <= kPanel columns, into to[kk*kPanel + j]. Columns beyond
/// `cols` are arbitrary.
inline void pack_panel(Operand b, int64_t k, int64_t cols, float* to) {
  const DF d;
  if (b.col != 1) {
    for (int64_t j = 0; j < cols; j += kLanes)
      pack_transposed(b.p + j * b.col, b.col, smaller(kLanes, cols - j), k, to + j, kPanel);
    return;
  }
  if (cols == kPanel) {
    for (int64_t kk = 0; kk < k; ++kk)
      for (int j = 0; j < kTileVectors; ++j)
        hn::StoreU(hn::LoadU(d, b.p + kk * b.row + j * kLanes), d, to + kk * kPanel + j * kLanes);
    return;
  }
  for (int64_t kk = 0; kk < k; ++kk)
    for (int64_t j = 0; j < cols; j += kLanes)
      hn::StoreU(load_n(d, b.p + kk * b.row + j, smaller(kLanes, cols - j)), d, to + kk * kPanel + j);
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
