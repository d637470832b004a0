// The norm family.
#pragma once

#include "engine/tape/tape.h"

namespace normscope {

/// The kinds of the layer_norm family, with y = (x - mean) / sigma, sigma = sqrt(biased variance + eps):
/// LayerNorm g*y+b; Simple y; Rms g*x/sqrt(mean x^2 + eps). Xu et al. 2019: Detach, DetachMean and
/// DetachVariance compute y and hold mean and sigma, the mean only, or sigma only constant in the backward
/// pass; AdaNorm C(1 - k y)*y with the first factor held constant in the backward pass (section 4). DyT (Zhu
/// et al. 2025) knows no statistics: g*tanh(alpha x)+b with one learned alpha.
enum class NormKind : uint8_t {
  None,
  LayerNorm,
  Simple,
  Rms,
  Detach,
  DetachMean,
  DetachVariance,
  AdaNorm,
  DyT
};
inline constexpr NormKind kNormKinds[] = {
    NormKind::None,       NormKind::LayerNorm,      NormKind::Simple,  NormKind::Rms, NormKind::Detach,
    NormKind::DetachMean, NormKind::DetachVariance, NormKind::AdaNorm, NormKind::DyT};
const char* to_string(NormKind kind);

/// What a kind has and what its backward pass differentiates: read by recorder, kernels and references alike.
constexpr bool has_gain(NormKind k) {
  return k == NormKind::LayerNorm || k == NormKind::Rms || k == NormKind::DyT;
}
constexpr bool has_bias(NormKind k) { return k == NormKind::LayerNorm || k == NormKind::DyT; }
constexpr bool has_alpha(NormKind k) { return k == NormKind::DyT; }
constexpr bool is_centred(NormKind k) { return k != NormKind::Rms && k != NormKind::DyT; }
constexpr bool mean_has_gradient(NormKind k) {
  return is_centred(k) && k != NormKind::Detach && k != NormKind::DetachMean;
}
constexpr bool sigma_has_gradient(NormKind k) {
  return k != NormKind::Detach && k != NormKind::DetachVariance && k != NormKind::DyT;
}

struct NormSpec {
  static constexpr OpKind kOp = OpKind::LayerNorm;
  NormKind kind = NormKind::None;
  int32_t heads = 1;  ///< parts of a row, each a row of its own
  float eps = 1e-5f;
  float scale = 1.0f, slope = 0.1f;  ///< AdaNorm's C and k (Xu et al. 2019, section 4.2)
  friend bool operator==(const NormSpec&, const NormSpec&) = default;
};

/// The norm family over the last dimension; see NormKind. gain (D) and bias (D) as the kind has them, else
/// kNone. saved[0] = mean (R) (zero for Rms), saved[1] = 1/sigma (R). Two-pass variance. With heads > 1 each
/// of that many equal parts of a row is a row of its own (R = heads rows, gain and bias (D/heads), shared).
/// DyT: out = gain tanh(alpha x) + bias, alpha (1); saved[0] = 0, saved[1] = what the row was multiplied by
/// on the whole, root of (sum tanh(alpha x)^2 / sum x^2), which can be read beside the 1/sigma of the others.
struct NormExtras {
  ValueId alpha = kNone;             ///< DyT
  float scale = 1.0f, slope = 0.1f;  ///< AdaNorm's C and k
};
ValueId layer_norm(Tape&, const std::string& name, NormKind kind, ValueId x, ValueId gain, ValueId bias,
                   float eps, int32_t heads = 1, const NormExtras& extras = {});

}  // namespace normscope
