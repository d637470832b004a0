#include "addons/classroom/app/shell/lesson_code.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <span>

namespace normscope::shell::classroom {
namespace {

using Words = std::array<uint32_t, 8>;
constexpr size_t kBlock = 64;  // bytes

std::array<uint32_t, 64> primes() {
  std::array<uint32_t, 64> found{};
  size_t count = 0;
  for (uint32_t n = 2; count < found.size(); ++n) {
    bool prime = true;
    for (uint32_t d = 2; d * d <= n; ++d) prime = prime && n % d != 0;
    if (prime) found[count++] = n;
  }
  return found;
}

// The first 32 bits of the fraction.
uint32_t fraction(long double root) {
  return static_cast<uint32_t>((root - std::floor(root)) * 4294967296.0L);
}

void digest_block(Words& state, std::span<const unsigned char, kBlock> block) {
  static const std::array<uint32_t, 64> kPrimes = primes();
  std::array<uint32_t, 64> w{};
  for (size_t i = 0; i < kBlock; ++i) w[i / 4] |= static_cast<uint32_t>(block[i]) << (24 - 8 * (i % 4));
  for (size_t i = 16; i < w.size(); ++i) {
    const uint32_t a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + w[i - 7] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3)) +
           (std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10));
  }
  Words s = state;
  for (size_t i = 0; i < w.size(); ++i) {
    const uint32_t e = s[4], a = s[0];
    const uint32_t first = s[7] + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                           ((e & s[5]) ^ (~e & s[6])) +
                           fraction(std::cbrt(static_cast<long double>(kPrimes[i]))) + w[i];
    const uint32_t second =
        (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
    s = {first + second, s[0], s[1], s[2], s[3] + first, s[4], s[5], s[6]};
  }
  for (size_t i = 0; i < s.size(); ++i) state[i] += s[i];
}

}  // namespace

std::string sha256(std::string_view text) {
  Words state{};
  const std::array<uint32_t, 64> first = primes();
  for (size_t i = 0; i < state.size(); ++i)
    state[i] = fraction(std::sqrt(static_cast<long double>(first[i])));
  std::string padded(text);
  padded += '\x80';
  while (padded.size() % kBlock != kBlock - 8) padded += '\0';
  for (int byte = 7; byte >= 0; --byte) padded += static_cast<char>(uint64_t{text.size()} * 8 >> (8 * byte));
  for (size_t at = 0; at < padded.size(); at += kBlock) {
    std::array<unsigned char, kBlock> block{};
    for (size_t i = 0; i < kBlock; ++i) block[i] = static_cast<unsigned char>(padded[at + i]);
    digest_block(state, block);
  }
  std::string out;
  for (const uint32_t word : state) out += fmt::format("{:08x}", word);
  return out;
}

CodeHash hash_of(std::string_view code) {
  std::random_device random;
  std::string salt;
  for (int i = 0; i < 4; ++i) salt += fmt::format("{:08x}", static_cast<uint32_t>(random()));
  return {salt, sha256(salt + std::string(code))};
}

bool is_code(const CodeHash& kept, std::string_view code) {
  return !kept.hash.empty() && sha256(kept.salt + std::string(code)) == kept.hash;
}

}  // namespace normscope::shell::classroom
