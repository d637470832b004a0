// A small model with disturbed weights and one text, for the tests of what is inside it.
#pragma once

#include <cmath>
#include <memory>
#include <vector>

#include "addons/inside/training/inside.h"
#include "addons/published/tests/training/small_model.h"
#include "addons/published/training/passage.h"
#include "engine/support/store_values.h"

namespace normscope::test {

struct InsideModel {
  explicit InsideModel(const ModelConfig& c) : config(c), backend(make_cpu_backend(1)), store(*backend) {
    Tape tape(store);
    record_transformer(tape, config, {.batch = 1, .sequence = config.sequence});
    store.materialize(3);
    disturb(store);
    text = Batch(1, static_cast<int32_t>(kText.size()));
    text.tokens = text.targets = kText;
    if (config.classes > 0) {
      text.targets.assign(kText.size(), -1);
      text.targets[0] = 1;
    } else {
      text = passage_batch(config, kText);
    }
  }
  Inside inside(const InsideQuestion& asked = {}) { return inside_of(store, config, text, asked); }
  std::vector<double> parameter(const std::string& name) const {
    const std::vector<float> values = store.read(store.find(name));
    return {values.begin(), values.end()};
  }

  ModelConfig config;
  std::unique_ptr<Backend> backend;
  Store store;
  Batch text;
};

inline std::vector<double> doubles(const std::vector<float>& numbers) {
  return {numbers.begin(), numbers.end()};
}

inline double length(const double* x, size_t n) {
  double square = 0;
  for (size_t i = 0; i < n; ++i) square += x[i] * x[i];
  return std::sqrt(square);
}

/// The logarithms of a row's probabilities.
inline std::vector<double> log_softmax(const std::vector<double>& row) {
  double sum = 0;
  for (const double x : row) sum += std::exp(x);
  std::vector<double> logs;
  for (const double x : row) logs.push_back(x - std::log(sum));
  return logs;
}

}  // namespace normscope::test
