// Dropout factors come from Philox4x32-10, as many blocks of four elements at a time as a vector has lanes; the
// integers are those of core/philox.h's random_word. Included by the CPU kernels that draw dropout.
#include "engine/core/philox.h"
#include "engine/cpu/simd_inl.h"

#if defined(NORMSCOPE_CPU_PHILOX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NORMSCOPE_CPU_PHILOX_INL_H_
#undef NORMSCOPE_CPU_PHILOX_INL_H_
#else
#define NORMSCOPE_CPU_PHILOX_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

using DU = hn::ScalableTag<uint32_t>;
using VU = hn::Vec<DU>;
constexpr int64_t kFactorGroup = 4 * kLanes;  // elements that one vector of counters yields

/// `multiply_high` is the upper 32 bits of a * b in every lane.
HWY_INLINE VU multiply_high(VU a, VU b) {
  const DU d;
  const hn::Repartition<uint64_t, DU> d64;
  const auto even = hn::MulEven(a, b);
  const auto odd = hn::MulEven(hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(d64, a))), b);
  const auto upper = hn::Set(d64, 0xffffffff00000000u);
  return hn::BitCast(d, hn::Or(hn::ShiftRight<32>(even), hn::And(odd, upper)));
}

/// `DropoutSite` is what decides, with an element's index, whether it is kept.
struct DropoutSite {
  uint32_t site, step;
  uint64_t seed;
  DropoutInputs inputs;
};

/// dropout_factors draws the factors of n elements from `first` on, where first % 4 == 0:
///   factors[i]  =  scale where element first + i is kept, else 0
/// There is room for round_up(n, kFactorGroup) floats.
inline void dropout_factors(const DropoutSite& s, uint64_t first, int64_t n, float* factors) {
  const DF df;
  const DU d;
  const VU m0 = hn::Set(d, 0xD2511F53u), m1 = hn::Set(d, 0xCD9E8D57u),
           threshold = hn::Set(d, s.inputs.threshold);
  const VF scale = hn::Set(df, s.inputs.scale);
  for (int64_t i = 0; i < n; i += kFactorGroup) {
    VU c0 =
        hn::Add(hn::Iota(d, 0), hn::Set(d, static_cast<uint32_t>((first + static_cast<uint64_t>(i)) / 4)));
    VU c1 = hn::Set(d, s.site), c2 = hn::Set(d, s.step),
       c3 = hn::Set(d, static_cast<uint32_t>(Purpose::Dropout));
    uint32_t k0 = static_cast<uint32_t>(s.seed), k1 = static_cast<uint32_t>(s.seed >> 32);
    for (int round = 0; round < 10; ++round) {
      const VU n0 = hn::Xor(hn::Xor(multiply_high(c2, m1), c1), hn::Set(d, k0));
      const VU n2 = hn::Xor(hn::Xor(multiply_high(c0, m0), c3), hn::Set(d, k1));
      c1 = hn::Mul(c2, m1);
      c3 = hn::Mul(c0, m0);
      c0 = n0;
      c2 = n2;
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    const auto factor = [&](VU word) HWY_ATTR {
      return hn::IfThenZeroElse(hn::RebindMask(df, hn::Lt(word, threshold)), scale);
    };
    hn::StoreInterleaved4(factor(c0), factor(c1), factor(c2), factor(c3), df, factors + i);
  }
}

// The factors can be kept for the backward pass as a bit each: a vector's bits take kMaskBytes.
constexpr int64_t kMaskBytes = kLanes < 8 ? 1 : kLanes / 8;

/// `mask_floats` is the number of floats that hold the bits of n factors.
HWY_INLINE int64_t mask_floats(int64_t n) { return div_up(div_up(n, kLanes) * kMaskBytes, 4); }

/// `keep_factors` leaves in `kept` which of n factors are not 0, for the elements from `begin` on, a multiple of
/// kLanes. A whole vector of factors can be read at the end.
inline void keep_factors(const float* factors, int64_t begin, int64_t n, float* kept) {
  const DF d;
  uint8_t* bits = reinterpret_cast<uint8_t*>(kept) + begin / kLanes * kMaskBytes;
  for (int64_t i = 0; i < n; i += kLanes, bits += kMaskBytes)
    hn::StoreMaskBits(d, hn::Ne(hn::LoadU(d, factors + i), hn::Zero(d)), bits);
}

/// `kept_mask` is the mask of the vector that begins with element i, a multiple of kLanes.
HWY_INLINE hn::Mask<DF> kept_mask(const float* kept, int64_t i) {
  return hn::LoadMaskBits(DF(), reinterpret_cast<const uint8_t*>(kept) + i / kLanes * kMaskBytes);
}

/// `factors_of` makes the first n factors again, with room for whole vectors.
inline void factors_of(const float* kept, int64_t n, float scale, float* factors) {
  const DF d;
  for (int64_t i = 0; i < n; i += kLanes)
    hn::StoreU(hn::IfThenElseZero(kept_mask(kept, i), hn::Set(d, scale)), d, factors + i);
}

/// `apply_factor` is v * factor, but 0 for a factor of 0 even if v is not finite: a dropped element has no effect.
HWY_INLINE VF apply_factor(VF v, VF factor) {
  return hn::IfThenZeroElse(hn::Eq(factor, hn::Zero(DF())), hn::Mul(v, factor));
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
