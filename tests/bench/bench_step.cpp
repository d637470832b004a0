// A whole training step of the hero model and its like, all probes on, as arithmetic rate and as a share of
// what oneDNN's sgemm reaches at M,N,K = 1024,256,64 with the same threads in the same run. FLOP of a step: 6
// (L (4 d^2 + 2 d f) + d V) B T + 12 L B T^2 d, attention counted dense.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bench/bench.h"
#include "core/philox.h"
#include "measure/live.h"
#include "model/transformer.h"
#include "tape/seal.h"
#include "tape/store.h"

namespace normscope::bench {
namespace {

struct Size {
  const char* name;
  int32_t layers, width, heads, feed_forward, sequence, batch, vocabulary;
  bool tied;
  Placement placement = Placement::Pre;
};
constexpr Size kSizes[] = {{"hero", 6, 64, 4, 256, 64, 16, 30, true},
                           {"hero post", 6, 64, 4, 256, 64, 16, 30, true, Placement::Post},
                           {"lesson", 6, 64, 4, 256, 64, 16, 96, false},
                           {"deep", 18, 64, 4, 256, 64, 16, 96, false},
                           {"deep post", 18, 64, 4, 256, 64, 16, 96, false, Placement::Post},
                           {"wide", 6, 256, 4, 1024, 128, 16, 256, false},
                           {"base", 6, 512, 8, 2048, 128, 32, 10000, false}};

double step_flop(const Size& s) {
  const double d = s.width, f = s.feed_forward, rows = static_cast<double>(s.batch) * s.sequence;
  return 6 * (s.layers * (4 * d * d + 2 * d * f) + d * s.vocabulary) * rows +
         12 * s.layers * rows * s.sequence * d;
}

ModelConfig config_of(const Size& s) {
  ModelConfig c;
  c.layers = s.layers;
  c.width = s.width;
  c.heads = s.heads;
  c.feed_forward = s.feed_forward;
  c.sequence = s.sequence;
  c.vocabulary = s.vocabulary;
  c.tied_output = s.tied;
  set_placement(c, s.placement);
  return c;
}

void fill(Program& program, int32_t vocabulary) {
  for (const char* name : {"tokens", "targets"}) {
    uint32_t i = 0;
    for (int32_t& t : program.tokens(name))
      t = static_cast<int32_t>(philox({i++, 1, 0, 0}, 3)[0] % static_cast<uint32_t>(vocabulary));
  }
}

/// What the measurements after a replay cost, as a share of a step: steps alternate with steps that are
/// measured, so that a slow moment of the machine falls on both.
double live_share(Program& program, LiveMeasurements& live, const StepInputs& inputs) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> numbers(live.layout().size()), steps, measurements;
  for (int i = 0; i < 60; ++i) {
    const auto start = Clock::now();
    program.replay(inputs);
    const auto between = Clock::now();
    live.measure(numbers);
    steps.push_back(std::chrono::duration<double>(between - start).count());
    measurements.push_back(std::chrono::duration<double>(Clock::now() - between).count());
  }
  // Best against best: a busy machine slows the step, which waits for its threads, more than what runs on
  // one.
  return *std::min_element(measurements.begin(), measurements.end()) /
         *std::min_element(steps.begin(), steps.end());
}

/// Milliseconds of a step by op and phase, in order of time: medians over steps of every instruction timed
/// alone.
void print_profile(Program& program, const StepInputs& inputs) {
  using Clock = std::chrono::steady_clock;
  const std::vector<Instruction>& instructions = program.data().instructions;
  constexpr const char* kPhases[] = {"forward", "backward", "update"};
  constexpr int kRepeats = 20;
  std::vector<std::vector<double>> samples(instructions.size());
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    for (size_t i = 0; i < instructions.size(); ++i) {
      const auto start = Clock::now();
      program.executable().run(i, i + 1, inputs);
      samples[i].push_back(std::chrono::duration<double>(Clock::now() - start).count());
    }
  }
  struct Sum {
    double seconds = 0;
    int count = 0;
  };
  std::map<std::string, Sum> sums;
  for (size_t i = 0; i < instructions.size(); ++i) {
    std::sort(samples[i].begin(), samples[i].end());
    Sum& sum = sums[fmt::format("{} {}", to_string(instructions[i].op),
                                kPhases[static_cast<int>(instructions[i].phase)])];
    sum.seconds += samples[i][kRepeats / 2];
    ++sum.count;
  }
  std::vector<std::pair<std::string, Sum>> rows(sums.begin(), sums.end());
  std::sort(rows.begin(), rows.end(),
            [](const auto& a, const auto& b) { return a.second.seconds > b.second.seconds; });
  for (const auto& [name, sum] : rows)
    fmt::print("    {:24} {:8.3f} ms in {:3}\n", name, 1e3 * sum.seconds, sum.count);
}

}  // namespace

bool bench_step(const Options& options) {
  const double sgemm = onednn_rate(1024, 256, 64, options.budget);
  fmt::print("\nTraining steps, all probes on; oneDNN sgemm 1024x256x64: {:.0f} GFLOP/s\n", sgemm);
  fmt::print("{:9} {:>9} {:>9} {:>9} {:>10} {:>7} {:>6}\n", "model", "ms", "best ms", "GFLOP/s", "tokens/s",
             "ratio", "live");
  for (const Size& s : kSizes) {
    const std::string name = s.name;
    if (options.filter.empty() ? name == "base" : name.find(options.filter) == std::string::npos) continue;
    const auto backend = make_cpu_backend(options.threads);
    Store store(*backend);
    Tape tape(store);
    const ModelValues model =
        record_transformer(tape, config_of(s), {.batch = s.batch, .sequence = s.sequence});
    store.materialize(1);
    Program program = seal(tape, {.loss = model.loss});
    LiveMeasurements live(program, model, config_of(s));
    fill(program, s.vocabulary);
    StepInputs inputs;
    inputs.lr = 1e-4f;
    inputs.bias_correction1 = 0.1f;
    inputs.bias_correction2 = 0.02f;
    const Timing t = time_call([&] { program.replay(inputs); }, 4 * options.budget);
    const double rate = 1e-9 * step_flop(s) / t.median;
    fmt::print("{:9} {:9.2f} {:9.2f} {:9.0f} {:10.0f} {:7.2f} {:5.1f}%\n", name, 1e3 * t.median,
               1e3 * t.minimum, rate, s.batch * s.sequence / t.median, sgemm > 0 ? rate / sgemm : 0,
               100 * live_share(program, live, inputs));
    if (options.profile) print_profile(program, inputs);
  }
  return true;
}

}  // namespace normscope::bench
