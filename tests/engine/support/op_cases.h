// The op cases are what every op must withstand: at least one case per line of ops.def, at odd sizes, with random
// inputs, gains, biases and cotangents of non-zero mean. test_op_cases.cpp runs them through the CPU kernels,
// test_reference.cpp checks the reference itself. Whoever adds an op adds its cases to op_cases*.cpp: a test names any
// op without one.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "reference/var.h"

namespace normscope::test {

using reference::Array, reference::Values, reference::Var;
template <class S>
using Inputs = std::vector<Array<S>>;

struct Operand {
  Shape shape;
  DType dtype = DType::F32;
  bool present = true;         ///< false: the optional input is absent (kNone on the tape)
  bool differentiable = true;  ///< has a gradient
  bool zero_gradient =
      false;  ///< its gradient is exactly zero at this size (a softmax over one key, a norm over one value)
  std::vector<float> values = {};
  std::vector<int32_t> ints = {};
  double terms = 1;  ///< K of the bound on its gradient: the longest sum behind one element
};

/// An op on the tape with its inputs; its reference is reference/ops.h.
struct OpCase {
  OpKind op = OpKind::Count;
  std::string name;
  Attributes attributes;
  StepInputs step;
  std::vector<Operand> in;
  Shape out;
  std::vector<Shape> saved;
  double terms = 1;       ///< K of the bound on the outputs
  bool corners = false;   ///< its inputs may pass one in any step, where a difference is not a derivative
  bool reroutes = false;  ///< its gradient is not the derivative of its value, by definition
  /// The output first, then what is saved. Integer inputs are empty arrays here (the case knows them).
  template <class S>
  std::vector<Array<S>> forward(const Inputs<S>& x) const {
    std::vector<reference::Input<S>> inputs;
    for (size_t i = 0; i < in.size(); ++i)
      inputs.push_back({in[i].present ? in[i].shape : Shape{}, x[i], in[i].ints});
    return reference::forward<S>(op, {attributes, inputs, step});
  }
};

/// The inputs as the reference takes them: float values exactly, in double.
Inputs<double> inputs_of(const OpCase& c);

/// The reference's gradients, one array per input (empty where not differentiable): the derivative of its own forward.
std::vector<Values> gradients_of(const OpCase& c, const Inputs<double>& in, const Values& dy);

/// A cotangent with non-zero mean and non-zero correlation with the normalised rows. A norm's
/// backward removes these two directions, so leaving out either projection cannot pass.
Values cotangent_of(const OpCase& c, const Inputs<double>& in);

/// Makes deterministic random operands.
class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  Operand normal(Shape shape, double mean = 0.5, double deviation = 1.0);
  Operand integers(Shape shape, int32_t low, int32_t high);  ///< both ends included
  double normal() { return distribution_(engine_); }

 private:
  std::mt19937_64 engine_;
  std::normal_distribution<double> distribution_;
};
Operand absent();

/// All cases of ops with a forward and a backward (every op but the probe and the update ops).
const std::vector<OpCase>& op_cases();
std::vector<OpCase> embedding_cases();
std::vector<OpCase> linear_cases();
std::vector<OpCase> attention_cases();
std::vector<OpCase> concat_cases();
std::vector<OpCase> norm_cases();
std::vector<OpCase> elementwise_cases();
std::vector<OpCase> loss_cases();
std::vector<OpCase> squared_error_cases();
std::vector<OpCase> pool_cases();
/// Those of add-ons: a row OP_CASES(function) of op_cases.def in an add-on's folder, and the function in
/// tests/engine/op_cases*.cpp there.
std::vector<OpCase> addon_cases();
#define OP_CASES(function) std::vector<OpCase> function();
#include "chosen/op_cases.def"
#undef OP_CASES

}  // namespace normscope::test
