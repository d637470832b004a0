// The model fixture is a tiny decoder on the engine: Store, Tape, Program, a batch and the inputs of its steps.
#pragma once

#include <cmath>
#include <memory>
#include <vector>

#include "catch.hpp"
#include "engine/core/philox.h"
#include "engine/cpu/backend_cpu.h"
#include "engine/model/model_config.h"
#include "engine/model/transformer.h"
#include "engine/tape/seal.h"
#include "engine/tape/store.h"
#include "training/spec/update_rule.h"

namespace normscope::test {

struct TinyOptions {
  Placement placement = Placement::Post;
  NormKind norm = NormKind::LayerNorm;
  int32_t layers = 2, width = 24, heads = 3, feed_forward = 40, vocabulary = 17, batch = 2, sequence = 11;
  bool tied = true;
  Activation activation = Activation::Relu;
  bool probes = true, row_weights = false, clip = false;
  bool reuse_bytes = false;
  int32_t classes = 0;       ///< > 0: an encoder that classifies by the mean over its positions
  float dropout = 0;         ///< all three kinds
  AddedSettings added = {};  ///< of RecordOptions
  Optimizer optimizer = Optimizer::Adam;
  int threads = 1;
  uint64_t seed = 7;
  void (*change)(ModelConfig&) = nullptr;  ///< of whatever else the config has
};

inline ModelConfig tiny_config(const TinyOptions& o) {
  ModelConfig c;
  c.layers = o.layers;
  c.d_model = o.width;
  c.heads = o.heads;
  c.feed_forward = o.feed_forward;
  c.vocabulary = o.vocabulary;
  c.sequence = o.sequence + 2;  // positions that no batch reaches
  c.activation = o.activation;
  c.tied_output = o.tied;
  if (o.classes > 0) {
    c.architecture = Architecture::Encoder;
    c.pooling = Pooling::Mean;
    c.classes = o.classes;
  }
  c.norm = o.norm;
  c.dropout_residual = c.dropout_attention = c.dropout_activation = o.dropout;
  set_placement(c, o.placement);
  if (o.change) o.change(c);
  return c;
}

/// Lets `act` change the values of a parameter.
template <typename Act>
void change(Store& store, const std::string& name, Act&& act) {
  const int32_t at = store.find(name);
  REQUIRE(at >= 0);
  std::vector<float> values = store.read(at);
  std::forward<Act>(act)(values);
  store.write(at, values);
}

/// Moves gains, biases and learned scales away from 1 and 0, as in a trained model.
inline void perturb(Store& store) {
  for (const ParameterInfo& info : store.parameters()) {
    if (info.init.kind == Init::Kind::Normal) continue;
    if (!info.trainable && info.init.kind != Init::Kind::Zeros) continue;  // a table or a constant
    change(store, info.name, [&](std::vector<float>& values) {
      for (size_t i = 0; i < values.size(); ++i) {
        const uint32_t word = philox({static_cast<uint32_t>(i), site_of(info.name), 0, 0}, 13)[0];
        values[i] += 0.4f * (static_cast<float>(word) / 4294967296.0f - 0.4f);
      }
    });
  }
}

class Tiny {
 public:
  explicit Tiny(const TinyOptions& options = {}) : Tiny(options, make_cpu_backend(options.threads)) {}
  Tiny(const TinyOptions& options, std::shared_ptr<Backend> shared)
      : o(options), backend(std::move(shared)), store(std::make_unique<Store>(*backend)) {
    Tape tape(*store);
    model = record(tape);
    store->materialize(o.seed);
    perturb(*store);
    program = std::make_unique<Program>(seal_tape(tape));
  }

  ModelValues record(Tape& tape) const {
    return record_transformer(tape, tiny_config(o),
                              {.batch = o.batch,
                               .sequence = o.sequence,
                               .row_weights = o.row_weights,
                               .probes = o.probes,
                               .added = o.added});
  }
  Program seal_tape(const Tape& tape) const {
    return seal(tape, {.loss = tape.find("loss"),
                       .update = update_op(o.optimizer),
                       .clip = o.clip,
                       .reuse_bytes = o.reuse_bytes});
  }
  /// Makes another program over the same Store, as if recorded afresh.
  void record_again() {
    Tape tape(*store);
    record(tape);
    program = std::make_unique<Program>(seal_tape(tape));
  }

  /// Makes the batch of a step, which is a pure function of the step.
  void fill(uint32_t step) {
    const auto word = [&](uint32_t i, uint32_t purpose) { return philox({i, purpose, step, 0}, 11)[0]; };
    std::span<int32_t> tokens = program->tokens("tokens"), targets = program->tokens("targets");
    for (size_t i = 0; i < tokens.size(); ++i) {
      tokens[i] =
          static_cast<int32_t>(word(static_cast<uint32_t>(i), 0) % static_cast<uint32_t>(o.vocabulary));
      targets[i] = i % 7 == 3 ? -1 : (tokens[i] * 3 + 1) % (o.classes > 0 ? o.classes : o.vocabulary);
    }
    if (o.row_weights)
      for (size_t i = 0; i < program->floats("weights").size(); ++i)
        program->floats("weights")[i] = 0.25f + static_cast<float>(word(static_cast<uint32_t>(i), 1) % 8);
  }

  StepInputs inputs(uint32_t step) const {
    StepInputs s;
    s.seed = o.seed;
    s.step = step;
    s.lr = 3e-3f;
    s.bias_correction1 = static_cast<float>(1 - std::pow(static_cast<double>(s.beta1), step));
    s.bias_correction2 = static_cast<float>(1 - std::pow(static_cast<double>(s.beta2), step));
    s.momentum = 0.9f;
    s.clip = o.clip ? 0.5f : 0.0f;
    for (DropoutInputs& d : s.dropout) d = DropoutInputs::of(static_cast<double>(o.dropout));
    return s;
  }

  /// The logits of the batch that is filled in, at the weights as they are, which it leaves alone.
  std::vector<float> logits() {
    StepInputs still = inputs(1);
    still.lr = 0;
    program->replay(still);
    return program->read("logits");
  }

  void step(uint32_t number) {
    fill(number);
    program->replay(inputs(number));
  }
  void steps(uint32_t first, uint32_t last) {
    for (uint32_t s = first; s <= last; ++s) step(s);
  }

  /// Every bit that a run leaves behind: values and both moments of all parameters.
  std::vector<float> state() const {
    std::vector<float> all;
    for (const auto block : {Store::Block::Value, Store::Block::M, Store::Block::V})
      for (size_t p = 0; p < store->parameters().size(); ++p)
        for (float v : store->read(static_cast<int32_t>(p), block)) all.push_back(v);
    return all;
  }

  TinyOptions o;
  std::shared_ptr<Backend> backend;
  std::unique_ptr<Store> store;
  ModelValues model;
  std::unique_ptr<Program> program;
};

}  // namespace normscope::test
