// What a norm does to one number beside its statistics: the curve of DyT and Derf, and AdaNorm's factor.
#pragma once

#include <cmath>
#include <numbers>

#include "engine/ops/layer_norm/layer_norm.h"

namespace normscope {

/// What a kind without statistics makes of u = alpha x + shift: tanh u (DyT), erf u (Derf).
template <class S>
S norm_curve(NormKind kind, S u) {
  return has_shift(kind) ? std::erf(u) : std::tanh(u);
}

/// Its derivative by u.
inline double norm_curve_slope(NormKind kind, double u) {
  if (has_shift(kind)) return 2 / std::sqrt(std::numbers::pi) * std::exp(-u * u);
  const double t = std::tanh(u);
  return 1 - t * t;
}

/// What a kind multiplies y = z / sigma by beside a gain, held constant in the backward pass: AdaNorm's C (1 - k y).
template <class S>
S held_factor(S scale, S slope, S z, S inverse_sigma) {
  return scale * (1 - slope * z * inverse_sigma);
}

}  // namespace normscope
