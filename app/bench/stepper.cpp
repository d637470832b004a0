#include "app/bench/stepper.h"

#include "engine/core/philox.h"
#include "engine/cpu/backend_cpu.h"
#include "engine/model/record_model.h"
#include "engine/spec/update_rule.h"
#include "engine/train/network.h"

namespace normscope::bench {
namespace {

constexpr Model kModels[] = {
    {"lesson", 6, 64, 4, 256, 64, 16, 96},
    {"deep", 18, 64, 4, 256, 64, 16, 96},
    {"wide", 6, 256, 4, 1024, 128, 16, 256},
    {"base", 6, 512, 8, 2048, 128, 32, 10000},
    {"encdec", 6, 512, 4, 1024, 64, 64, 10000, true, true, Placement::Pre, Architecture::EncoderDecoder},
    {"micro16", 1, 16, 4, 64, 16, 16, 27, false},
    {"micro32", 1, 32, 4, 128, 16, 16, 27, false},
    {"micro64", 1, 64, 4, 256, 16, 16, 27, false},
    {"hero", 6, 64, 4, 256, 64, 16, 30, false, true},
    {"hero-post", 6, 64, 4, 256, 64, 16, 30, false, true, Placement::Post},
    {"deep-post", 18, 64, 4, 256, 64, 16, 96, false, false, Placement::Post}};

}  // namespace

std::span<const Model> models() { return kModels; }

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const Model& m : kModels) names.emplace_back(m.name);
  return names;
}

ModelConfig config_of(const Model& m) {
  ModelConfig c;
  c.architecture = m.architecture;
  c.layers = m.layers;
  c.d_model = m.width;
  c.heads = m.heads;
  c.feed_forward = m.feed_forward;
  c.sequence = m.sequence;
  c.vocabulary = m.vocabulary;
  c.tied_output = m.tied;
  set_placement(c, m.placement);
  return c;
}

BatchShape shape_of(const Model& m) {
  return {m.batch, m.sequence, m.architecture == Architecture::EncoderDecoder ? m.sequence : 0, false};
}

ModelConfig convolutions_config() {
  ModelConfig c;
  c.architecture = Architecture::Convolutional;
  c.vocabulary = 256;
  c.classes = 10;
  c.images.height = c.images.width = 28;
  set_placement(c, Placement::Post);
  return c;
}

BatchShape convolutions_shape() { return {32, 1, 28 * 28, false}; }

double gflop_of(const Model& m) { return 1e-9 * step_flop(config_of(m), m.batch); }

Stepper::Stepper(const ModelConfig& model, const BatchShape& shape, int threads, const SealOptions& options)
    : backend(make_cpu_backend(threads)), store(*backend), config(model) {
  Tape tape(store);
  values = record_model(tape, model, record_options(shape, true));
  store.materialize(1);
  SealOptions seal_options = options;
  seal_options.loss = values.loss;
  seal_options.reuse_memory = true;  // as a run does
  program = std::make_unique<Program>(seal(tape, seal_options));
  const BatchView batch = inputs_of(*program, shape);
  uint32_t purpose = 0;
  for (const std::span<int32_t> rows : {batch.tokens, batch.targets, batch.source}) {
    uint32_t i = 0;
    const bool classes = model.classes > 0 && rows.data() == batch.targets.data();
    const auto outcomes = static_cast<uint32_t>(classes ? model.classes : model.vocabulary);
    for (int32_t& t : rows) t = static_cast<int32_t>(philox({i++, 1, purpose, 0}, 3)[0] % outcomes);
    ++purpose;
  }
  inputs.lr = 1e-4f;
  inputs.bias_correction1 = 0.1f;
  inputs.bias_correction2 = 0.02f;
  inputs.clip = 1e30f;
  constexpr double kDropout = 0.1;
  for (DropoutInputs& d : inputs.dropout) d = dropout_inputs(kDropout);
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

}  // namespace normscope::bench
