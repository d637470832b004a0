// normscope bench: one table from one run; --json prints one object instead.
#include <fmt/format.h>

#include <cstdio>

#include "app/bench/bench.h"
#include "app/bench/sgemm_anchor.h"
#include "app/cli/options.h"
#include "engine/cpu/pool.h"

namespace normscope::cli {
namespace {

nlohmann::json machine_json(const bench::Machine& m) {
  nlohmann::json json = {{"processor", m.processor},
                         {"instruction_set", m.isa},
                         {"threads", m.threads},
                         {"peak_gflops", m.peak_gflops},
                         {"bandwidth_gb_per_s", m.bandwidth_gbs},
                         {"normscope", NORMSCOPE_VERSION}};
  for (const bench::SgemmAnchor* anchor : {bench::find_onednn(m.threads), bench::find_openblas(m.threads)})
    if (anchor) json[anchor->name()] = anchor->version();
  return json;
}

}  // namespace

Exit bench(const BenchOptions& options) {
  bench::Settings settings;
  settings.threads = options.threads > 0 ? options.threads : cpu::physical_cores();
  settings.budget = options.budget;
  settings.quiet = options.json;
  settings.model = options.model;
  const bool all = !options.gemm && !options.ops && !options.sweep && options.model.empty();
  const bench::Machine machine = bench::measure_machine(settings);
  nlohmann::json result = {{"machine", machine_json(machine)}};
  bool right = true;
  const auto take = [&](const char* key, bench::Part part) {
    right = right && part.right;
    result[key] = std::move(part.rows);
    std::fflush(stdout);
  };
  if (all || options.gemm) take("gemm", bench::bench_gemm(settings, machine));
  if (all || options.ops) take("ops", bench::bench_ops(settings, machine));
  if (all || !options.model.empty()) {
    const double best = bench::best_sgemm(settings, result.value("gemm", nlohmann::json::array()));
    result["best_sgemm_gflops"] = best;
    take("models", bench::bench_models(settings, machine, best));
  }
  if (all || options.sweep) take("sweep", bench::bench_sweep(settings));
  result["right"] = right;
  if (options.json) fmt::print("{}\n", result.dump(2));
  if (!right) throw CommandError(Exit::check_failed, "bench: a result was wrong");
  return Exit::ok;
}

}  // namespace normscope::cli
