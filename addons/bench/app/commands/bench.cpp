// normscope bench measures this machine and prints a table for each part; with --json it prints one object instead.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "addons/bench/app/bench.h"
#include "addons/bench/app/stepper.h"
#include "app/cli/build_facts.h"
#include "app/commands/commands.h"
#include "engine/core/machine.h"
#include "engine/cpu/backend_cpu.h"
#include "training/experiments/probes.h"
#include "training/spec/backend_choice.h"

namespace normscope::commands {
using namespace cli;
namespace {

struct BenchOptions {
  /// With none of these and no model, all parts run but `scaling` and `crowded`, which need cores of their own.
  bool gemm = false, ops = false, scaling = false, crowded = false;
  bool first_steps = false;  ///< nothing else then
  bool turns = false;        ///< nothing else then
  std::string model;
  std::vector<int64_t> shape;
  bool json = false;
  double budget = 0.25;  ///< seconds a timing
  BackendOptions backend;
  int32_t threads = 0;
  bool names_part() const { return gemm || ops || scaling || crowded; }
};

nlohmann::json machine_json(const MachinePeak& m) {
  nlohmann::json json = {{"processor", m.processor},
                         {"instruction_set", m.isa},
                         {"threads", m.threads},
                         {"peak_gflops", m.gflops},
                         {"bandwidth_gb_per_s", m.bandwidth_gbs},
                         {"normscope", NORMSCOPE_VERSION},
                         {"compiler", compiler()}};
  for (const bench::SgemmAnchor* anchor : {bench::find_onednn(m.threads), bench::find_openblas(m.threads)})
    if (anchor) json[anchor->name()] = anchor->version();
  return json;
}

/// Measures whole steps on the device; with --json it prints one object a line, with the keys of
/// addons/bench/peers/torch_cuda.py.
Exit bench_device(const BenchOptions& options, BackendChoice choice) {
  const std::vector<std::string> models = bench::device_models();
  if (options.names_part())
    throw CommandError(Exit::Usage,
                       "bench --backend cuda times whole steps alone: expected none of --gemm, --ops, "
                       "--scaling and --crowded");
  if (!options.model.empty() && std::ranges::find(models, options.model) == models.end())
    throw CommandError(Exit::Usage,
                       fmt::format("bench --backend cuda: expected --model {}", fmt::join(models, ", ")));
  const auto backend = with_exit(Exit::Device, [&] { return make_backend(choice); });
  if (!options.json)
    say("{:8} {:>9} {:>9} {:>9} {:>12} {:>9}\n", "model", "precision", "ms", "best ms", "tokens/s",
        "GFLOP/s");
  for (const std::string& model : models) {
    if (!options.model.empty() && model != options.model) continue;
    const nlohmann::json row =
        bench::measure_on_device(*backend, model, 8 * options.budget, choice.tf32, true);
    if (options.json)
      say("{}\n", row.dump());
    else
      say("{:8} {:>9} {:9.3f} {:9.3f} {:12.0f} {:9.1f}\n", model, row["precision"].get<std::string>(),
          row["ms"].get<double>(), row["best_ms"].get<double>(), row["tokens_per_s"].get<double>(),
          row["gflops"].get<double>());
    flush();
  }
  return Exit::Ok;
}

/// Prints a checksum of the bits of the default comparison's first steps, to compare browsers and machines.
Exit bench_first_steps(const BenchOptions& options) {
  const std::unique_ptr<Backend> backend = make_cpu_backend(options.threads);
  const experiments::FirstSteps first = experiments::take_first_steps(*backend);
  const int32_t threads = options.threads > 0 ? options.threads : usable_cores();
  put(experiments::report_of(first, threads, options.json));
  return Exit::Ok;
}

bench::Settings settings_of(const BenchOptions& options) {
  return {.threads = options.threads > 0 ? options.threads : usable_cores(),
          .budget = options.budget,
          .quiet = options.json || options.turns,
          .model = options.model,
          .shape = options.shape};
}

/// Reads names from standard input, and answers each at once with a JSON object on a line of standard output.
Exit bench_turns(const BenchOptions& options) {
  const bench::Settings settings = settings_of(options);
  const std::string unknown = bench::bench_turns(settings, std::cin, [&](nlohmann::json row) {
    row["framework"] = fmt::format("normscope {}", NORMSCOPE_VERSION);
    row["threads"] = settings.threads;
    say("{}\n", row.dump());
    flush();
  });
  if (unknown.empty()) return Exit::Ok;
  throw CommandError(Exit::Usage,
                     fmt::format("bench --turns: '{}' on standard input: expected one of {}, {}", unknown,
                                 fmt::join(bench::model_names(), ", "), bench::kSgemmTurn));
}

Exit bench(const BenchOptions& options) {
  if (options.first_steps) return bench_first_steps(options);
  if (options.turns) return bench_turns(options);
  if (const BackendChoice choice = backend_of(options.backend); choice.cuda)
    return bench_device(options, choice);
  const bench::Settings settings = settings_of(options);
  const bool all = !options.names_part() && options.model.empty();
  const MachinePeak machine = measure_machine_peak(settings.threads, settings.budget);
  if (!settings.quiet)
    say("{}\n{}, {} threads: FMA peak {:.0f} GFLOP/s, triad {:.1f} GB/s (best of the run)\n",
        machine.processor, machine.isa, machine.threads, machine.gflops, machine.bandwidth_gbs);
  nlohmann::json result = {{"machine", machine_json(machine)}};
  std::vector<std::string> wrong;
  const auto take = [&](const char* key, bench::Part part) {
    if (!part.right) wrong.emplace_back(key);
    result[key] = std::move(part.rows);
    flush();
  };
  if (all || options.gemm) take("gemm", bench::bench_gemm(settings, machine));
  if (all || options.ops) take("ops", bench::bench_ops(settings, machine));
  if (all || !options.model.empty()) {
    const double best = bench::best_sgemm(settings, result.value("gemm", nlohmann::json::array()));
    result["best_sgemm_gflops"] = best;
    take("models", bench::bench_models(settings, machine, best));
  }
  if (options.scaling) take("scaling", bench::bench_scaling(settings, machine));
  if (options.crowded) take("crowded", bench::bench_crowded(settings));
  result["right"] = wrong.empty();
  if (options.json) say("{}\n", result.dump(2));
  if (!wrong.empty())
    throw CommandError(Exit::CheckFailed,
                       fmt::format("bench: a result was wrong in {}", fmt::join(wrong, ", ")));
  return Exit::Ok;
}

}  // namespace

void add_bench(CLI::App& app, Command& command) {
  const auto [sub, options] =
      add_command(app, command, "bench", "Measure this machine, the kernels and whole training steps", bench);
  CLI::Option* gemm = sub.add_flag("--gemm", options.gemm,
                                   "matrix products only, beside oneDNN and OpenBLAS where installed");
  sub.add_option("--shape", options.shape,
                 "with --gemm: only the products of this shape, A (M,K) times B (K,N)")
      ->expected(3)
      ->transform(whole(1, 8192))
      ->type_name("M N K")
      ->needs(gemm)
      ->default_str("those of training");
  sub.add_flag("--ops", options.ops, "every op, forward and backward, beside its roofline");
  sub.add_flag("--scaling", options.scaling, "what 1 to 16 threads do, simulated from the chunks of a step");
  sub.add_flag("--crowded", options.crowded,
               "steps with a thread more than --threads, and beside busy processes, over steps alone");
  CLI::Option* first = sub.add_flag(
      "--first-steps", options.first_steps,
      "20 steps of the default comparison: a checksum of its losses and weights, the same wherever the same "
      "instructions compute the same bits; nothing else");
  CLI::Option* turns = sub.add_flag(
      "--turns", options.turns,
      "whole steps of each model that standard input names, a line each, answered by a line of JSON; nothing else");
  add_value(sub, "--model", options.model, "NAME", "training steps of one model, after its memory plan",
            CLI::IsMember(bench::model_names()), "all eight");
  add_value(sub, "--budget", options.budget, "SECONDS", "seconds a timing", CLI::Range(0.001, 60.0));
  sub.add_flag("--json", options.json, "one JSON object instead of tables");
  add_threads(sub, options.threads);
  add_backend(sub, options.backend);
  for (CLI::Option* alone : {first, turns})
    for (const char* other : {"--gemm", "--ops", "--scaling", "--crowded", "--model", "--backend", "--tf32"})
      alone->excludes(sub.get_option(other));
  first->excludes(sub.get_option("--budget"));
  turns->excludes(sub.get_option("--json"))->excludes(first);
}

}  // namespace normscope::commands
