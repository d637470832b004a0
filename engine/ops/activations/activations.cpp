// An activation records one node. It saves nothing; its backward pass reads x.
#include "engine/ops/activations/activations.h"

#include "engine/ops/rules.h"

namespace normscope {

#define ACTIVATION(Kind, op_name)                                               \
  ValueId op_name(Tape& tape, const std::string& name, ValueId x) {             \
    const Shape shape = tape.shape(x);                                          \
    return tape.add_node({.op = OpKind::Kind, .name = name, .in = {x}}, shape); \
  }
#include "engine/ops/activations/activations.def"
#undef ACTIVATION

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
      {.title = "GELU",
       .formula =
           R"(y = \frac{x}{2} (1 + t), \quad t = \operatorname{tanh}(u), \quad u = \sqrt{2/\pi} (x + 0.044715 x^3))",
       .shapes = "x and y of any one shape",
       .rule =
           R"(dx = dy \odot \left(\frac{1 + t}{2} + \frac{x}{2} (1 - t^2) \sqrt{2/\pi} (1 + 0.134145 x^2)\right))",
       .source = "Hendrycks and Gimpel 2016, the tanh form",
       .reads = {1}}};
  return {kRows};
}

}  // namespace normscope
