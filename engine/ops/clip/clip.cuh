// The clip factor, computed by clip, or by grad_norm in the same launch:
//   factor  =  min(1, bound / total gradient norm), or 1 where the bound is 0
// A norm that is not finite stays visible: NaN gives NaN, infinity gives 0.
#pragma once

#include "engine/cuda/context.cuh"

namespace normscope::cuda {

__device__ inline double clip_factor_of(float bound, double total_norm) {
  const double ratio = static_cast<double>(bound) / total_norm;
  return bound > 0.0f && !(ratio >= 1.0) ? ratio : 1.0;
}

}  // namespace normscope::cuda
