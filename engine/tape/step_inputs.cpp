#include "engine/tape/step_inputs.h"

#include <cmath>

namespace normscope {

DropoutInputs dropout_inputs(double probability) {
  if (probability <= 0) return {};
  const double threshold = std::floor(probability * 4294967296.0);
  return {threshold >= 4294967295.0 ? 4294967295u : static_cast<uint32_t>(threshold),
          static_cast<float>(1.0 / (1.0 - probability))};
}

}  // namespace normscope
