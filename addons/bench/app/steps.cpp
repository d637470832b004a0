// Times whole steps of the benchmark's models with all probes on (bench_models), and the ops inside a step against
// their roofline (bench_ops). step_flop() counts the FLOP of a step, attention dense.
#include <algorithm>
#include <chrono>
#include <istream>
#include <set>

#include "addons/bench/app/bench.h"
#include "addons/bench/app/stepper.h"
#include "engine/core/machine.h"
#include "engine/cpu/backend_cpu.h"
#include "training/io/text.h"
#include "training/measure/look.h"
#include "training/measure/update_metrics.h"
#include "training/run/footprint.h"

namespace normscope::bench {
namespace {

/// Whether every number of two steps is finite, and the same on one thread as on all threads.
bool same_bits(const Model& m, int threads) {
  Stepper all(m, threads), one(m, 1);
  for (int i = 0; i < 2; ++i) {
    all.step();
    one.step();
    const auto a = all.program->stats(), b = one.program->stats();
    if (std::memcmp(a.data(), b.data(), a.size_bytes()) != 0) return false;
    if (!std::ranges::all_of(a, [](double x) { return std::isfinite(x); })) return false;
  }
  return true;
}

/// The milliseconds that the Lab's measurements around a step take: the least of ten steps, or of as
/// many as the budget allows.
double live_ms(Stepper& stepper, BatchShape shape, double budget) {
  using Clock = std::chrono::steady_clock;
  shape.rows = 1;
  Look look(stepper.store, stepper.config, Batch(shape));
  UpdateMeasurements updates(stepper.program->data());
  std::vector<double> numbers(look.layout().size()), changes(updates.layout().size());
  double best = INFINITY;
  const auto begin = Clock::now();
  for (int i = 0; i < 10; ++i) {
    if (i >= 2 && std::chrono::duration<double>(Clock::now() - begin).count() > budget) break;
    const auto start = Clock::now();
    look.measure(numbers);
    updates.before();
    const auto between = Clock::now();
    stepper.step();
    const auto after = Clock::now();
    updates.after(*stepper.program, stepper.inputs, changes);
    const std::chrono::duration<double, std::milli> taken = Clock::now() - after + (between - start);
    best = std::min(best, taken.count());
  }
  return best;
}

/// Returns the memory plan, and prints it where one model was named.
nlohmann::json plan_of(const Model& m, const Settings& settings) {
  const std::unique_ptr<Backend> backend = make_cpu_backend(settings.threads);
  const Footprint need = footprint_of(config_of(m), shape_of(m), *backend);
  if (!settings.quiet && !settings.model.empty())
    fmt::print("\nMemory of {}, before anything is allocated\n{}", m.name, footprint_table(need));
  return {{"parameters_bytes", need.parameters},
          {"optimizer_bytes", need.optimizer},
          {"activations_bytes", need.activations},
          {"gradients_bytes", need.gradients},
          {"reused_gradients_bytes", need.reused_gradients},
          {"workspace_bytes", need.workspace},
          {"evaluation_bytes", need.evaluation},
          {"peak_bytes", need.peak()}};
}

nlohmann::json measure(const Model& m, const Settings& settings, const MachinePeak& machine, double sgemm,
                       nlohmann::json plan) {
  const bool right = same_bits(m, settings.threads);
  Stepper stepper(m, settings.threads);
  const Timing t = time_call([&] { stepper.step(); }, 4 * settings.budget);
  nlohmann::json row = step_row(m, t);
  const double rate = row["gflops"].get<double>();
  row["share_of_peak"] = rate / machine.gflops;
  row["memory_bytes"] = stepper.bytes();
  row["plan"] = std::move(plan);
  row["parameters"] = stepper.parameters();
  row["right"] = right;
  row["share_of_sgemm"] = sgemm > 0 ? nlohmann::json(rate / sgemm) : nlohmann::json();
  if (is_transformer(m))  // the others have no sub-layers to measure
    row["live_ms"] = live_ms(stepper, shape_of(m), 4 * settings.budget);
  return row;
}

struct OpLine {
  double seconds = 0;
  Cost cost;
  int count = 0;
};

/// Sums the instructions of one program by op and phase, and divides the least time that the machine's peaks allow by
/// the time taken. Leaves out ops in `measured`, which an earlier model of this label had, and adds the others to it.
void add_ops(const char* label, Stepper& stepper, const Settings& settings, const MachinePeak& machine,
             std::set<OpKind>& measured, Part& part) {
  const int repeats = std::clamp(static_cast<int>(settings.budget * 100), 5, 40);
  std::map<std::pair<OpKind, Phase>, OpLine> lines;
  for (const InstructionProfile& p : profile(*stepper.program, stepper.inputs, repeats)) {
    if (measured.contains(p.op)) continue;
    OpLine& line = lines[{p.op, p.phase}];
    line.seconds += p.seconds;
    line.cost.flop += p.cost.flop;
    line.cost.bytes += p.cost.bytes;
    ++line.count;
  }
  for (const auto& [key, line] : lines) {
    const double roof =
        std::max(1e-9 * line.cost.flop / machine.gflops, 1e-9 * line.cost.bytes / machine.bandwidth_gbs);
    part.rows.push_back({{"size", label},
                         {"op", to_string(key.first)},
                         {"phase", to_string(key.second)},
                         {"count", line.count},
                         {"ms", 1e3 * line.seconds},
                         {"gflops", 1e-9 * line.cost.flop / line.seconds},
                         {"gb_per_s", 1e-9 * line.cost.bytes / line.seconds},
                         {"share_of_roofline", roof / line.seconds}});
    if (!settings.quiet)
      fmt::print("{:6} {:18} {:9} {:4} {:9.3f} {:>14} {:6.0f}%\n", label, to_string(key.first),
                 to_string(key.second), line.count, 1e3 * line.seconds, rate_text(line.cost, line.seconds),
                 100 * roof / line.seconds);
  }
  for (const auto& [key, line] : lines) measured.insert(key.first);
  part.right = part.right && std::isfinite(stepper.program->loss());
}

/// The ops that end a step under any optimizer, each once.
std::vector<OpKind> update_ops() {
  std::vector<OpKind> ops;
  for (const Optimizer optimizer : kOptimizers)
    if (std::ranges::find(ops, update_op(optimizer)) == ops.end()) ops.push_back(update_op(optimizer));
  return ops;
}

}  // namespace

nlohmann::json step_row(const Model& m, const Timing& t) {
  const double gflop = gflop_of(m);
  return {{"name", m.name},
          {"tokens_per_s", static_cast<double>(targets_of(m)) / t.median},
          {"ms", 1e3 * t.median},
          {"best_ms", 1e3 * t.minimum},
          {"gflop", gflop},
          {"gflops", gflop / t.median},
          {"best_gflops", gflop / t.minimum}};
}

Part bench_models(const Settings& settings, const MachinePeak& machine, double sgemm) {
  Part part;
  std::vector<std::pair<const Model*, nlohmann::json>> chosen;
  for (const Model& m : models())
    if (settings.model.empty() ? m.listed : settings.model == m.name)
      chosen.emplace_back(&m, plan_of(m, settings));
  if (!settings.quiet)
    fmt::print(
        "\nTraining steps, all probes on; a library's best sgemm {:.0f} GFLOP/s; tokens are images or transitions "
        "where it has these\n{:9} {:>9} {:>9} {:>8} {:>10} "
        "{:>8} {:>6} {:>7} {:>10}\n",
        sgemm, "model", "ms", "best ms", "live ms", "tokens/s", "GFLOP/s", "peak", "sgemm", "memory");
  for (auto& [m, plan] : chosen) {
    // same_bits() holds two such steps at once: one on one thread, one on all.
    if (const size_t need = 2 * plan["peak_bytes"].get<size_t>(), has = machine_memory();
        has > 0 && need > has) {
      if (!settings.quiet)
        fmt::print("{:9} left out: needs {} and this machine has {}\n", m->name, size_words(need),
                   size_words(has));
      part.rows.push_back({{"name", m->name}, {"left_out", "memory"}, {"plan", std::move(plan)}});
      continue;
    }
    nlohmann::json row = measure(*m, settings, machine, sgemm, std::move(plan));
    part.right = part.right && row["right"].get<bool>();
    if (!settings.quiet)
      fmt::print("{:9} {:9.2f} {:9.2f} {:>8} {:10.0f} {:8.0f} {:5.0f}% {:>7} {:7.1f}MiB{}\n", m->name,
                 row["ms"].get<double>(), row["best_ms"].get<double>(),
                 row.contains("live_ms") ? fmt::format("{:.3f}", row["live_ms"].get<double>()) : "–",
                 row["tokens_per_s"].get<double>(), row["gflops"].get<double>(),
                 100 * row["share_of_peak"].get<double>(),
                 sgemm > 0 ? fmt::format("{:.2f}", row["share_of_sgemm"].get<double>()) : "–",
                 row["memory_bytes"].get<double>() / (1 << 20), row["right"].get<bool>() ? "" : "  WRONG");
    part.rows.push_back(std::move(row));
  }
  return part;
}

Part bench_ops(const Settings& settings, const MachinePeak& machine) {
  Part part;
  const std::vector<OpKind> updates = update_ops();
  std::set<OpKind> measured;
  if (!settings.quiet)
    fmt::print(
        "\nOps inside a step (two layers; dropout on): all instances together, beside the roofline of FMA "
        "peak and triad; above\n"
        "100 % the data comes from cache. Arithmetic is counted for linear, conv2d and attention (dense), "
        "bytes for the others; memory: what\n"
        "two layers of that model have besides, without dropout; images: convnet.\n"
        "{:6} {:18} {:9} {:>4} {:>9} {:>14} {:>7}\n",
        "size", "op", "phase", "n", "ms", "rate", "roof");
  for (const auto& [label, model] : {std::pair{"d64", models()[0]}, std::pair{"d256", models()[2]}}) {
    ModelConfig config = config_of(model);
    config.layers = 2;
    set_placement(config, Placement::Pre);
    config.dropout_residual = config.dropout_attention = config.dropout_activation = 0.1f;
    measured.clear();
    for (size_t i = 0; i < std::max(std::size(kActivations), updates.size()); ++i) {
      config.activation = static_cast<Activation>(std::min(i, std::size(kActivations) - 1));
      const SealOptions options{.update = updates[std::min(i, updates.size() - 1)], .clip = i == 0};
      Stepper stepper(config, shape_of(model), settings.threads, options);
      add_ops(label, stepper, settings, machine, measured, part);
    }
  }
  Model remembering = model_of("memory");
  remembering.layers = 2;
  Stepper memory(remembering, settings.threads);
  add_ops("memory", memory, settings, machine, measured, part);
  for (const Model& model : models()) {
    if (std::string_view(model.name) != "convnet") continue;
    Stepper images(model, settings.threads);
    measured.clear();
    add_ops("images", images, settings, machine, measured, part);
  }
  return part;
}

std::string bench_turns(const Settings& settings, std::istream& names,
                        const std::function<void(const nlohmann::json&)>& answer) {
  const std::vector<std::string> known = model_names();
  std::map<std::string, std::unique_ptr<Stepper>> steppers;  // ready between turns, as others keep theirs
  const auto measured = [&](const std::string& name) -> nlohmann::json {
    if (name == kSgemmTurn)
      return {{"name", name}, {"gflops", best_sgemm(settings, nlohmann::json::array())}};
    std::unique_ptr<Stepper>& stepper = steppers[name];
    const Model& model = model_of(name);
    if (!stepper) stepper = std::make_unique<Stepper>(model, settings.threads);
    nlohmann::json row = step_row(model, time_call([&] { stepper->step(); }, 4 * settings.budget));
    row["loss"] = stepper->program->loss();
    return row;
  };
  for (std::string name; std::getline(names, name);) {
    if (name != kSgemmTurn && std::ranges::find(known, name) == known.end()) return name;
    answer(measured(name));
  }
  return {};
}

}  // namespace normscope::bench
