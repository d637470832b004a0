// Measures the critical rate of a step: the learning rate at which its update would neither lower nor
// raise the loss of its own batch. It tries other multiples of the same update. Two over the critical rate is the
// critical sharpness of Kalra et al. (2026, A Scalable Measure of Loss Landscape Curvature; the abstract was read).
// Where the loss along the update is quadratic, the critical rate is
//   2 |g·d| / dᵀHd,  with d the update at a rate of one;
//   2 / (ĝᵀHĝ),      for plain SGD, with ĝ the direction of the gradient.
// The rate of plain SGD is never below 2 over the largest eigenvalue of H.
//
// Promises: the run is only read. Trials use a Store and programs of their own, so no bit of the run changes. They have
// the batch, dropout masks and label smoothing of the step, so that only the update differs. Called by Run at every
// n-th step (train.critical_every), and by Run::step_along for the loss at given rates.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <span>
#include <vector>

#include "engine/model/model_config.h"
#include "engine/tape/program.h"
#include "engine/tape/store.h"
#include "training/data/task.h"
#include "training/run/run.h"

namespace normscope {

/// The range of multiples of the update that are tried, spaced evenly by their logarithm.
inline constexpr double kMinMultiple = 1.0 / 64, kMaxMultiple = 1024;

/// Finds the multiple c > 0 of an update at which loss_at(c) crosses `start`, the loss before it.
/// It bisects by log c, in at most kCriticalPasses (spec.h) calls, down to neighbours a factor of 1.2 apart: the lower
/// did not raise the loss, the higher did. Between them it takes the root of the straight line through
/// (loss - start) / c at both ends, which is exact where the loss is quadratic. Where even kMinMultiple raises the
/// loss, it returns kMinMultiple as an upper bound; where kMaxMultiple does not, kMaxMultiple as a lower bound. A loss
/// that is not finite counts as raised. Where the loss crosses several times, it finds one of the upward crossings.
double critical_multiple(double start, const std::function<double(double)>& loss_at);

class CriticalRate {
 public:
  /// `run` is the run's Store, as it is given to before(), after() and along() with its current weights.
  CriticalRate(const Store& run, const ModelConfig& model, bool reuse_bytes);
  CriticalRate(const CriticalRate&) = delete;
  CriticalRate& operator=(const CriticalRate&) = delete;

  /// Keeps the weights that the update of the next replay starts from.
  void before(const Store& run);
  /// The critical rate, in units of the learning rate, of the step that `step` has just replayed on a
  /// batch of that shape. NaN without an update, or where the step's own loss is not finite.
  double after(const Store& run, Program& step, const BatchShape& shape, const StepInputs& inputs);
  /// The loss of that step's batch at each of these multiples of its update: 0 is the start of the step. NaN as for
  /// after().
  std::vector<double> along(const Store& run, Program& step, const BatchShape& shape,
                            const StepInputs& inputs, std::span<const double> multiples);

 private:
  Program& program_for(const BatchShape& shape);
  /// The loss as a function of the multiple of the step's update; empty without an update.
  std::function<double(double)> trial(const Store& run, Program& step, const BatchShape& shape,
                                      const StepInputs& inputs);

  Store store_;  ///< the weights that are tried
  ModelConfig model_;
  bool reuse_bytes_;                        ///< of SealOptions
  std::map<BatchShape, Program> programs_;  ///< forward only, with the dropout of training
  std::vector<float> from_, to_, tried_;    ///< all weights: before the update, after it, at a multiple of it
};

/// The curvature of the loss along a direction. Both are NaN where the tried rates do not enclose the critical rate.
struct Curvature {
  double critical_rate = std::numeric_limits<double>::quiet_NaN();
  double curvature = std::numeric_limits<double>::quiet_NaN();  ///< 2 over the critical rate
};

/// On the batch of the next step, with g the gradient and H the Hessian of its loss: along the update, d at a rate of
/// one, the curvature of the preconditioned Hessian, dᵀHd / |g·d|; along the gradient, as plain SGD goes, ĝᵀHĝ
/// with ĝ = g / |g|, which is below the largest eigenvalue of H. Both are exact where the loss is quadratic. QK-clip
/// and unit vectors count as part of an update; along the gradient there is no clip, decay or momentum.
struct NextCurvature {
  Curvature update, gradient;
};
/// Computed from critical rates, without a second derivative. Takes its steps on copies of the run.
NextCurvature next_curvature(const Run& run);

}  // namespace normscope
