// See update_rule.h.
#include "engine/spec/update_rule.h"

#include <cmath>
#include <string>

#include "engine/core/error.h"
#include "engine/spec/spec.h"

namespace normscope {
namespace {

double last_length(double beta2) { return 2 / (1 - beta2) - 1; }

void set_radam(StepInputs& in, bool code, double beta2, int64_t t) {
  const double length = radam_length(beta2, t);
  in.adapted = code ? length >= 5 : length > 4;
  in.rectification = in.adapted ? static_cast<float>(radam_rectification(beta2, t)) : code ? 0.0f : 1.0f;
  if (!code) return;
  if (!in.adapted) in.weight_decay = 0;
  in.eps =
      static_cast<float>(static_cast<double>(in.eps) / std::sqrt(static_cast<double>(in.bias_correction2)));
}

}  // namespace

OpKind update_op(Optimizer optimizer) {
  if (optimizer == Optimizer::None) return kNoOp;
  return is_adaptive(optimizer) ? OpKind::Adam : OpKind::Sgd;
}

const char* to_string(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::None:
      return "none";
    case Optimizer::Adam:
      return "adam";
    case Optimizer::Sgd:
      return "sgd";
    case Optimizer::Momentum:
      return "momentum";
    case Optimizer::AdamW:
      return "adamw";
    case Optimizer::RAdam:
      return "radam";
    case Optimizer::RAdamCode:
      return "radam-code";
  }
  return "?";
}

Optimizer optimizer_from(std::string_view name) {
  std::string known;
  for (Optimizer optimizer : kOptimizers) {
    if (name == to_string(optimizer)) return optimizer;
    known += (known.empty() ? "" : ", ") + std::string(to_string(optimizer));
  }
  fail("train.optimizer", "'{}' is unknown: expected one of {}", name, known);
}

double radam_length(double beta2, int64_t t) {
  const double power = std::pow(beta2, static_cast<double>(t));
  return last_length(beta2) - 2 * static_cast<double>(t) * power / (1 - power);
}

double radam_rectification(double beta2, int64_t t) {
  const double rho = radam_length(beta2, t), last = last_length(beta2);
  return std::sqrt((rho - 4) * (rho - 2) * last / ((last - 4) * (last - 2) * rho));
}

void set_update_rule(StepInputs& in, const TrainConfig& train, int64_t t) {
  const Optimizer rule = train.optimizer;
  const double beta1 = static_cast<double>(train.beta1), beta2 = static_cast<double>(train.beta2);
  const bool rectified = rule == Optimizer::RAdam || rule == Optimizer::RAdamCode;
  in.beta1 = train.beta1;
  in.beta2 = train.beta2;
  in.eps = train.eps;
  in.bias_correction1 = in.bias_correction2 = 1.0f;
  if (train.bias_correction || rectified) {
    in.bias_correction1 = static_cast<float>(1.0 - std::pow(beta1, static_cast<double>(t)));
    in.bias_correction2 = static_cast<float>(1.0 - std::pow(beta2, static_cast<double>(t)));
  }
  in.momentum = rule == Optimizer::Momentum ? train.momentum : 0.0f;
  in.l2 = rule == Optimizer::Adam ? train.weight_decay : 0.0f;
  in.weight_decay = rule == Optimizer::Adam ? 0.0f : train.weight_decay;
  in.rectification = 1.0f;
  in.adapted = true;
  if (rectified) set_radam(in, rule == Optimizer::RAdamCode, beta2, t);
}

}  // namespace normscope
