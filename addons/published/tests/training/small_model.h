// A small model, and a text of its symbols.
#pragma once

#include <vector>

#include "engine/model/transformer.h"

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

}  // namespace normscope::test
