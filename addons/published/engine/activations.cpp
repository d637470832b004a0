// How the activations of ../formulas.def describe themselves.
#include "engine/ops/rules.h"

namespace normscope {

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

OpRules relu2_rules() {
  static constexpr OpRule kRows[] = {{.title = "Squared ReLU",
                                      .formula = R"(y = \max(x, 0)^2)",
                                      .shapes = "x and y of any one shape",
                                      .rule = R"(dx = 2 dy \odot \max(x, 0))",
                                      .source = "So et al. 2021 (Primer); not checked",
                                      .reads = {1}}};
  return {kRows};
}

}  // namespace normscope
