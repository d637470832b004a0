// A small model, and a text of its symbols.
#pragma once

#include "engine/support/model_fixture.h"

namespace normscope::test {

inline ModelConfig small_config(Placement placement, Architecture architecture = Architecture::Decoder) {
  ModelConfig config = tiny_config({.layers = 3, .heads = 4, .sequence = 9});
  config.architecture = architecture;
  set_placement(config, placement);
  return config;
}

/// Symbols of the small vocabulary.
inline const std::vector<int32_t> kText{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5};

}  // namespace normscope::test
