// This file lists the models that have plain loops (app/bench/plain.h) and compares their steps with the engine's.
#include <algorithm>
#include <cmath>
#include <string_view>

#include "app/bench/plain.h"
#include "training/measure/look.h"

namespace normscope::bench {
namespace {

/// `kPlainModels` are the models whose sizes decoder_of (plain.cpp) knows.
constexpr std::string_view kPlainModels[] = {"micro16", "micro32", "micro64", "lesson", "deep", "wide"};

/// `gradient_norm` is taken over all parameters together.
double gradient_norm(const Program& program) {
  const ProgramData& data = program.data();
  double squares = 0;
  for (const double norm :
       program.stats().subspan(static_cast<size_t>(data.grad_norm_stat), data.parameter_order.size()))
    squares += norm * norm;
  return std::sqrt(squares);
}

}  // namespace

std::vector<Model> plain_models() {
  std::vector<Model> found;
  for (const std::string_view name : kPlainModels)
    for (const Model& m : models())
      if (m.name == name) found.push_back(m);
  return found;
}

double plain_difference(Stepper& stepper, PlainDecoder& plain, const BatchShape& shape, int steps) {
  const BatchView batch = inputs_of(*stepper.program, shape);
  double worst = 0;
  for (int i = 0; i < steps; ++i) {
    stepper.step();
    const double loss = plain.step(batch.tokens.data(), batch.targets.data(), stepper.inputs);
    const double of_loss = std::abs(loss / stepper.program->loss() - 1),
                 of_norm = std::abs(plain.gradient_norm() / gradient_norm(*stepper.program) - 1);
    const double apart = i == 0 ? std::max(of_loss, of_norm) : of_loss;
    worst = std::max(worst, std::isfinite(of_loss + of_norm) ? apart : INFINITY);
  }
  return worst;
}

}  // namespace normscope::bench
