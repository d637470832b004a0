// Draws dropout by Philox4x32-10, twice as many blocks of four elements at a time as a vector has lanes; the integers
// equal those of random_word() in core/philox.h. The result is a mask of one bit per element. Included by the CPU
// kernels with dropout.
#include <cstring>

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
using DU64 = hn::Repartition<uint64_t, DU>;
using VU = hn::Vec<DU>;
// A round waits for its products. Four vectors of counters at once fill that time, even where 16 registers do not hold
// them.
constexpr int kStreams = 4;
using Bits =
    hwy::UnsignedFromSize<static_cast<size_t>(kLanes / 4)>;  // one bit per element, 2 kLanes in each stream
constexpr int64_t kDrawn = kStreams * 2 * kLanes;            // elements drawn at a time

/// The inputs that decide, together with an element's index, whether the element is kept.
struct DropoutSite {
  uint32_t site, step;
  uint64_t seed;
  DropoutInputs inputs;
};

/// The counters of kLanes / 2 blocks, a word to each 64-bit lane: multiplication ignores the upper halves and
/// leaves both halves of a product where the next round needs them.
struct Counters {
  VU c0, c1, c2, c3;

  // A constructor that the compiler adds would be of no instruction set, and NEON's vectors have one that is inlined.
  HWY_INLINE Counters() {}
  HWY_INLINE Counters(VU block, VU site, VU step, VU purpose) : c0(block), c1(site), c2(step), c3(purpose) {}

  HWY_INLINE void round(VU k0, VU k1) {
    const DU d;
    const auto p0 = hn::MulEven(c0, hn::Set(d, 0xD2511F53u)), p1 = hn::MulEven(c2, hn::Set(d, 0xCD9E8D57u));
    c0 = hn::Xor3(hn::BitCast(d, hn::ShiftRight<32>(p1)), c1, k0);
    c2 = hn::Xor3(hn::BitCast(d, hn::ShiftRight<32>(p0)), c3, k1);
    c1 = hn::BitCast(d, p1);
    c3 = hn::BitCast(d, p0);
  }
};

/// Gives one bit per element of finished counters, 0 where its word is below `threshold`. The blocks of even lanes
/// come before the blocks of odd lanes.
HWY_INLINE Bits kept_bits_of(const Counters& c, VU threshold) {
  const DU d;
  const auto words = [](VU even, VU odd)
                         HWY_ATTR { return hn::BitCast(DU64(), hn::OddEven(hn::DupEven(odd), even)); };
  const auto w01 = words(c.c0, c.c1), w23 = words(c.c2, c.c3);
  uint32_t low = 0, high = 0;
  const auto dropped = [&](VU word, uint32_t* to) HWY_ATTR {
    hn::StoreMaskBits(d, hn::Lt(word, threshold), reinterpret_cast<uint8_t*>(to));
  };
  dropped(hn::BitCast(d, hn::InterleaveLower(DU64(), w01, w23)), &low);
  dropped(hn::BitCast(d, hn::InterleaveUpper(DU64(), w01, w23)), &high);
  return static_cast<Bits>(~(low | high << kLanes));
}

/// Draws which of n elements from `first` on are kept, where first % 4 == 0, and writes their bits to `kept` in whole
/// bytes. Calls body(i, count) once the bits of [i, i + count) are written.
template <typename Body>
HWY_INLINE void draw_kept(const DropoutSite& s, uint64_t first, int64_t n, uint8_t* kept, const Body& body) {
  const DU d;
  const VU lane = hn::ShiftRight<1>(hn::Iota(d, 0)), threshold = hn::Set(d, s.inputs.threshold),
           site = hn::Set(d, s.site), step = hn::Set(d, s.step),
           purpose = hn::Set(d, static_cast<uint32_t>(Purpose::Dropout));
  const VU block = hn::Add(hn::ShiftRight<1>(lane), hn::Mul(hn::And(lane, hn::Set(d, 1)),
                                                            hn::Set(d, static_cast<uint32_t>(kLanes / 4))));
  uint32_t keys[20];
  for (uint32_t round = 0; round < 10; ++round) {
    keys[2 * round] = static_cast<uint32_t>(s.seed) + round * 0x9E3779B9u;
    keys[2 * round + 1] = static_cast<uint32_t>(s.seed >> 32) + round * 0xBB67AE85u;
  }
  for (int64_t i = 0; i < n; i += kDrawn) {
    Counters c[kStreams];
    HWY_UNROLL(4)
    for (int k = 0; k < kStreams; ++k) {
      const uint64_t begin = (first + static_cast<uint64_t>(i + k * 2 * kLanes)) / 4;
      c[k] = {hn::Add(block, hn::Set(d, static_cast<uint32_t>(begin))), site, step, purpose};
    }
    HWY_UNROLL(10)
    for (int round = 0; round < 10; ++round) {
      const VU k0 = hn::Set(d, keys[2 * round]), k1 = hn::Set(d, keys[2 * round + 1]);
      HWY_UNROLL(4)
      for (int k = 0; k < kStreams; ++k) c[k].round(k0, k1);
    }
    Bits bits[kStreams];
    HWY_UNROLL(4)
    for (int k = 0; k < kStreams; ++k) bits[k] = kept_bits_of(c[k], threshold);
    if (i + kDrawn <= n) {
      std::memcpy(kept + i / 8, bits, sizeof bits);
      body(i, kDrawn);
    } else {
      std::memcpy(kept + i / 8, bits, static_cast<size_t>(div_up(n - i, 8)));
      body(i, n - i);
    }
  }
}

/// The number of floats that hold the bits of n elements.
HWY_INLINE int64_t mask_floats(int64_t n) { return div_up(n, 32); }

/// The mask of the vector that begins with element i. It reads no byte without bits of this vector, as another worker
/// may be writing that byte.
HWY_INLINE hn::Mask<DF> kept_mask(const uint8_t* kept, int64_t i) {
  constexpr int64_t kBytes = larger(1, kLanes / 8);
  const uint8_t* from = kept + (i >> 3);
  const int64_t shift = i & 7;
  uint32_t bits = 0;
  std::memcpy(&bits, from, kBytes);
  if (shift + kLanes > 8 * kBytes) bits |= static_cast<uint32_t>(from[kBytes]) << (8 * kBytes);
  bits >>= shift;
  return hn::LoadMaskBits(DF(), reinterpret_cast<const uint8_t*>(&bits));
}

/// Computes n numbers from element `begin` of `kept` on:
///   to[i]  =  scale * p[i] where element begin + i is kept, else 0     // even where p[i] is not finite
inline void keep_scaled(const float* p, const uint8_t* kept, int64_t begin, int64_t n, float scale, float* to,
                        bool add) {
  const VF factor = hn::Set(DF(), scale);
  each_vector(n, [&](int64_t i, auto lanes) HWY_ATTR {
    const VF v = hn::Mul(lanes.load(p + i), factor);
    put(lanes, hn::IfThenElseZero(kept_mask(kept, begin + i), v), to + i, add);
  });
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
