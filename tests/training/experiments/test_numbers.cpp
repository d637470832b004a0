// These tests hold the version of the engine's numbers: checksums of some runs by instruction set. A change of a bit
// that training computes has to raise kNumbersVersion, or earlier stored results would be taken for today's.
#include <algorithm>

#include "catch.hpp"
#include "engine/cpu/backend_cpu.h"
#include "isa_scope.h"
#include "training/experiments/result_store.h"
#include "training/support/tiny.h"

using namespace normscope;
using namespace normscope::experiments;

namespace {

struct Checksums {
  const char* isa;
  uint64_t sums[4];  // one a run of checksum_runs()
};

// These runs. If a run differs, raise kNumbersVersion, then write down what the message says.
constexpr int32_t kVersion = 1;
constexpr Checksums kKnown[] = {
    {"avx3", {0x2696dea9f375c7c3, 0x3247856cb48aa72c, 0x4562a30c766906c8, 0xeb36d388c6e551fb}},
    {"avx2", {0x4c9ad3d80168e7c6, 0x2ce23d5f6282b3d6, 0xaee0b128f7b29e5e, 0x26c5843ad0fb6bca}},
    {"sse4", {0x2a5b207ef652f50a, 0x37731fccf1dac2ab, 0x0ae03be455b25694, 0x0ded21a29cb7850d}},
    {"neon", {0x1390d761cb080cbe, 0xfb357532d14525d9, 0x7d4d16a2563caea0, 0x4e84445a80baf412}}};

}  // namespace

// Under a sanitizer kernels are compiled otherwise and round otherwise, and no result is stored: [slow] leaves this
// out.
TEST_CASE("the engine's numbers are those of their version, with every instruction set that is here",
          "[slow]") {
  REQUIRE(kNumbersVersion == kVersion);
  for (const std::string& isa : cpu::available_isas()) {
    const test::IsaScope scope(isa);
    const auto backend = make_cpu_backend(1);
    const auto known =
        std::find_if(std::begin(kKnown), std::end(kKnown), [&](const Checksums& k) { return isa == k.isa; });
    if (known == std::end(kKnown)) {
      WARN("no checksum was written down for " << isa << ": nothing is checked with it");
      continue;
    }
    const std::vector<RunSpec> runs = checksum_runs();
    for (size_t i = 0; i < runs.size(); ++i) {
      const uint64_t sum = checksum(runs[i], 20, *backend);
      INFO("run " << i << " with " << isa << " comes to 0x" << fmt::format("{:016x}", sum)
                  << ": was a number of the engine changed without kNumbersVersion?");
      CHECK(sum == known->sums[i]);
    }
  }
}

TEST_CASE("a checksum sees a change that the eye would not, and nothing but bits") {
  const auto backend = make_cpu_backend(1), two = make_cpu_backend(2);
  const RunSpec spec = checksum_runs().front();
  RunSpec other = test::with_fields(spec, {{"train.eps", "1.0001e-8"}});
  const uint64_t sum = checksum(spec, 3, *backend);
  CHECK(checksum(spec, 3, *two) == sum);
  CHECK(checksum(other, 3, *backend) != sum);
  CHECK(numbers_of(*backend).starts_with(
      fmt::format("numbers {} CPU {} ", kNumbersVersion, cpu::choose_isa())));
}
