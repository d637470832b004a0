// The constants of Muon, Adam less its leading direction, and AdamW^2, shared by the CPU's and the device's kernels.
#pragma once

#include "engine/core/philox.h"

namespace normscope {

/// Coefficients and number of the iterations of Newton and Schulz (Jordan et al. 2024); `kMuonEps` is added to the norm
/// by which they divide first. At a rate of one an update has the root mean square `kMuonSize`, as Adam's usually have
/// (Liu et al. 2025, arXiv 2502.16982).
inline constexpr float kMuonA = 3.4445f, kMuonB = -4.7750f, kMuonC = 2.0315f, kMuonEps = 1e-7f,
                       kMuonSize = 0.2f;
inline constexpr int kMuonIterations = 5;

/// The factor that takes an orthogonal matrix of this shape, of mean square 1 / max(rows, cols), to mean square
/// kMuonSize^2.
inline float muon_scale_of(int64_t rows, int64_t cols) {
  return kMuonSize * __builtin_sqrtf(static_cast<float>(rows > cols ? rows : cols));
}

/// Iterations of the power method on u'u, which finds the leading direction of a matrix u. A second direction three
/// quarters as strong keeps (3/4)^24, a thousandth, of its part.
inline constexpr int kLeadingPasses = 12;
/// The length of u'u v below which u has no leading direction: an update of zeros stays zeros.
inline constexpr float kMinLeading = 1e-17f;

/// The vector with which the passes begin: numbers spread evenly over [-1, 1), unlike any row of a model's matrices.
NORMSCOPE_HD inline float leading_start(int64_t i) {
  return static_cast<float>(static_cast<uint32_t>(i + 1) * 0x9E3779B9u >> 8) * 0x1p-23f - 1.0f;
}

/// AdamW^2: the factor of a step whose largest singular value is `step`, for weights with `weights`. A matrix of zeros
/// has no size to be a share of, and moves freely; the factor of a step that is not finite is 1, so that it shows.
NORMSCOPE_HD inline float bounded_factor(float bound, double weights, double step) {
  const double most = static_cast<double>(bound) * weights;
  return most > 0 && step > most ? static_cast<float>(most / step) : 1.0f;
}

}  // namespace normscope
