// Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3") makes each random number a pure
// function of its purpose. Counter = (element, site, step, purpose), key = seed. So dropout masks, initial weights
// and batches are bitwise identical on every backend, instruction set and thread count, and moving a norm changes
// none of them. Host and device code can use it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#ifdef __CUDACC__
#define NORMSCOPE_HD __host__ __device__
#else
#define NORMSCOPE_HD
#endif

namespace normscope {

/// The use of a random number: the last counter word.
enum class Purpose : uint32_t {
  Init = 1,
  Dropout = 2,
  Batch = 3,
  Corpus = 4,
  Sample = 5,
  Perturb = 6,
  Mask = 7
};

struct PhiloxBlock {
  uint32_t word[4];
};

/// Does ten rounds on one counter, in exact integer arithmetic.
NORMSCOPE_HD inline PhiloxBlock philox_block(uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3,
                                             uint64_t key) {
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53u} * c0, p1 = uint64_t{0xCD9E8D57u} * c2;
    const uint32_t n0 = static_cast<uint32_t>(p1 >> 32) ^ c1 ^ k0,
                   n2 = static_cast<uint32_t>(p0 >> 32) ^ c3 ^ k1;
    c1 = static_cast<uint32_t>(p1);
    c3 = static_cast<uint32_t>(p0);
    c0 = n0;
    c2 = n2;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {{c0, c1, c2, c3}};
}

inline std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, uint64_t key) {
  const PhiloxBlock b = philox_block(counter[0], counter[1], counter[2], counter[3], key);
  return {b.word[0], b.word[1], b.word[2], b.word[3]};
}

/// The 32-bit word for one element of a site: word (element % 4) of block element / 4.
NORMSCOPE_HD inline uint32_t random_word(uint64_t element, uint32_t site, uint32_t step, Purpose purpose,
                                         uint64_t seed) {
  return philox_block(static_cast<uint32_t>(element / 4), site, step, static_cast<uint32_t>(purpose), seed)
      .word[element % 4];
}

/// Hashes a semantic name ("L03.attn.drop"), never a position on the tape (FNV-1a, 32 bits).
constexpr uint32_t site_of(std::string_view name) {
  uint32_t h = 2166136261u;
  for (char c : name) h = (h ^ static_cast<uint8_t>(c)) * 16777619u;
  return h;
}

}  // namespace normscope
