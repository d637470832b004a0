#include "app/bench/device_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>

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

}  // namespace

std::vector<std::string> device_models() {
  std::vector<std::string> names;
  for (const Size& s : kSizes) names.push_back(s.name);
  return names;
}

nlohmann::json measure_on_device(Backend& backend, const std::string& model_name, double seconds, bool tf32, bool graph) {
  const Size* found = std::find_if(std::begin(kSizes), std::end(kSizes), [&](const Size& s) { return s.name == model_name; });
  if (found == std::end(kSizes)) fail("bench", "there is no model {} on a device: expected {}", model_name, fmt::join(device_models(), ", "));
  const Size& s = *found;
  using Clock = std::chrono::steady_clock;
  Store store(backend);
  Tape tape(store);
  const ModelConfig config = config_of(s);
  const ModelValues model = record_transformer(tape, config, {.batch = s.batch, .sequence = s.sequence});
  store.materialize(1);
  const auto before = Clock::now();
  Program program = seal(tape, {.loss = model.loss, .clip = true, .keep_probabilities = false});
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

}  // namespace normscope::bench
