// The gradient of one element by differences: one instruction alone, with the gradient that arrives at its output, so
// that nothing else of the network can hide or excuse an error. Called by normscope tape --check.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "training/measure/step/step_player.h"

namespace normscope {

/// The central difference at one step h.
struct Difference {
  double h = 0, numeric = 0;
  double error = 0;  ///< |analytic - numeric| over the larger magnitude; 0 where both are 0, NaN where one is
};

/// L = sum dy y as a function of one element of one input of the node, dy the gradient at the node's output in this
/// step. Weights are those before the update.
struct NumericCheck {
  std::string node, input;  ///< names; the input's is its value's
  OpKind op = OpKind::Count;
  size_t place = 0;  ///< which input
  Shape shape;       ///< of the input
  int64_t element = 0;
  double value = 0;     ///< of the element
  double analytic = 0;  ///< by the backward kernel, this instruction's part of the gradient alone
  /// With the float kernels, the outputs' differences added up in double. Empty for a norm that holds something
  /// constant backward: a difference sees that move.
  std::vector<Difference> single;
  /// With the op in double precision (training/measure/step/reference.h). Empty where that would take too long.
  std::vector<Difference> exact;
  /// The one with the least error; nullptr: there is none.
  const Difference* best_single() const;
  const Difference* best_exact() const;
  bool stopped = false;  ///< before all differences were there
};

/// Of the CPU's kernels, also for a program of another backend. `input` < 0: the first that has a gradient; `element` <
/// 0: the one with the largest gradient there. Plays the step up to the node's backward instruction and then back to
/// where it stood. `stop` is asked between two differences: true leaves the rest out. Throws Error for what has no
/// gradient, or is not there.
NumericCheck check_element(StepPlayer& player, size_t node, int input = -1, int64_t element = -1,
                           const std::function<bool()>& stop = {});

/// "L01.ffn.1", "L01.ffn.1/L01.ffn.w1", either with an element behind it: "[17]" or, by coordinates, "[3,0,17]".
/// Throws Error for a name that is not on the tape or an element beyond the tensor.
NumericCheck check_element(StepPlayer& player, std::string_view what);

/// One element of every op that the program has with a gradient, in the order of recording.
std::vector<NumericCheck> check_every_op(StepPlayer& player);

/// A line a check: op, node, input and element, analytic, numeric at the best h, error.
std::string to_string(const std::vector<NumericCheck>& checks);

}  // namespace normscope
