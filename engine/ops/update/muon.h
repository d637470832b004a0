// The numbers of Muon, for both machines.
#pragma once

#include <cstdint>

namespace normscope::muon {

/// `kA`, `kB`, `kC` and `kIterations` are those of the iteration of Newton and Schulz (Jordan et al. 2024), kEps what is
/// added to the norm before it, and kSize the root of the mean square that an update has at a rate of one, as Adam's
/// updates usually have it (Liu et al. 2025, arXiv 2502.16982).
inline constexpr float kA = 3.4445f, kB = -4.7750f, kC = 2.0315f, kEps = 1e-7f, kSize = 0.2f;
inline constexpr int kIterations = 5;

/// `scale_of` makes an orthogonal matrix of that shape, whose mean square is 1 / max(rows, cols), one of mean square
/// kSize^2.
inline float scale_of(int64_t rows, int64_t cols) {
  return kSize * __builtin_sqrtf(static_cast<float>(rows > cols ? rows : cols));
}

}  // namespace normscope::muon
