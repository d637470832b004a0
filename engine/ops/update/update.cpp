// The ops of the update are placed by seal and recorded by no function of their own: this file says what they compute.
#include "engine/ops/ops.h"

#include <cmath>

#include "engine/ops/rules.h"

namespace normscope {

StepInputs Adam::step(uint32_t t) const {
  StepInputs in{
      .step = t, .lr = lr, .beta1 = beta1, .beta2 = beta2, .eps = eps, .weight_decay = weight_decay};
  const auto correction = [t](float beta) {
    return static_cast<float>(1.0 - std::pow(static_cast<double>(beta), static_cast<double>(t)));
  };
  in.bias_correction1 = correction(beta1);
  in.bias_correction2 = correction(beta2);
  return in;
}

OpRules grad_norm_rules() {
  static constexpr OpRule kRows[] = {
      {.title = "Gradient norms",
       .formula = R"(n_p = \|dw_p\|, \quad n = \sqrt{\sum_p n_p^2})",
       .shapes = "all parameters; a number each and their total in the stats block"}};
  return {.rules = kRows, .passes = 1};
}

OpRules clip_rules() {
  static constexpr OpRule kRows[] = {
      {.title = "Clip by the global norm",
       .formula =
           R"(f = \min\left(1, \frac{\text{bound}}{n}\right), \quad n \text{ the total gradient norm})",
       .shapes = "one factor for all gradients",
       .source = "Pascanu et al. 2013"}};
  return {kRows};
}

OpRules adam_rules() {
  static constexpr OpRule kRows[] = {
      {.title = "Adam",
       .formula =
           R"(m = \beta_1 m + (1 - \beta_1) g, \quad v = \beta_2 v + (1 - \beta_2) g^2, \quad w = w - \frac{\eta r}{1 - \beta_1^t} \cdot \frac{m}{\sqrt{v / (1 - \beta_2^t)} + \epsilon} - \eta \lambda w)",
       .shapes = "all parameters w with gradient g = f dw + l2 w and moments m, v; r: RAdam's factor, else 1",
       .source = "Kingma and Ba 2015; Loshchilov and Hutter 2019; Liu et al. 2020"}};
  return {.rules = kRows,
          .passes = 7};  // reads value, gradient and both moments, writes all but the gradient
}

OpRules sgd_rules() {
  static constexpr OpRule kRows[] = {
      {.title = "SGD with momentum",
       .formula = R"(m = \mu m + g, \quad w = w - \eta m - \eta \lambda w)",
       .shapes = "all parameters w with gradient g = f dw + l2 w and momentum m",
       .source = "Polyak 1964"}};
  return {.rules = kRows, .passes = 5};
}

}  // namespace normscope
