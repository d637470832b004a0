// The critical rate of a step: the learning rate at which its update would neither lower nor raise the loss of its own
// batch, found by trying other multiples of that very update. Two over it is the critical sharpness of Kalra et al.
// (2026, A Scalable Measure of Loss Landscape Curvature; the abstract was read). Where the loss along the update is
// quadratic the rate is 2 |g·d| / dᵀHd, d the update at a rate of one: of plain SGD 2 / (ĝᵀHĝ), ĝ the direction of the
// gradient, and then never below 2 over the largest eigenvalue of H.
//
// Promises: the run is only read. What is tried lies in a Store and programs of its own, so that no bit of the run
// changes. Same batch, same dropout masks, same label smoothing as the step, so that the update alone makes the
// difference. Called by Run at every n-th step (train.critical_every).
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "engine/model/model_config.h"
#include "engine/tape/program.h"
#include "engine/tape/store.h"
#include "training/data/task.h"

namespace normscope {

/// Multiples of the update that are tried lie between these, evenly by their logarithm.
inline constexpr double kLeastMultiple = 1.0 / 64, kMostMultiple = 1024;

/// The multiple c > 0 of an update at which loss_at(c) crosses `start`, the loss before it: bisection by log c in
/// kCriticalPasses calls at most, down to a factor of 1.2, between the neighbouring multiples of which the lower did
/// not raise the loss and the higher did; inside, the root of the straight line through (loss - start) / c at both ends,
/// which is exact where the loss is quadratic. Where even kLeastMultiple raises the loss it is that, an upper bound;
/// where kMostMultiple does not, that, a lower bound. A loss that is not finite counts as raised. Of a loss that crosses
/// several times it is one of the crossings upwards.
double critical_multiple(double start, const std::function<double(double)>& loss_at);

class CriticalRate {
 public:
  /// `run`: the Store of the run, whose weights at a time are handed over by before() and after().
  CriticalRate(const Store& run, const ModelConfig& model, bool reuse_bytes);
  CriticalRate(const CriticalRate&) = delete;
  CriticalRate& operator=(const CriticalRate&) = delete;

  /// Ahead of the replay of a step: keeps the weights that its update starts from.
  void before(const Store& run);
  /// Behind it: the critical rate of the step that `step` has just replayed on a batch of that shape; in units of the
  /// learning rate. NaN without an update, or where the step's own loss is not finite.
  double after(const Store& run, Program& step, const BatchShape& shape, const StepInputs& inputs);

 private:
  Program& program_for(const BatchShape& shape);

  Store store_;  ///< of what is tried
  ModelConfig model_;
  bool reuse_bytes_;
  std::map<BatchShape, Program> programs_;  ///< forward alone, with the dropout of training
  std::vector<float> from_, to_,
      tried_;  ///< a whole block of values each: before the update, behind it, at a multiple
};

}  // namespace normscope
