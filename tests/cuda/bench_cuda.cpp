// normscope_cuda_bench [lesson] [deep] [wide] [base] [--tf32] [--no-graph] [--seconds S]: whole training
// steps on the device, all probes on and all norms read back, median of many. One JSON line a model, as
// tests/bench/peers prints it.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/philox.h"
#include "model/transformer.h"
#include "tape/seal.h"
#include "tape/store.h"

namespace normscope::bench {
namespace {

struct Size {
  const char* name;
  int32_t layers, width, heads, feed_forward, sequence, batch, vocabulary;
};
constexpr Size kSizes[] = {{"lesson", 6, 64, 4, 256, 64, 16, 96},
                           {"deep", 18, 64, 4, 256, 64, 16, 96},
                           {"wide", 6, 256, 4, 1024, 128, 16, 256},
                           {"base", 6, 512, 8, 2048, 128, 32, 10000}};

ModelConfig config_of(const Size& s) {
  ModelConfig c;
  c.layers = s.layers;
  c.width = s.width;
  c.heads = s.heads;
  c.feed_forward = s.feed_forward;
  c.sequence = s.sequence;
  c.vocabulary = s.vocabulary;
  c.tied_output = false;
  set_placement(c, Placement::Pre);
  return c;
}

void fill(Program& program, const Size& s, uint32_t step) {
  for (const char* name : {"tokens", "targets"}) {
    uint32_t i = 0;
    for (int32_t& t : program.tokens(name))
      t = static_cast<int32_t>(philox({i++, 1, step, 0}, 3)[0] % static_cast<uint32_t>(s.vocabulary));
  }
}

nlohmann::json measure(Backend& backend, const Size& s, double seconds, bool tf32, bool graph) {
  using Clock = std::chrono::steady_clock;
  Store store(backend);
  Tape tape(store);
  const ModelConfig config = config_of(s);
  const ModelValues model = record_transformer(tape, config, {.batch = s.batch, .sequence = s.sequence});
  store.materialize(1);
  const auto before = Clock::now();
  Program program = seal(tape, {.loss = model.loss, .clip = true});
  const double seal_ms = 1e3 * std::chrono::duration<double>(Clock::now() - before).count();
  StepInputs inputs;
  inputs.lr = 1e-4f;
  inputs.bias_correction1 = 0.1f;
  inputs.bias_correction2 = 0.02f;
  std::vector<double> times;
  fill(program, s, 0);
  for (int warm = 0; warm < 10; ++warm) program.replay(inputs);
  const auto start = Clock::now();
  while (std::chrono::duration<double>(Clock::now() - start).count() < seconds || times.size() < 20) {
    inputs.step += 1;
    const auto t = Clock::now();
    program.replay(inputs);
    times.push_back(std::chrono::duration<double>(Clock::now() - t).count());
  }
  backend.wait();
  std::sort(times.begin(), times.end());
  const double median = times[times.size() / 2];
  return {{"framework", "normscope CUDA"},
          {"mode", graph ? "graph" : "no graph"},
          {"precision", tf32 ? "tf32" : "fp32"},
          {"model", s.name},
          {"ms", 1e3 * median},
          {"best_ms", 1e3 * times.front()},
          {"tokens_per_s", s.batch * s.sequence / median},
          {"gflops", 1e-9 * step_flop(config, s.batch) / median},
          {"seal_ms", seal_ms},
          {"loss", program.loss()},
          {"steps", times.size()}};
}

int run(int argc, char** argv) {
  CudaOptions options;
  double seconds = 2;
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--tf32")
      options.tf32 = true;
    else if (word == "--no-graph")
      options.graph = false;
    else if (word == "--seconds" && i + 1 < argc)
      seconds = std::atof(argv[++i]);
    else
      names.push_back(word);
  }
  const auto backend = make_cuda_backend(options);
  for (const Size& s : kSizes)
    if (names.empty() || std::find(names.begin(), names.end(), s.name) != names.end())
      fmt::print("{}\n", measure(*backend, s, seconds, options.tf32, options.graph).dump());
  return 0;
}

}  // namespace
}  // namespace normscope::bench

int main(int argc, char** argv) {
  try {
    return normscope::bench::run(argc, argv);
  } catch (const normscope::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
