#include "training/spec/update_rule.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "engine/core/error.h"
#include "training/spec/spec.h"
#include "training/spec/spec_text.h"

namespace normscope {
namespace {

constexpr UpdateRule kRules[] = {
    {.name = "none", .label = "none"},
#define OPTIMIZER(Name, ...) {__VA_ARGS__},
#include "training/spec/optimizers.def"
#undef OPTIMIZER
};
static_assert(std::none_of(std::begin(kRules) + 1, std::end(kRules),
                           [](const UpdateRule& rule) {
                             return rule.op == kNoOp || *rule.name == 0 || *rule.label == 0;
                           }),
              "a row of optimizers.def has no name, no label or no op that ends the step");

double limit_length(double beta2) { return 2 / (1 - beta2) - 1; }

void set_radam(StepInputs& in, bool by_code, double beta2, int64_t t) {
  const double length = radam_length(beta2, t);
  in.adapted = by_code ? length >= 5 : length > 4;
  in.rectification = in.adapted ? static_cast<float>(radam_rectification(beta2, t)) : by_code ? 0.0f : 1.0f;
  if (!by_code) return;
  if (!in.adapted) in.weight_decay = 0;
  // The code adds epsilon before the bias correction.
  in.eps =
      static_cast<float>(static_cast<double>(in.eps) / std::sqrt(static_cast<double>(in.bias_correction2)));
}

}  // namespace

const UpdateRule& rule_of(Optimizer optimizer) { return kRules[static_cast<size_t>(optimizer)]; }

OpKind update_op(Optimizer optimizer) { return rule_of(optimizer).op; }

void check_transfer(const ModelConfig& model, Optimizer optimizer) {
  if (model.transfer != Transfer::None && !keeps_second_moment(optimizer) && optimizer != Optimizer::None)
    fail(
        "model.transfer",
        "it sets rates for optimizers that divide by a second moment, as Adam does, and train.optimizer is {}: "
        "expected adam, adamw or radam",
        to_string(optimizer));
}

bool keeps_second_moment(Optimizer optimizer) {
  return traits_of(update_op(optimizer)).second_moments != SecondMoments::None;
}

bool shares_moments(Optimizer a, Optimizer b) { return update_op(a) == update_op(b); }

const char* to_string(Optimizer optimizer) { return rule_of(optimizer).name; }

Optimizer optimizer_from(std::string_view name) { return choice_from("train.optimizer", kOptimizers, name); }

double radam_length(double beta2, int64_t t) {
  const double power = std::pow(beta2, static_cast<double>(t));
  return limit_length(beta2) - 2 * static_cast<double>(t) * power / (1 - power);
}

double radam_rectification(double beta2, int64_t t) {
  const double rho = radam_length(beta2, t), last = limit_length(beta2);
  return std::sqrt((rho - 4) * (rho - 2) * last / ((last - 4) * (last - 2) * rho));
}

void set_update_rule(StepInputs& in, const TrainConfig& train, int64_t t) {
  const UpdateRule& rule = rule_of(train.optimizer);
  const double beta1 = static_cast<double>(train.beta1), beta2 = static_cast<double>(train.beta2);
  const bool rectified = rule.rectified != Rectified::No;
  in.beta1 = train.beta1;
  in.beta2 = train.beta2;
  in.eps = train.eps;
  in.bias_correction1 = in.bias_correction2 = 1.0f;
  if (train.bias_correction || rectified) {
    in.bias_correction1 = static_cast<float>(1.0 - std::pow(beta1, static_cast<double>(t)));
    in.bias_correction2 = static_cast<float>(1.0 - std::pow(beta2, static_cast<double>(t)));
  }
  in.momentum = rule.reads_momentum ? train.momentum : 0.0f;
  in.update_bound = rule.reads_bound ? train.update_bound : 0.0f;
  in.l2 = rule.decays_in_gradient ? train.weight_decay : 0.0f;
  in.weight_decay = rule.decays_in_gradient ? 0.0f : train.weight_decay;
  in.rectification = 1.0f;
  in.adapted = true;
  if (rectified) set_radam(in, rule.rectified == Rectified::ByCode, beta2, t);
}

void set_dropout(StepInputs& in, const ModelConfig& model) {
  const auto set = [&](DropoutKind kind, float probability) {
    in.dropout[static_cast<size_t>(kind)] = DropoutInputs::of(static_cast<double>(probability));
  };
  set(DropoutKind::Residual, model.dropout_residual);
  set(DropoutKind::Attention, model.dropout_attention);
  set(DropoutKind::Activation, model.dropout_activation);
}

}  // namespace normscope
