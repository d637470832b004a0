// Disturbed weights are away from their start, for the tests of the live measurements.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/tape/store.h"
#include "reference/model.h"

namespace normscope {

/// Moves every gain, bias and learned scale by Gaussian noise, so that nothing is trivially one or zero.
inline void disturb(Store& store) {
  for (size_t p = 0; p < store.parameters().size(); ++p) {
    const ParameterInfo& info = store.parameters()[p];
    if (info.shape.rank != 1 || !info.trainable) continue;
    std::vector<float> values = store.read(static_cast<int32_t>(p));
    const std::vector<float> noise =
        initial_values(info.name + ".noise", info.shape, {Init::Kind::Normal, 0.3}, 5);
    for (size_t i = 0; i < values.size(); ++i) values[i] += noise[i];
    store.write(static_cast<int32_t>(p), values);
  }
}

}  // namespace normscope

// Reads a store's parameters as the double-precision reference takes them.

namespace normscope::test {

inline reference::Parameters parameters_of(const Store& store) {
  reference::Parameters all;
  for (size_t p = 0; p < store.parameters().size(); ++p) {
    const std::vector<float> v = store.read(static_cast<int32_t>(p));
    all[store.parameters()[p].name] = reference::Values(v.begin(), v.end());
  }
  return all;
}

}  // namespace normscope::test
