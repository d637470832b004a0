// Measurements taken on request, each with its own programs over a Store: nothing here changes a bit of a run (a
// perturbation works on a clone). Used by lessons, the command line and tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/model/transformer.h"
#include "engine/tape/store.h"
#include "training/data/task.h"

namespace normscope {

/// Uniform random tokens and targets, x ~ N(0,1): what the theorems speak of. A function of (config, B, T, seed).
Batch random_batch(const ModelConfig& config, int32_t B, int32_t T, uint64_t seed);

/// A freshly initialised Store of the config (Admin profiled on the batch).
Store initial_store(Backend& backend, const ModelConfig& config, const Batch& batch, uint64_t seed);

/// Norm of dL/dW for every parameter. positions = 0: of the loss of the whole batch, the mean over its
/// positions. That is the kind of gradient that Xiong et al. 2020, Theorem 1 bounds from above (the loss of a
/// whole sequence, for W2 of the last layer). positions > 0: of the loss of one position, root of the mean
/// square over so many rows spread evenly over the batch; their equation 46 passes through this number, and
/// by Jensen's inequality the gradient of the mean over the same positions is never larger. Where token
/// states and labels are alike the gradients of positions add up and the two come close; where labels are
/// random they cancel, and the mean over n positions is smaller by about the root of n.
struct GradientProfile {
  std::vector<std::string> names;  ///< parameters, in the Store's order
  std::vector<double> norms;
  double at(const std::string& name) const;  ///< throws Error for an unknown name
};
GradientProfile gradient_profile(Store& store, const ModelConfig& config, const Batch& batch,
                                 int32_t positions);

/// Mean of x^2 over tokens and features after every sub-layer, x_0 first (Xiong et al. 2020, Lemma 2).
std::vector<double> hidden_mean_squares(Store& store, const ModelConfig& config, const Batch& batch);

/// Residual dependency of the whole batch: beta2[i-1][j] = beta^2_ij (see LiveMeasurements), j = 0..i.
std::vector<std::vector<double>> residual_dependency(Store& store, const ModelConfig& config,
                                                     const Batch& batch);
/// Sum over i of beta^2_ii: what Liu et al. 2020, Theorem 2 predicts the output change to follow.
double sum_of_own_shares(const std::vector<std::vector<double>>& beta2);

/// Output change D = mean over tokens and features of (F(x, W) - F(x, W + delta))^2 / Var(F): the final state
/// is normalised first, so D = 2 means two unrelated states (Liu et al. 2020, section 4.2). delta is Gaussian
/// with `relative` times the standard deviation of each weight matrix of the sub-layers; gains, biases and
/// scales stay as they are, and so does the input x_0 (the authors' code also shakes the embedding, which
/// adds a change at N = 0 that no sub-layer made). Works on a clone.
double output_change(const Store& store, const ModelConfig& config, const Batch& batch, double relative,
                     uint64_t seed);

/// The same D between two Stores of one config: what an optimizer step has changed, for instance.
double output_difference(Store& before, Store& after, const ModelConfig& config, const Batch& batch);

/// Least squares y = a + b x and its coefficient of determination.
struct LinearFit {
  double intercept = 0, slope = 0, r2 = 0;
};
LinearFit linear_fit(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace normscope
