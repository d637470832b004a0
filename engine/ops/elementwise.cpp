// Each records one node and saves nothing: a backward pass reads what the forward pass read.
#include "engine/ops/elementwise.h"

#include <cmath>

#include "engine/core/error.h"
#include "engine/ops/rules.h"

namespace normscope {

ValueId activated(Tape& tape, Activation activation, const std::string& name, ValueId x) {
  static constexpr OpKind kOps[] = {
#define ACTIVATION(Kind, op, label) OpKind::Kind,
#include "engine/ops/ops.def"
  };
  const Shape shape = tape.shape(x);
  return tape.add_node({.op = kOps[static_cast<size_t>(activation)], .name = name, .in = {x}}, shape);
}

#define ACTIVATION(Kind, op, label)                            \
  ValueId op(Tape& tape, const std::string& name, ValueId x) { \
    return activated(tape, Activation::Kind, name, x);         \
  }
#include "engine/ops/ops.def"

ValueId soft_cap(Tape& tape, const std::string& name, ValueId x, float cap) {
  if (!(cap > 0) || !std::isfinite(cap))
    fail("soft_cap " + name, "a cap of {}: expected a finite number above zero", cap);
  const Shape shape = tape.shape(x);
  Node node{.op = OpKind::SoftCap, .name = name, .in = {x}};
  node.attributes = SoftCapSpec{cap};
  return tape.add_node(std::move(node), shape);
}

ValueId multiply(Tape& tape, const std::string& name, ValueId a, ValueId b) {
  const Shape shape = tape.shape(a);
  if (!(shape == tape.shape(b)))
    fail("multiply " + name, "factors {} and {} differ: expected the same shape", to_string(shape),
         to_string(tape.shape(b)));
  return tape.add_node({.op = OpKind::Multiply, .name = name, .in = {a, b}}, shape);
}

OpRules relu_rules() {
  static constexpr OpRule kRows[] = {{.title = "ReLU",
                                      .formula = R"(y = \max(x, 0))",
                                      .shapes = "x and y of any one shape",
                                      .rule = R"(dx = dy \text{ where } x > 0, \text{ else } 0)",
                                      .reads = {1}}};
  return {kRows};
}

OpRules gelu_rules() {
  static constexpr OpRule kRows[] = {
      {.title = "GELU, tanh form",
       .formula =
           R"(y = \frac{x}{2} (1 + t), \quad t = \operatorname{tanh}(u), \quad u = \sqrt{2/\pi} (x + 0.044715 x^3))",
       .shapes = "x and y of any one shape",
       .rule =
           R"(dx = dy \odot \left(\frac{1 + t}{2} + \frac{x}{2} (1 - t^2) \sqrt{2/\pi} (1 + 0.134145 x^2)\right))",
       .source = "Hendrycks and Gimpel 2016, the tanh form",
       .reads = {1}}};
  return {kRows};
}

OpRules gelu_erf_rules() {
  static constexpr OpRule kRows[] = {
      {.title = "GELU",
       .formula =
           R"(y = x \Phi(x), \quad \Phi(x) = \frac{1}{2} \left(1 + \operatorname{erf}\left(\frac{x}{\sqrt{2}}\right)\right))",
       .shapes = "x and y of any one shape",
       .rule = R"(dx = dy \odot (\Phi(x) + x \phi(x)), \quad \phi(x) = \frac{\exp(-x^2/2)}{\sqrt{2 \pi}})",
       .source = "Hendrycks and Gimpel 2016",
       .reads = {1}}};
  return {kRows};
}

OpRules silu_rules() {
  static constexpr OpRule kRows[] = {{.title = "SiLU",
                                      .formula = R"(y = x \odot s, \quad s = \frac{1}{1 + \exp(-x)})",
                                      .shapes = "x and y of any one shape",
                                      .rule = R"(dx = dy \odot s \odot (1 + x \odot (1 - s)))",
                                      .source = "Elfwing, Uchibe and Doya 2017; not checked",
                                      .reads = {1}}};
  return {kRows};
}

OpRules relu2_rules() {
  static constexpr OpRule kRows[] = {{.title = "Squared ReLU",
                                      .formula = R"(y = \max(x, 0)^2)",
                                      .shapes = "x and y of any one shape",
                                      .rule = R"(dx = 2 dy \odot \max(x, 0))",
                                      .source = "So et al. 2021 (Primer); not checked",
                                      .reads = {1}}};
  return {kRows};
}

OpRules soft_cap_rules() {
  static constexpr OpRule kRows[] = {
      {.title = "Soft cap",
       .formula = R"(y = c t, \quad t = \operatorname{tanh}\left(\frac{x}{c}\right))",
       .shapes = "x and y of any one shape; c constant",
       .rule = R"(dx = dy \odot (1 - t^2))",
       .source = "Gemma Team 2024, Gemma 2; not checked",
       .reads = {1}}};
  return {kRows};
}

OpRules multiply_rules() {
  static constexpr OpRule kRows[] = {{.title = "Product, number by number",
                                      .formula = R"(y = a \odot b)",
                                      .shapes = "a, b and y of any one shape",
                                      .rule = R"(da = b \odot dy, \quad db = a \odot dy)",
                                      .source = "as a gate: Dauphin et al. 2017, Shazeer 2020; not checked",
                                      .reads = {2, 1}}};
  return {kRows};
}

}  // namespace normscope
