// Whole training steps with all probes on: the fixed models, the sweep over sizes, and the ops inside a step
// beside their roofline. A FLOP of a step is counted as step_flop() says, attention dense.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>

#include "app/bench/bench.h"
#include "app/bench/cost.h"
#include "app/bench/timing.h"
#include "engine/core/error.h"
#include "engine/core/philox.h"
#include "engine/measure/live.h"
#include "engine/model/transformer.h"
#include "engine/tape/seal.h"
#include "engine/tape/store.h"

namespace normscope::bench {
namespace {

struct Model {
  const char* name;
  int32_t layers, width, heads, feed_forward, sequence, batch, vocabulary;
  bool listed = true;  ///< false: only when named
  bool tied = false;
  Placement placement = Placement::Pre;
};
constexpr Model kModels[] = {{"lesson", 6, 64, 4, 256, 64, 16, 96},
                             {"deep", 18, 64, 4, 256, 64, 16, 96},
                             {"wide", 6, 256, 4, 1024, 128, 16, 256},
                             {"base", 6, 512, 8, 2048, 128, 32, 10000},
                             {"hero", 6, 64, 4, 256, 64, 16, 30, false, true},
                             {"hero-post", 6, 64, 4, 256, 64, 16, 30, false, true, Placement::Post},
                             {"deep-post", 18, 64, 4, 256, 64, 16, 96, false, false, Placement::Post}};

ModelConfig config_of(const Model& m) {
  ModelConfig c;
  c.layers = m.layers;
  c.width = m.width;
  c.heads = m.heads;
  c.feed_forward = m.feed_forward;
  c.sequence = m.sequence;
  c.vocabulary = m.vocabulary;
  c.tied_output = m.tied;
  set_placement(c, m.placement);
  return c;
}

/// A model ready to step, on its own backend.
struct Stepper {
  std::unique_ptr<Backend> backend;
  Store store;
  ModelConfig config;
  ModelValues values;
  std::unique_ptr<Program> program;
  StepInputs inputs;

  Stepper(const ModelConfig& model, int32_t batch, int threads, const SealOptions& options = {})
      : backend(make_cpu_backend(threads)), store(*backend), config(model) {
    Tape tape(store);
    values = record_transformer(tape, model, {.batch = batch, .sequence = model.sequence});
    store.materialize(1);
    SealOptions seal_options = options;
    seal_options.loss = values.loss;
    program = std::make_unique<Program>(seal(tape, seal_options));
    for (const char* name : {"tokens", "targets"}) {
      uint32_t i = 0;
      for (int32_t& t : program->tokens(name))
        t = static_cast<int32_t>(philox({i++, 1, 0, 0}, 3)[0] % static_cast<uint32_t>(model.vocabulary));
    }
    inputs.lr = 1e-4f;
    inputs.bias_correction1 = 0.1f;
    inputs.bias_correction2 = 0.02f;
    inputs.clip = 1e30f;
    const double p = 0.1;
    for (DropoutInputs& d : inputs.dropout) d = dropout_inputs(p);
  }

  void step() { program->replay(inputs); }
  size_t bytes() const {
    const MemoryPlan& plan = program->data().plan;
    return 4 * (3 * store.size() + plan.inputs + plan.activations + plan.gradients + plan.workspace);
  }
  size_t parameters() const {
    size_t sum = 0;
    for (const ParameterInfo& p : store.parameters()) sum += static_cast<size_t>(p.shape.size());
    return sum;
  }
};

/// Every number of two steps is the same on one thread as on all, and finite.
bool same_bits(const Model& m, int threads) {
  Stepper all(config_of(m), m.batch, threads), one(config_of(m), m.batch, 1);
  for (int i = 0; i < 2; ++i) {
    all.step();
    one.step();
    const auto a = all.program->stats(), b = one.program->stats();
    if (std::memcmp(a.data(), b.data(), a.size_bytes()) != 0) return false;
    if (!std::all_of(a.begin(), a.end(), [](double x) { return std::isfinite(x); })) return false;
  }
  return true;
}

/// Best milliseconds of the measurements that the Lab takes after each step.
double live_ms(Stepper& stepper) {
  using Clock = std::chrono::steady_clock;
  LiveMeasurements live(*stepper.program, stepper.values, stepper.config);
  std::vector<double> numbers(live.layout().size());
  double best = INFINITY;
  for (int i = 0; i < 10; ++i) {
    stepper.step();
    const auto start = Clock::now();
    live.measure(numbers);
    best = std::min(best, std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  return best;
}

nlohmann::json measure(const Model& m, const Settings& settings, const Machine& machine, double sgemm) {
  const bool right = same_bits(m, settings.threads);
  Stepper stepper(config_of(m), m.batch, settings.threads);
  const Timing t = time_call([&] { stepper.step(); }, 4 * settings.budget);
  const double gflop = 1e-9 * step_flop(stepper.config, m.batch), rate = gflop / t.median;
  nlohmann::json row = {{"name", m.name},
                        {"tokens_per_s", m.batch * m.sequence / t.median},
                        {"ms", 1e3 * t.median},
                        {"best_ms", 1e3 * t.minimum},
                        {"live_ms", live_ms(stepper)},
                        {"gflop", gflop},
                        {"gflops", rate},
                        {"best_gflops", gflop / t.minimum},
                        {"share_of_peak", rate / machine.peak_gflops},
                        {"memory_bytes", stepper.bytes()},
                        {"parameters", stepper.parameters()},
                        {"right", right}};
  row["share_of_sgemm"] = sgemm > 0 ? nlohmann::json(rate / sgemm) : nlohmann::json();
  return row;
}

struct OpLine {
  double seconds = 0;
  Cost cost;
  int count = 0;
};

/// The ops of one program, summed by op and phase, each beside the time that the roofs allow.
void add_ops(const char* label, Stepper& stepper, const Settings& settings, const Machine& machine,
             Part& part) {
  const int repeats = std::clamp(static_cast<int>(settings.budget * 100), 5, 40);
  std::map<std::pair<OpKind, Phase>, OpLine> lines;
  for (const InstructionProfile& p : profile(*stepper.program, stepper.inputs, repeats)) {
    OpLine& line = lines[{p.op, p.phase}];
    line.seconds += p.seconds;
    line.cost.flop += p.cost.flop;
    line.cost.bytes += p.cost.bytes;
    ++line.count;
  }
  for (const auto& [key, line] : lines) {
    const double roof =
        std::max(1e-9 * line.cost.flop / machine.peak_gflops, 1e-9 * line.cost.bytes / machine.bandwidth_gbs);
    part.rows.push_back({{"size", label},
                         {"op", to_string(key.first)},
                         {"phase", phase_name(key.second)},
                         {"count", line.count},
                         {"ms", 1e3 * line.seconds},
                         {"gflops", 1e-9 * line.cost.flop / line.seconds},
                         {"gb_per_s", 1e-9 * line.cost.bytes / line.seconds},
                         {"share_of_roofline", roof / line.seconds}});
    if (!settings.quiet)
      fmt::print("{:6} {:13} {:9} {:4} {:9.3f} {:>14} {:6.0f}%\n", label, to_string(key.first),
                 phase_name(key.second), line.count, 1e3 * line.seconds, rate_text(line.cost, line.seconds),
                 100 * roof / line.seconds);
  }
  part.right = part.right && std::isfinite(stepper.program->loss());
}

}  // namespace

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const Model& m : kModels) names.emplace_back(m.name);
  return names;
}

Part bench_models(const Settings& settings, const Machine& machine, double sgemm) {
  Part part;
  if (!settings.quiet)
    fmt::print(
        "\nTraining steps, all probes on; oneDNN's best sgemm {:.0f} GFLOP/s\n{:9} {:>9} {:>9} {:>8} {:>10} "
        "{:>8} {:>6} {:>7} {:>10}\n",
        sgemm, "model", "ms", "best ms", "live ms", "tokens/s", "GFLOP/s", "peak", "sgemm", "memory");
  for (const Model& m : kModels) {
    if (settings.model.empty() ? !m.listed : settings.model != m.name) continue;
    nlohmann::json row = measure(m, settings, machine, sgemm);
    part.right = part.right && row["right"].get<bool>();
    if (!settings.quiet)
      fmt::print("{:9} {:9.2f} {:9.2f} {:8.3f} {:10.0f} {:8.0f} {:5.0f}% {:>7} {:7.1f}MiB{}\n", m.name,
                 row["ms"].get<double>(), row["best_ms"].get<double>(), row["live_ms"].get<double>(),
                 row["tokens_per_s"].get<double>(), row["gflops"].get<double>(),
                 100 * row["share_of_peak"].get<double>(),
                 sgemm > 0 ? fmt::format("{:.2f}", row["share_of_sgemm"].get<double>()) : "–",
                 row["memory_bytes"].get<double>() / (1 << 20), row["right"].get<bool>() ? "" : "  WRONG");
    part.rows.push_back(std::move(row));
  }
  return part;
}

Part bench_ops(const Settings& settings, const Machine& machine) {
  Part part;
  if (!settings.quiet)
    fmt::print(
        "\nOps inside a step (two layers; dropout on): all instances together, beside the roofline of FMA "
        "peak and triad; above\n"
        "100 % the data comes from cache. Arithmetic is counted for linear and attention (dense), bytes for "
        "the others.\n"
        "{:6} {:13} {:9} {:>4} {:>9} {:>14} {:>7}\n",
        "size", "op", "phase", "n", "ms", "rate", "roof");
  for (const auto& [label, model] : {std::pair{"d64", kModels[0]}, std::pair{"d256", kModels[2]}}) {
    ModelConfig config = config_of(model);
    config.layers = 2;
    set_placement(config, Placement::Pre);
    config.dropout_residual = config.dropout_attention = config.dropout_activation = 0.1f;
    Stepper relu(config, model.batch, settings.threads, {.optimizer = Optimizer::Adam, .clip = true});
    add_ops(label, relu, settings, machine, part);
    config.activation = Activation::Gelu;
    Stepper gelu(config, model.batch, settings.threads, {.optimizer = Optimizer::Sgd});
    Part rest;
    Settings quiet = settings;
    quiet.quiet = true;
    add_ops(label, gelu, quiet, machine, rest);
    for (const nlohmann::json& row : rest.rows) {
      if (row["op"] != "gelu" && row["op"] != "sgd") continue;  // the others were measured above
      if (!settings.quiet)
        fmt::print("{:6} {:13} {:9} {:4} {:9.3f} {:>14} {:6.0f}%\n", label, row["op"].get<std::string>(),
                   row["phase"].get<std::string>(), row["count"].get<int>(), row["ms"].get<double>(),
                   fmt::format("{:.1f} GB/s", row["gb_per_s"].get<double>()),
                   100 * row["share_of_roofline"].get<double>());
      part.rows.push_back(row);
    }
    part.right = part.right && rest.right;
  }
  return part;
}

Part bench_sweep(const Settings& settings) {
  Part part;
  if (!settings.quiet)
    fmt::print(
        "\nSweep around lesson: growth of time over growth of arithmetic, from the row before\n{:8} {:>6} "
        "{:>9} {:>8} {:>8}\n",
        "what", "value", "ms", "GFLOP/s", "growth");
  const auto row = [&](const char* what, int value, const Model& m, int threads, double& last) {
    Stepper stepper(config_of(m), m.batch, threads);
    const Timing t = time_call([&] { stepper.step(); }, settings.budget);
    const double gflop = 1e-9 * step_flop(stepper.config, m.batch), per = t.median / gflop;
    const double growth = last > 0 ? per / last : 1;
    last = per;
    part.rows.push_back({{"what", what},
                         {"value", value},
                         {"ms", 1e3 * t.median},
                         {"best_ms", 1e3 * t.minimum},
                         {"gflops", gflop / t.median},
                         {"growth_over_arithmetic", growth}});
    if (!settings.quiet)
      fmt::print("{:8} {:6} {:9.2f} {:8.0f} {:8.2f}\n", what, value, 1e3 * t.median, gflop / t.median,
                 growth);
  };
  const auto over = [&](const char* what, std::initializer_list<int> values, auto set) {
    double last = 0;
    for (int value : values) {
      Model m = kModels[0];
      set(m, value);
      row(what, value, m, settings.threads, last);
    }
  };
  over("L", {3, 6, 12, 24}, [](Model& m, int v) { m.layers = v; });
  over("d", {32, 64, 128, 256}, [](Model& m, int v) { m.width = v, m.feed_forward = 4 * v; });
  over("T", {32, 64, 128, 256}, [](Model& m, int v) { m.sequence = v; });
  over("B", {4, 16, 64}, [](Model& m, int v) { m.batch = v; });
  double last = 0;
  for (int threads = 1; threads <= settings.threads + 1; ++threads)
    row("threads", threads, kModels[0], threads, last);
  return part;
}

}  // namespace normscope::bench
