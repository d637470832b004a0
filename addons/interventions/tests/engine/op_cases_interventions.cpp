// Cases of the ops that change what comes back: see op_cases.h.
#include <fmt/format.h>

#include "addons/interventions/engine/rerouted.h"
#include "engine/support/op_cases.h"

namespace normscope::test {
namespace {

OpCase amplify_case(Shape shape, float divisor) {
  Random random(static_cast<uint64_t>(shape.size()));
  OpCase c;
  c.op = OpKind::Amplify;
  c.name = fmt::format("amplify {} over {}", to_string(shape), divisor);
  c.attributes = AmplifySpec{1e-5f, divisor};
  c.in = {random.normal(shape), random.normal(shape, -0.7, 1.8)};
  c.in[0].terms = static_cast<double>(shape.cols());
  c.in[1].zero_gradient = true;
  c.reroutes = true;
  c.out = shape;
  return c;
}

std::string words_of(Shares shares) { return fmt::format("{} and {}", shares.common, shares.differing); }

OpCase reweigh_case(Shape shape, ReweighSpec spec) {
  Random random(static_cast<uint64_t>(shape.size()) + 7);
  OpCase c;
  c.op = OpKind::Reweigh;
  c.name = fmt::format("reweigh {} value {}, gradient {}{}", to_string(shape), words_of(spec.value),
                       words_of(spec.gradient), spec.tokens ? ", over all tokens" : "");
  c.attributes = spec;
  c.in = {random.normal(shape)};
  const int64_t rows = spec.tokens ? shape.rows() : shape[0];
  c.in[0].terms = c.terms = static_cast<double>(rows);
  c.in[0].zero_gradient = spec.gradient.common == 0 && (rows == 1 || spec.gradient.differing == 0);
  c.reroutes = spec.value != spec.gradient;
  c.out = shape;
  return c;
}

}  // namespace

std::vector<OpCase> intervention_cases() {
  std::vector<OpCase> cases;
  for (const Shape& shape : {Shape{1, 1, 8}, Shape{2, 3, 31}, Shape{3, 67, 64}, Shape{5, 9, 33}})
    for (const float divisor : {1.0f, 1.7f}) cases.push_back(amplify_case(shape, divisor));
  constexpr Shares kWhole, kCentred{0, 1}, kDim{1, 0.4f}, kNothing{0, 0};
  constexpr std::pair<Shares, Shares> kPairs[] = {{kCentred, kCentred}, {kCentred, kWhole},
                                                  {kWhole, kCentred},   {kDim, kWhole},
                                                  {kWhole, kDim},       {kWhole, kNothing}};
  for (const auto& [value, gradient] : kPairs)
    for (const bool tokens : {false, true})
      for (const Shape& shape : {Shape{1, 3, 5}, Shape{4, 3, 31}, Shape{16, 67, 64}, Shape{33, 1, 7}})
        cases.push_back(reweigh_case(shape, {value, gradient, tokens}));
  return cases;
}

}  // namespace normscope::test
