// Twenty steps of some forty runs have the bits that they had when tests/golden was written: every placement, the kinds
// of norms, tasks, architectures and optimizers, with each instruction set. A redesign may change any code, and no bit.
#include "catch.hpp"
#include "engine/core/error.h"
#include "engine/cpu/backend_cpu.h"
#include "isa_scope.h"
#include "test_paths.h"
#include "training/experiments/result_store.h"

using namespace normscope;

namespace {

std::vector<std::string> lines_of(const std::string& name) {
  std::ifstream in(NORMSCOPE_FIXTURES "/../golden/" + name);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);)
    if (!line.starts_with('#')) lines.push_back(line);
  return lines;
}

/// The run of a line of runs.txt, small enough for twenty steps to take no time.
RunSpec golden_run(const std::string& line) {
  std::istringstream words(line);
  std::string preset, field;
  words >> preset;
  RunSpec spec = preset_run(preset);
  for (const char* size : {"model.layers=2", "model.d_model=16", "model.feed_forward=40", "model.heads=2",
                           "model.sequence=24", "train.batch=4", "train.warmup=5"}) {
    const std::string text(size);
    if (preset != "convnet" && preset != "parser")
      set_field(spec, text.substr(0, text.find('=')), text.substr(text.find('=') + 1));
  }
  while (words >> field) set_field(spec, field.substr(0, field.find('=')), field.substr(field.find('=') + 1));
  complete(spec);
  return spec;
}

/// Nothing where an add-on that is not built brings the preset or a setting.
std::optional<RunSpec> run_here(const std::string& line) {
  try {
    return golden_run(line);
  } catch (const Error&) {
    if (NORMSCOPE_EVERY_ADDON) throw;
    return {};
  }
}

}  // namespace

// Under a sanitizer kernels are compiled otherwise and round otherwise: [slow] leaves this out.
TEST_CASE("twenty steps of every golden run have the bits of before, with every instruction set that is here",
          "[slow]") {
  const std::vector<std::string> runs = lines_of("runs.txt");
  REQUIRE(runs.size() >= 40);
  for (const std::string& isa : cpu::available_isas()) {
    const std::vector<std::string> sums = lines_of(isa + ".txt");
    if (sums.empty()) {
      WARN("no checksums were written down for " << isa << ": nothing is checked with it");
      continue;
    }
    REQUIRE(sums.size() == runs.size());
    const test::IsaScope scope(isa);
    const auto backend = make_cpu_backend(1);
    for (size_t i = 0; i < runs.size(); ++i) {
      const std::optional<RunSpec> run = run_here(runs[i]);
      if (!run) continue;
      if (sums[i] == "-") {
        WARN("no checksum was written down for " << runs[i] << " with " << isa);
        continue;
      }
      INFO(runs[i] << " with " << isa);
      CHECK(fmt::format("{:016x}", experiments::checksum(*run, 20, *backend)) == sums[i]);
    }
  }
}

// Prints what NORMSCOPE_ISA comes to, for a file of tests/golden.
TEST_CASE("golden checksums", "[.][print][slow]") {
  const auto backend = make_cpu_backend(1);
  for (const std::string& run : lines_of("runs.txt"))
    fmt::print("{:016x}\n", experiments::checksum(golden_run(run), 20, *backend));
}
