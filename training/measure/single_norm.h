// These measure one norm, or one activation, alone on Gaussian rows, to test what lemmas say of it. The op is
// recorded, sealed and replayed forward and backward. Called by the curves of lessons and claims
// (app/course/curves.h) and tests.
#pragma once

#include <cstdint>

#include "engine/model/model_config.h"
#include "engine/tape/backend.h"

namespace normscope {

/// Rows x of `width` numbers, each Gaussian with standard deviation `scale` and mean `shift` times
/// that.
struct GaussianRows {
  int32_t width = 64;
  double scale = 1, shift = 0;
  uint64_t seed = 1;
};

/// The mean of |phi(x)|^2 over the mean of |x|^2, for the config's activation phi and some 260,000
/// numbers. Xiong et al. 2020, Lemma 1: one half for ReLU.
double activation_share(Backend& backend, const ModelConfig& config, const GaussianRows& rows);

/// The norm of the Jacobian dy/dx of the config's norm y = N(x), row by row from its backward pass, as
/// means over eight rows. Xiong et al. 2020, Lemma 3: |J|_2 = O(sqrt(width) / |x|). Throws Error where the config has
/// no norm.
struct JacobianNorm {
  double spectral = 0;  ///< |J|_2, the largest singular value
  double product = 0;   ///< |J|_2 |x| / sqrt(width), which the lemma bounds by a constant
};
JacobianNorm norm_jacobian(Backend& backend, const ModelConfig& config, const GaussianRows& rows);

/// How a gradient g = dl/dy changes on its way to dl/dx through the config's norm, over 256 rows
/// (Xu et al. 2019, Theorem 1). g is independent of x, with mean and deviation 1; sigma is the standard deviation of
/// a row of x. Throws as above.
struct NormGradient {
  /// Root mean square of sigma mean(dl/dx) over the one of mean(g): 1 if kept, 0 if re-centred.
  double mean = 0;
  double variance = 0;  ///< mean of sigma^2 Var(dl/dx) over the mean of Var(g): 1 if kept, less if re-scaled
};
NormGradient norm_gradient(Backend& backend, const ModelConfig& config, const GaussianRows& rows);

}  // namespace normscope
