// The gradient of one element by differences. It runs one instruction alone, with the gradient that arrives at its
// output, so that nothing else of the network can hide or excuse an error. Called by normscope tape --check.
#pragma once

#include "training/measure/step/step_player.h"

namespace normscope {

/// The central difference at one step h.
struct Difference {
  double h = 0, numeric = 0;
  double error = 0;  ///< |analytic - numeric| over the larger magnitude; 0 if both are 0, NaN if one is
};

/// It differentiates L = sum dy y by one element of one input of the node, with dy the gradient at the node's output
/// in this step. Weights are those before the update.
struct NumericCheck {
  std::string node, input;  ///< the input's name is its value's
  OpKind op = OpKind::Count;
  size_t place = 0;  ///< index of the input in the node
  Shape shape;       ///< of the input
  int64_t element = 0;
  double value = 0;     ///< the element's
  double analytic = 0;  ///< from the backward kernel: only this instruction's part of the gradient
  /// By the float kernels: central differences, the outputs' differences added in double. Empty for a norm whose
  /// backward pass treats a statistic as constant: a difference includes its change.
  std::vector<Difference> central;
  /// The same without the error of second order, by Richardson's extrapolation (1911) from the difference over 2h.
  std::vector<Difference> refined;
  /// The difference with the least error; nullptr: there is none.
  const Difference* best_central() const;
  const Difference* best_refined() const;
  bool stopped = false;  ///< `stop` ended it before all differences
};

/// Checks the CPU's kernels, also for a program of another backend. `input` < 0: the first input with
/// a gradient; `element` < 0: the element with the largest gradient there. It plays the step up to the node's backward
/// instruction and then back to its position. It asks `stop` between two differences; true leaves the rest out. Throws
/// Error for an element that has no gradient, or does not exist.
NumericCheck check_element(StepPlayer& player, size_t node, int input = -1, int64_t element = -1,
                           const std::function<bool()>& stop = {});

/// "L01.ffn.1" or "L01.ffn.1/L01.ffn.w1", either followed by an element: "[17]" or, by coordinates, "[3,0,17]". Throws
/// Error for a name that is not on the tape or an element beyond the tensor.
NumericCheck check_element(StepPlayer& player, std::string_view what);

/// Checks one element of every op with a gradient, in the order of recording.
std::vector<NumericCheck> check_every_op(StepPlayer& player);

/// Writes a line for each check: op, node, input and element, analytic, numeric at the best h, error.
std::string to_string(const std::vector<NumericCheck>& checks);

}  // namespace normscope
