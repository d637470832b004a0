// The reference's numbers and operands: what every op of the reference is written on. See reference.h.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/core/philox.h"
#include "engine/core/shape.h"
#include "engine/tape/step_inputs.h"
#include "engine/tape/tape.h"

namespace normscope::reference {

using std::erf, std::exp, std::log, std::sqrt, std::tanh;

template <class S>
using Array = std::vector<S>;

/// The plain number, which decides branches and maxima and is what is detached. Var has its own.
inline double value_of(double x) { return x; }

inline size_t at(int64_t i) { return static_cast<size_t>(i); }

/// An input of an op, its numbers or its integers; an absent one is empty with a shape of rank 0.
template <class S>
struct Input {
  Shape shape;
  Array<S> numbers;
  std::vector<int32_t> integers;
};

/// Names an op by its type, so that each has a function `forward` of its own.
template <OpKind kind>
struct Op {};

/// One op with its inputs. A norm computes what its kind holds constant backward (mean, sigma, AdaNorm's
/// factor) from `held`, the numbers of x before one of them is moved, so that differences see the derivative that
/// backward computes; without it from x itself.
template <class S>
struct Call {
  const Attributes& attributes;
  const std::vector<Input<S>>& in;
  const StepInputs& step;
  const Array<double>* held = nullptr;

  const Array<S>& numbers(size_t k) const { return in[k].numbers; }
  const std::vector<int32_t>& integers(size_t k) const { return in[k].integers; }
  const Shape& shape(size_t k) const { return in[k].shape; }
};

/// An op's output and what it saves, in this order.
template <class S>
using Outputs = std::vector<Array<S>>;

/// Which elements a dropout keeps: those whose random word reaches the threshold.
inline std::vector<uint8_t> kept(int64_t elements, const StepInputs& step, DropoutKind kind, uint32_t site) {
  std::vector<uint8_t> keep(at(elements));
  const uint32_t threshold = step.dropout[static_cast<int>(kind)].threshold;
  for (size_t i = 0; i < keep.size(); ++i)
    keep[i] = random_word(i, site, step.step, Purpose::Dropout, step.seed) >= threshold;
  return keep;
}

inline double scale_of(const StepInputs& step, DropoutKind kind) {
  return static_cast<double>(step.dropout[static_cast<int>(kind)].scale);
}

}  // namespace normscope::reference
