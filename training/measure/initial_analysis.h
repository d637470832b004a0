// These measurements are taken on request, each with its own programs over a Store: none changes a bit of a run (a
// perturbation works on a clone). Used by lessons, the command line and tests.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/model/transformer.h"
#include "engine/tape/program.h"
#include "engine/tape/store.h"
#include "training/data/task.h"

namespace normscope {

/// Draws the inputs that the theorems assume: uniform random tokens and targets, and x ~ N(0,1). It is a pure function
/// of (config, B, T, seed).
Batch random_batch(const ModelConfig& config, int32_t B, int32_t T, uint64_t seed);

/// A freshly initialised Store of the config (Admin profiled on the batch).
Store initial_store(Backend& backend, const ModelConfig& config, const Batch& batch, uint64_t seed);

/// The norm of dL/dW for every parameter. With positions = 0, L is the loss of the whole batch,
/// the mean over its positions. Xiong et al. 2020, Theorem 1 bounds such a gradient from above (the loss of a whole
/// sequence, for W2 of the last layer). With positions > 0, L is the loss of one position, and the norm is the root
/// of the mean square over that many rows spread evenly over the batch. Their equation 46 passes through this number;
/// by Jensen's inequality the gradient of the mean over the same positions is never larger. Where token states and
/// labels are alike, the gradients of positions add up and the two norms come close. Where labels are random, the
/// gradients cancel, and the mean over n positions is smaller by about the root of n.
struct GradientProfile {
  std::vector<std::string> names;  ///< parameters, in the Store's order
  std::vector<double> norms;
  double at(const std::string& name) const;  ///< throws Error for an unknown name
};
GradientProfile gradient_profile(Store& store, const ModelConfig& config, const Batch& batch,
                                 int32_t positions);

/// What stands before the names of the stack that predicts: "dec." where there are two stacks, else nothing. A number
/// that is named without a stack is of that one.
std::string predicting_prefix(const ModelConfig& config);

/// The residual dependency of the whole batch: beta2[i-1][j] = beta^2_ij (see LiveMeasurements), j = 0..i, of the stack
/// that predicts.
std::vector<std::vector<double>> residual_dependency(Store& store, const ModelConfig& config,
                                                     const Batch& batch);
/// The same out of measurements that are there already.
std::vector<std::vector<double>> shares_in(std::span<const StatInfo> layout, std::span<const double> numbers,
                                           const ModelConfig& config);
/// The sum over i of beta^2_ii, which predicts the output change (Liu et al. 2020, Theorem 2); NaN of no row at all.
double sum_of_own_shares(const std::vector<std::vector<double>>& beta2);

/// The output change
///   D = mean over tokens and features of (F(x, W) - F(x, W + delta))^2 / Var(F).
/// The final state is normalised first, so D = 2 means two unrelated states (Liu et al. 2020, section 4.2). delta is
/// Gaussian, for each weight matrix of the sub-layers with `relative` times its standard deviation. Gains, biases,
/// scales and the input x_0 stay as they are; the authors' code also perturbs the embedding, which adds a change at
/// N = 0 that no sub-layer made. It works on a clone.
double output_change(const Store& store, const ModelConfig& config, const Batch& batch, double relative,
                     uint64_t seed);

/// The same D between two Stores of one config, which shows what an optimizer step changed.
double output_difference(Store& before, Store& after, const ModelConfig& config, const Batch& batch);

/// The line y = a + slope x by least squares; r2 is the coefficient of determination.
struct LinearFit {
  double slope = 0, r2 = 0;
};
LinearFit linear_fit(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace normscope
