#include "addons/bench/app/stepper.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <iterator>

#include "engine/core/philox.h"
#include "engine/cpu/backend_cpu.h"
#include "training/measure/look.h"
#include "training/spec/update_rule.h"

namespace normscope::bench {
namespace {

constexpr Model kModels[] = {
    {"lesson", 6, 64, 4, 256, 64, 16, 96},
    {"deep", 18, 64, 4, 256, 64, 16, 96},
    {"wide", 6, 256, 4, 1024, 128, 16, 256},
    {"base", 6, 512, 8, 2048, 128, 32, 10000},
    {"encdec", 6, 512, 4, 1024, 64, 64, 10000, true, true, Placement::Pre, "encoder-decoder"},
    {"memory", 6, 64, 4, 256, 64, 16, 96, true, false, Placement::Pre, "decoder", 64},
    {"convnet", 3, 0, 0, 0, 1, 32, 256, true, false, Placement::Post, "convolutional"},
    {"parser", 2, 50, 1, 512, 48, 1024, 10000, true, false, Placement::Pre, "parser"},
    {"micro16", 1, 16, 4, 64, 16, 16, 27, false},
    {"micro32", 1, 32, 4, 128, 16, 16, 27, false},
    {"micro64", 1, 64, 4, 256, 16, 16, 27, false},
    {"hero", 6, 64, 4, 256, 64, 16, 30, false, true},
    {"hero-post", 6, 64, 4, 256, 64, 16, 30, false, true, Placement::Post},
    {"deep-post", 18, 64, 4, 256, 64, 16, 96, false, false, Placement::Post}};

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

std::span<const Model> models() {
  static const std::vector<Model> all = [] {
    const std::vector<std::string_view> known = architecture_names();
    std::vector<Model> of_this_build;
    std::ranges::copy_if(kModels, std::back_inserter(of_this_build), [&](const Model& m) {
      return std::ranges::find(known, m.architecture) != known.end();
    });
    return of_this_build;
  }();
  return all;
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const Model& m : models()) names.emplace_back(m.name);
  return names;
}

const Model& model_of(std::string_view name) {
  const auto found = std::ranges::find(models(), name, &Model::name);
  if (found == models().end())
    fail("bench", "there is no model {}: expected {}", name, fmt::join(model_names(), ", "));
  return *found;
}

ModelConfig config_of(const Model& m) {
  ModelConfig c;
  c.architecture = architecture_from(m.architecture);
  c.layers = m.layers;
  c.d_model = m.width;
  c.heads = m.heads;
  c.feed_forward = m.feed_forward;
  c.sequence = m.sequence;
  c.vocabulary = m.vocabulary;
  c.tied_output = m.tied;
  c.memory = m.memory;
  if (m.memory > 0) c.positions = Positions::Relative;
  if (const auto fit = row_of(c.architecture).fit_usual_data) fit(c);
  set_placement(c, m.placement);
  return c;
}

BatchShape shape_of(const Model& m) {
  const ModelConfig c = config_of(m);
  const ArchitectureRow& row = row_of(c.architecture);
  const int32_t source = has_both(c) ? m.sequence : row.source ? row.source(c) : 0;
  return {m.batch, m.sequence, source, false, row.one_target};
}

int64_t targets_of(const Model& m) {
  return shape_of(m).one_target ? m.batch : int64_t{m.batch} * m.sequence;
}

double gflop_of(const Model& m) { return 1e-9 * step_flop(config_of(m), m.batch); }

Stepper::Stepper(const ModelConfig& model, const BatchShape& shape, int threads, const SealOptions& options)
    : backend(make_cpu_backend(threads)), store(*backend), config(model) {
  Tape tape(store);
  values = record_model(tape, model, record_options(shape, true, model.memory));
  store.materialize(1);
  SealOptions seal_options = options;
  seal_options.loss = values.loss;
  seal_options.reuse_bytes = true;  // as a run does
  program = std::make_unique<Program>(seal(tape, seal_options));
  fill(shape);
  inputs.lr = 1e-4f;
  inputs.bias_correction1 = 0.1f;
  inputs.bias_correction2 = 0.02f;
  inputs.clip = options.clip ? 1e30f : 0.0f;
  constexpr double kDropout = 0.1;
  for (DropoutInputs& d : inputs.dropout) d = DropoutInputs::of(kDropout);
}

void Stepper::fill(const BatchShape& shape) {
  const BatchView batch = inputs_of(*program, shape);
  uint32_t purpose = 0;
  for (const std::span<int32_t> rows : {batch.tokens, batch.targets, batch.source}) {
    uint32_t i = 0;
    const bool classes = config.classes > 0 && rows.data() == batch.targets.data();
    const auto outcomes = static_cast<uint32_t>(classes ? config.classes : config.vocabulary);
    for (int32_t& t : rows) t = static_cast<int32_t>(philox({i++, 1, purpose, 0}, 3)[0] % outcomes);
    ++purpose;
  }
  for (const LayerMemory& layer : values.memories) {  // of unit variance, as after a norm
    uint32_t i = 0;
    for (float& x : program->floats(layer.name))
      x = static_cast<float>(philox({i++, 1, purpose, 0}, 3)[0]) / 1239850263.0f - 1.7320508f;
    ++purpose;
  }
  if (!values.memories.empty()) std::ranges::fill(program->tokens("memory_lengths"), config.memory);
}

size_t Stepper::bytes() const {
  const MemoryPlan& plan = program->data().plan;
  return 4 * (3 * store.size() + plan.inputs + plan.activations + plan.gradients + plan.workspace);
}

size_t Stepper::parameters() const {
  size_t sum = 0;
  for (const ParameterInfo& p : store.parameters()) sum += static_cast<size_t>(p.shape.size());
  return sum;
}

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
  StepInputs inputs{.lr = 1e-4f, .bias_correction1 = 0.1f, .bias_correction2 = 0.02f};
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
