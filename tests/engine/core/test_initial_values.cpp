// Initial weights have the same bits on every processor: these checksums are of x86-64 and of AArch64, with glibc.
#include <bit>

#include "catch.hpp"
#include "engine/core/initial_values.h"

using namespace normscope;

namespace {

/// FNV-1a over the numbers' bits.
uint64_t bits_of(const std::vector<float>& values) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const float value : values) hash = (hash ^ std::bit_cast<uint32_t>(value)) * 0x100000001b3u;
  return hash;
}

}  // namespace

TEST_CASE("initial values have the same bits whatever the processor") {
  Init unit{Init::Kind::Normal, 0.25}, turns{Init::Kind::Turns, 1.0};
  unit.unit = Init::Unit::Rows;
  for (int i = 0; i < 32; ++i) turns.rates.push_back(1.0 / (1.0 + i * 3.7));
  CHECK(bits_of(initial_values("L00.ffn.1", {512, 2048}, {Init::Kind::Normal, 0.02}, 1)) ==
        0x669d9f68905ac396u);
  CHECK(bits_of(initial_values("L01.attn.q", {512, 512}, unit, 2)) == 0xd8e41e9e54d9b24cu);
  CHECK(bits_of(initial_values("positions", {512, 256}, {Init::Kind::Sinusoid}, 3)) == 0xe80d2ccfb7c487c8u);
  CHECK(bits_of(initial_values("rotary", {512, 64}, turns, 4)) == 0xdb92e82d11490541u);
  CHECK(bits_of(initial_values("L00.ffn.1", {512, 2048}, {Init::Kind::Normal, 0.02}, 2)) !=
        0x669d9f68905ac396u);
}
