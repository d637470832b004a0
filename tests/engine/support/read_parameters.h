// Reads a store's parameters as the double-precision reference takes them.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/tape/store.h"
#include "reference/model.h"

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
