// The numbers of Adam less its leading direction, for both machines.
#pragma once

#include <cstdint>

#include "engine/core/philox.h"

namespace normscope {

/// Passes there and back that find the leading direction. A second direction three quarters as strong keeps
/// (3/4)^24, a thousandth, of its part.
inline constexpr int kLeadingPasses = 12;
/// The length of u'v below which there is no direction: a step of nothing keeps zeros.
inline constexpr float kLeadingLeast = 1e-17f;

/// Where the passes begin: numbers spread evenly over [-1, 1), of which no matrix of a model is a multiple.
NORMSCOPE_HD inline float leading_start(int64_t i) {
  return static_cast<float>(static_cast<uint32_t>(i + 1) * 0x9E3779B9u >> 8) * 0x1p-23f - 1.0f;
}

}  // namespace normscope
