// What the tests of live measurements measure; `number` finds a measurement by its name.
#pragma once

#include <algorithm>

#include "catch.hpp"
#include "engine/cpu/backend_cpu.h"
#include "engine/model/transformer.h"
#include "engine/support/store_values.h"
#include "engine/tape/seal.h"
#include "training/measure/initial_analysis.h"
#include "training/measure/step_metrics.h"

namespace normscope::test {

/// A sealed program over weights that are pushed away from their start.
struct DisturbedModel {
  DisturbedModel(const ModelConfig& c, const RecordOptions& shape, uint64_t seed = 3)
      : config(c),
        backend(make_cpu_backend(1)),
        store(*backend),
        tape(store),
        model(record_transformer(tape, config, shape)) {
    store.materialize(seed);
    disturb(store);
    program = std::make_unique<Program>(seal(tape, {.loss = model.loss}));
  }
  void replay(const Batch& batch) {
    std::ranges::copy(batch.tokens, program->tokens("tokens").begin());
    std::ranges::copy(batch.targets, program->tokens("targets").begin());
    program->replay({.seed = 1, .lr = 0.0f});
  }
  /// The first numbers of a tensor.
  std::vector<double> first(ValueId v, size_t count) const {
    const std::vector<float> all = program->read(tape.value(v).name);
    return {all.begin(), all.begin() + static_cast<int64_t>(count)};
  }
  /// The given width: a single number as often, `absent` where there is no such parameter.
  std::vector<double> parameter(const std::string& name, size_t width, double absent) const {
    const int32_t p = store.find(name);
    if (p < 0) return std::vector<double>(width, absent);
    const std::vector<float> values = store.read(p);
    std::vector<double> out(width, static_cast<double>(values[0]));
    if (values.size() == width) out.assign(values.begin(), values.end());
    return out;
  }

  ModelConfig config;
  std::unique_ptr<Backend> backend;
  Store store;
  Tape tape;
  ModelValues model;
  std::unique_ptr<Program> program;
};

inline double number(const LiveMeasurements& live, const std::vector<double>& numbers,
                     const std::string& name) {
  for (size_t i = 0; i < numbers.size(); ++i)
    if (live.layout()[i].name == name) return numbers[i];
  FAIL("no measurement named " << name);
  return 0;
}

}  // namespace normscope::test
