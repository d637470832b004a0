// The processor's name is what the figures of a machine stand under, so it must tell generations apart.
#include "catch.hpp"
#include "engine/cpu/isa.h"

using namespace normscope;

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
