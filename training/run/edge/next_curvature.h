// `next_curvature` says how sharply the loss bends at a run's weights, along two directions. Made of critical rates
// (critical_rate.h), so that no second derivative is computed. Asked by `normscope measure`.
#pragma once

#include <limits>

#include "training/run/run.h"

namespace normscope {

/// The curvature of the loss along a direction. Both numbers are NaN where no rate that was tried raises the loss.
struct Bend {
  double critical_rate = std::numeric_limits<double>::quiet_NaN();
  double curvature = std::numeric_limits<double>::quiet_NaN();  ///< 2 over the critical rate
};

/// `NextCurvature` has, on the batch of the next step, with g the gradient and H the Hessian of its loss:
/// along the update, d at a rate of one, the curvature of the preconditioned Hessian, dᵀHd / |g·d|;
/// along the gradient, as plain SGD goes, ĝᵀHĝ with ĝ = g / |g|, which is below the largest eigenvalue of H.
/// Both are exact where the loss is quadratic. QK-clip and unit vectors count as part of an update; along the gradient
/// there is no clip, decay or momentum.
struct NextCurvature {
  Bend update, gradient;
};
/// Takes its steps on copies of the run.
NextCurvature next_curvature(const Run& run);

}  // namespace normscope
