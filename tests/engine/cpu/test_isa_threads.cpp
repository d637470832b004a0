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

// The processor's name is what the figures of a machine stand under, so it must tell generations apart.

TEST_CASE("a processor's name tells generations of one name apart") {
  const auto name = [](const char* family, const char* model, const char* called) {
    std::istringstream text(fmt::format(
        "processor\t: 0\nvendor_id\t: Any\ncpu family\t: {}\nmodel\t\t: {}\nmodel name\t: {}\nflags\t\t:\n",
        family, model, called));
    return cpu::processor_name(text);
  };
  CHECK(name("25", "17", "AMD EPYC") == "AMD EPYC (family 25, model 17)");
  CHECK(name("26", "17", "AMD EPYC") == "AMD EPYC (family 26, model 17)");
  CHECK(name("26", "2", "AMD EPYC 9B45") == "AMD EPYC 9B45");
  std::istringstream alone("model name\t: Any Processor\n"), none("Hardware\t: Any\n");
  CHECK(cpu::processor_name(alone) == "Any Processor");
  CHECK(cpu::processor_name(none) == "unknown");
  std::istringstream arm("processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU part\t: 0xd0c\n");
  CHECK(cpu::processor_name(arm) == "implementer 0x41, part 0xd0c");
}
