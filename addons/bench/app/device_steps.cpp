#include "addons/bench/app/device_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <span>

#include "addons/bench/app/stepper.h"
#include "engine/core/error.h"
#include "engine/core/philox.h"
#include "training/measure/look.h"

namespace normscope::bench {
namespace {

/// Fills the batch that this step uploads with random tokens.
void fill(Program& program, const Model& m, uint32_t step) {
  const BatchView batch = inputs_of(program, shape_of(m));
  for (const std::span<int32_t> rows : {batch.tokens, batch.targets, batch.source}) {
    uint32_t i = 0;
    for (int32_t& t : rows)
      t = static_cast<int32_t>(philox({i++, 1, step, 0}, 3)[0] % static_cast<uint32_t>(m.vocabulary));
  }
}

}  // namespace

std::vector<std::string> device_models() {
  std::vector<std::string> names;
  for (const Model& m : models())
    if (m.listed && is_transformer(m) && m.memory == 0) names.push_back(m.name);
  return names;
}

nlohmann::json measure_on_device(Backend& backend, const std::string& model_name, double seconds, bool tf32,
                                 bool graph) {
  const auto found = std::ranges::find(models(), model_name, &Model::name);
  if (found == models().end())
    fail("bench", "there is no model {} on a device: expected {}", model_name,
         fmt::join(device_models(), ", "));
  const Model& s = *found;
  using Clock = std::chrono::steady_clock;
  Store store(backend);
  Tape tape(store);
  const ModelConfig config = config_of(s);
  const ModelValues model = record_transformer(tape, config, record_options(shape_of(s), true));
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
  std::ranges::sort(times);
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
