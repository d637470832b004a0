// The version of the engine's numbers: checksums of runs that use every op between them, by instruction set.
// Who changes a bit of what training computes has to raise kNumbersVersion, or stored results of before would
// be taken for those of now.
#include <fmt/format.h>

#include <map>
#include <set>

#include "app/experiments/numbers.h"
#include "catch.hpp"
#include "engine/cpu/backend_cpu.h"
#include "engine/cpu/isa.h"
#include "engine/model/transformer.h"
#include "engine/tape/seal.h"
#include "engine/train/network.h"
#include "engine/train/run.h"

using namespace normscope;
using namespace normscope::experiments;

namespace {

struct Known {
  const char* isa;
  uint64_t sums[4];  // one a run of checksum_runs()
};

// Of version 1. A run that is not like this: raise kNumbersVersion, then write down what the message says.
constexpr int32_t kVersion = 1;
constexpr Known kKnown[] = {{"avx3", {0, 0, 0, 0}}, {"avx2", {0, 0, 0, 0}}, {"sse4", {0, 0, 0, 0}}};

}  // namespace

TEST_CASE("the engine's numbers are those of their version, with every instruction set that is here") {
  REQUIRE(kNumbersVersion == kVersion);
  const std::string best = cpu::choose_isa();
  for (const std::string& isa : cpu::available_isas()) {
    cpu::choose_isa(isa);
    const auto backend = make_cpu_backend(1);
    const auto known =
        std::find_if(std::begin(kKnown), std::end(kKnown), [&](const Known& k) { return isa == k.isa; });
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
  cpu::choose_isa(best);
}

TEST_CASE("a checksum sees one bit of one weight, and nothing but bits") {
  const auto backend = make_cpu_backend(1), two = make_cpu_backend(2);
  const RunSpec spec = checksum_runs().front();
  RunSpec other = spec;
  set_field(other, "train.eps", "1.0001e-8");
  const uint64_t sum = checksum(spec, 3, *backend);
  CHECK(checksum(spec, 3, *two) == sum);
  CHECK(checksum(other, 3, *backend) != sum);
  CHECK(numbers_of(*backend).starts_with(
      fmt::format("numbers {} cpu {} ", kNumbersVersion, cpu::choose_isa())));
}
