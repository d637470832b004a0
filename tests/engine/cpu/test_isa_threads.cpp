// A choice of instruction set stands while other threads make backends or ask what the processor has: otherwise a run
// that trains beside others may get the kernels of another instruction set, and with them other bits.
#include <atomic>

#include "catch.hpp"
#include "engine/cpu/isa.h"
#include "hwy/highway.h"

using namespace normscope;

TEST_CASE("asking for instruction sets does not take back the one that is chosen") {
  const std::string least = cpu::available_isas().back();
  cpu::choose_isa(least);
  const int64_t chosen = hwy::SupportedTargets();
  CHECK((chosen & (chosen - 1)) == 0);  // one target
  cpu::available_isas();
  CHECK(hwy::SupportedTargets() == chosen);
  CHECK_THROWS(cpu::choose_isa("mmx"));
  CHECK(hwy::SupportedTargets() == chosen);

  std::atomic<bool> done = false;
  std::thread others([&] {
    for (int i = 0; i < 20000; ++i) cpu::choose_isa(least);
    done = true;
  });
  int changed = 0;
  while (!done) changed += hwy::SupportedTargets() != chosen;
  others.join();
  CHECK(changed == 0);
  cpu::choose_isa();
}
