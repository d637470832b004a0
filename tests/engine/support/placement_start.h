// The placement start is a small model of any placement and architecture at its start, with one batch replayed. Used by
// the tests of placements.
#pragma once

#include <algorithm>

#include "engine/support/model_fixture.h"

namespace normscope::test {

inline ModelConfig config_of(Placement placement, Architecture architecture = Architecture::Decoder) {
  ModelConfig c = tiny_config({.layers = 4, .sequence = 7});
  c.architecture = architecture;
  set_placement(c, placement);
  return c;
}

/// A model at its start, with one batch replayed.
struct Start {
  explicit Start(ModelConfig c, uint64_t seed = 3)
      : config(std::move(c)), backend(make_cpu_backend(1)), store(*backend), tape(store) {
    values = record_transformer(tape, config, {.batch = 2, .sequence = 9, .source_sequence = source()});
    store.materialize(seed);
    program = std::make_unique<Program>(seal(tape, {.loss = values.loss, .update = kNoOp}));
    const auto fill = [&](const char* name, uint32_t what) {
      const auto to = program->tokens(name);
      for (size_t i = 0; i < to.size(); ++i)
        to[i] = static_cast<int32_t>(random_word(i, what, 1, Purpose::Batch, 3) % 17);
    };
    fill("tokens", 1);
    fill("targets", 2);
    if (source() > 0) fill("source", 3);
    program->replay({});
  }
  int32_t source() const { return config.architecture == Architecture::EncoderDecoder ? 7 : 0; }
  std::vector<float> read(ValueId v) const { return program->read(tape.value(v).name); }
  std::vector<float> weight(const std::string& name) const { return store.read(store.find(name)); }

  ModelConfig config;
  std::unique_ptr<Backend> backend;
  Store store;
  Tape tape;
  ModelValues values;
  std::unique_ptr<Program> program;
};

inline bool all_zero(const std::vector<float>& x) {
  return std::ranges::all_of(x, [](float v) { return v == 0.0f; });
}

}  // namespace normscope::test
