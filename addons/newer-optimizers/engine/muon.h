// The numbers of Muon, for both machines.
#pragma once

#include <cstdint>

namespace normscope {

/// Coefficients and number of the iterations of Newton and Schulz (Jordan et al. 2024),
/// `kMuonEps` what is added to the norm before it, and `kMuonSize` the root of the mean square that an update has at a
/// rate of one, as Adam's updates usually have it (Liu et al. 2025, arXiv 2502.16982).
inline constexpr float kMuonA = 3.4445f, kMuonB = -4.7750f, kMuonC = 2.0315f, kMuonEps = 1e-7f,
                       kMuonSize = 0.2f;
inline constexpr int kMuonIterations = 5;

/// Makes an orthogonal matrix of that shape, whose mean square is 1 / max(rows, cols), one of mean square
/// kMuonSize^2.
inline float muon_scale_of(int64_t rows, int64_t cols) {
  return kMuonSize * __builtin_sqrtf(static_cast<float>(rows > cols ? rows : cols));
}

}  // namespace normscope
