// A small model with disturbed weights and one text.
#pragma once

#include <memory>
#include <vector>

#include "engine/cpu/backend_cpu.h"
#include "engine/model/transformer.h"
#include "engine/support/disturb.h"
#include "training/data/task.h"
#include "training/measure/passage.h"

namespace normscope::test {

inline ModelConfig small_config(Placement placement, Architecture architecture = Architecture::Decoder) {
  ModelConfig config;
  config.architecture = architecture;
  config.layers = 3;
  config.d_model = 24;
  config.heads = 4;
  config.feed_forward = 40;
  config.sequence = 11;
  config.vocabulary = 17;
  set_placement(config, placement);
  return config;
}

/// Symbols of the small vocabulary.
inline const std::vector<int32_t> kText{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5};

struct SmallModel {
  explicit SmallModel(const ModelConfig& c) : config(c), backend(make_cpu_backend(1)), store(*backend) {
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
  std::vector<double> parameter(const std::string& name) const {
    const std::vector<float> values = store.read(store.find(name));
    return {values.begin(), values.end()};
  }

  ModelConfig config;
  std::unique_ptr<Backend> backend;
  Store store;
  Batch text;
};

}  // namespace normscope::test
