// These tests hold the optimizers against their closed forms and tables, by the kernels as the run drives them; each
// number here is missed by the neighbouring rule. (Whole runs: test_optimizer_runs.cpp.)
#include "engine/support/op_harness.h"
#include "training/spec/spec.h"
#include "training/spec/update_rule.h"

namespace normscope::test {
namespace {

/// A few weights under one rule, with gradients given by hand.
class Weights {
 public:
  Weights(const TrainConfig& train, std::vector<float> start)
      : w(std::move(start)), train_(train), m_(w.size(), 0.0f), v_(w.size(), 0.0f), g_(w.size()) {}

  void step(const std::vector<float>& gradient) {
    g_ = gradient;
    StepInputs in;
    in.lr = rate;
    set_update_rule(in, train_, ++t_);
    ParameterCall parameter{w.data(), g_.data(), m_.data(), v_.data(), static_cast<int64_t>(w.size())};
    parameter.steps = steps;
    double update = 0, weight = 0, factor = 1;
    Call call{};
    call.phase = Phase::Update;
    call.parameters = &parameter;
    call.parameter_count = 1;
    call.update_norm = &update;
    call.weight_norm = &weight;
    call.clip_factor = &factor;
    REQUIRE(run_stages(kernels_of(update_op(train_.optimizer)).forward(call), call, in, orders()[0]));
  }

  std::vector<float> w;
  float rate = 0.01f;
  StepScale steps;

 private:
  TrainConfig train_;
  int64_t t_ = 0;
  std::vector<float> m_, v_, g_;
};

TrainConfig config(Optimizer optimizer, float beta2 = 0.98f) {
  TrainConfig train;
  train.optimizer = optimizer;
  train.beta2 = beta2;
  return train;
}

/// -change / rate of a weight that starts at 0 in its t-th step under a constant gradient.
double factor_at(const TrainConfig& train, int t, float gradient = 0.5f) {
  Weights weights(train, {0.0f});
  double before = 0;
  for (int i = 0; i < t; ++i) {
    before = static_cast<double>(weights.w[0]);
    weights.step({gradient});
  }
  return (before - static_cast<double>(weights.w[0])) / 0.01;
}

}  // namespace

TEST_CASE("optimizers: Adam's first step is the rate times the sign of the gradient, whatever its size") {
  const std::vector<float> gradient = {1e-4f, -3e-3f, 0.5f, -7.0f, 4e3f};
  for (Optimizer optimizer : {Optimizer::Adam, Optimizer::AdamW}) {
    Weights weights(config(optimizer), std::vector<float>(5, 0.0f));
    weights.step(gradient);
    for (size_t i = 0; i < gradient.size(); ++i)
      CHECK(weights.w[i] == Approx(gradient[i] > 0 ? -0.01 : 0.01).epsilon(2e-5));
  }
  Weights plain(config(Optimizer::Sgd), std::vector<float>(5, 0.0f));
  plain.step(gradient);
  for (size_t i = 0; i < gradient.size(); ++i)
    CHECK(plain.w[i] == Approx(-0.01 * static_cast<double>(gradient[i])).epsilon(1e-6));
}

TEST_CASE("optimizers: a parameter's own scale is that of its rate, its weight decay and its epsilon") {
  // By powers of two, so that every bit has to agree. The neighbour's numbers, one of the three left out, differ.
  std::vector<Optimizer> all{Optimizer::Adam, Optimizer::AdamW, Optimizer::RAdam, Optimizer::Momentum};
  for (const Optimizer optimizer : kOptimizers)  // what moves by Adam where there is no matrix
    if (traits_of(update_op(optimizer)).second_moments == SecondMoments::NotOfMatrices)
      all.push_back(optimizer);
  for (const Optimizer optimizer : all) {
    INFO(to_string(optimizer));
    TrainConfig train = config(optimizer), scaled = train;
    train.eps = 1e-3f;
    train.weight_decay = 0.125f;
    scaled = train;
    scaled.eps *= 8;
    scaled.weight_decay *= 4;
    const bool apart = !rule_of(optimizer).decays_in_gradient;  // Adam's joins the gradient, and has no scale
    if (!apart) scaled.weight_decay = train.weight_decay;
    const std::vector<float> start = {0.5f, -0.25f, 3.0f, 1e-2f, -1.0f};
    const auto after = [&](const TrainConfig& with, float rate, const StepScale& steps) {
      Weights weights(with, start);
      weights.rate = rate;
      weights.steps = steps;
      for (int i = 0; i < 12; ++i) weights.step({1e-4f, -3e-3f, 0.5f, 0.02f, -1.0f});
      return weights.w;
    };
    const auto expected = after(scaled, 0.005f, {});
    CHECK(after(train, 0.01f, {0.5f, 4, 8}) == expected);
    CHECK(after(train, 0.01f, {1, 4, 8}) != expected);
    CHECK((after(train, 0.01f, {0.5f, 1, 8}) != expected) == apart);
    CHECK((after(train, 0.01f, {0.5f, 4, 1}) != expected) == (optimizer != Optimizer::Momentum));
  }
}

TEST_CASE("optimizers: without bias correction the first steps are off by (1-b1^t)/sqrt(1-b2^t)") {
  struct Expectation {
    float beta2;
    double first;
    int largest_at;
    double largest;
  };
  for (const Expectation& known :
       {Expectation{0.98f, 0.707, 14, 1.55}, {0.99f, 1.0, 13, 2.13}, {0.999f, 3.16, 12, 6.57}}) {
    TrainConfig train = config(Optimizer::Adam, known.beta2);
    CHECK(factor_at(train, 1) == Approx(1.0).epsilon(1e-5));  // with it, always the rate
    CHECK(factor_at(train, known.largest_at) == Approx(1.0).epsilon(1e-5));
    train.bias_correction = false;
    CHECK(factor_at(train, 1) == Approx(known.first).margin(0.005));
    CHECK(factor_at(train, known.largest_at) == Approx(known.largest).margin(0.01));
    CHECK(factor_at(train, known.largest_at - 1) < factor_at(train, known.largest_at));
    CHECK(factor_at(train, known.largest_at + 1) < factor_at(train, known.largest_at));
  }
}

TEST_CASE("optimizers: RAdam's length and factor are those of the table") {
  for (double beta2 : {0.9, 0.98, 0.99, 0.999}) {
    INFO(beta2);
    CHECK(radam_length(beta2, 4) <= 4);
    CHECK(radam_length(beta2, 5) > 4);
    CHECK(radam_length(beta2, 5) < 5);
    CHECK(radam_length(beta2, 6) >= 5);
  }
  struct Expectation {
    double beta2, at6, at10, at100;
    int half, most;
  };
  for (const Expectation& k : {Expectation{0.98, 0.1155, 0.220, 0.820, 33, 140},
                               {0.99, 0.0817, 0.155, 0.634, 61, 277},
                               {0.999, 0.0258, 0.049, 0.215, 556, 2737}}) {
    CHECK(radam_rectification(k.beta2, 6) == Approx(k.at6).margin(6e-5));
    CHECK(radam_rectification(k.beta2, 10) == Approx(k.at10).margin(6e-4));
    CHECK(radam_rectification(k.beta2, 100) == Approx(k.at100).margin(6e-4));
    for (const auto& [level, at] : {std::pair{0.5, k.half}, {0.9, k.most}}) {
      CHECK(radam_rectification(k.beta2, at) >= level);
      CHECK(radam_rectification(k.beta2, at - 1) < level);
    }
  }
}

TEST_CASE("optimizers: RAdam's paper walks without adaptation for four steps, its code rests for five") {
  for (float beta2 : {0.98f, 0.999f}) {
    INFO(beta2);
    const TrainConfig paper = config(Optimizer::RAdam, beta2), code = config(Optimizer::RAdamCode, beta2);
    for (int t = 1; t <= 4; ++t) {
      CHECK(factor_at(paper, t, 0.5f) ==
            Approx(0.5).epsilon(1e-5));  // the corrected mean of the gradient itself
      CHECK(factor_at(paper, t, 3.0f) == Approx(3.0).epsilon(1e-5));
    }
    const double r5 = radam_rectification(static_cast<double>(beta2), 5);
    const double r6 = radam_rectification(static_cast<double>(beta2), 6);
    for (float gradient : {0.5f, 3.0f}) {
      CHECK(factor_at(paper, 5, gradient) == Approx(r5).epsilon(2e-3));
      CHECK(factor_at(paper, 6, gradient) == Approx(r6).epsilon(2e-3));
      for (int t = 1; t <= 5; ++t) CHECK(factor_at(code, t, gradient) == 0.0);
      CHECK(factor_at(code, 6, gradient) == Approx(r6).epsilon(2e-3));
    }
  }
}

TEST_CASE(
    "optimizers: RAdam's code rests from weight decay too, and its epsilon stands before the correction") {
  TrainConfig paper = config(Optimizer::RAdam), code = config(Optimizer::RAdamCode);
  paper.weight_decay = code.weight_decay = 0.5f;
  Weights walks(paper, {2.0f}), rests(code, {2.0f});
  for (int t = 1; t <= 5; ++t) {
    walks.step({0.0f});
    rests.step({0.0f});
  }
  CHECK(rests.w[0] == 2.0f);
  CHECK(walks.w[0] == Approx(2 * std::pow(1 - 0.01 * 0.5, 5)).epsilon(1e-6));
  rests.step({0.0f});
  CHECK(rests.w[0] == Approx(2 * (1 - 0.01 * 0.5)).epsilon(1e-6));

  paper.weight_decay = code.weight_decay = 0;
  paper.eps = code.eps = 0.1f;
  const double beta2 = 0.98, r = radam_rectification(beta2, 6), root = std::sqrt(1 - std::pow(beta2, 6));
  CHECK(factor_at(paper, 6, 1.0f) == Approx(r / (1 + 0.1)).epsilon(2e-3));
  CHECK(factor_at(code, 6, 1.0f) == Approx(r / (1 + 0.1 / root)).epsilon(2e-3));
  CHECK(0.1 / root > 0.25);  // far apart
}

TEST_CASE("optimizers: weight decay joins the gradient in adam and stands apart in adamw") {
  TrainConfig coupled = config(Optimizer::Adam), apart = config(Optimizer::AdamW);
  coupled.weight_decay = apart.weight_decay = 0.5f;
  Weights adam(coupled, {2.0f, -3.0f}), adamw(apart, {2.0f, -3.0f});
  adam.step({0.0f, 0.0f});
  adamw.step({0.0f, 0.0f});
  CHECK(adam.w[0] == Approx(1.99).epsilon(1e-6));  // the sign of the decay, at the rate
  CHECK(adam.w[1] == Approx(-2.99).epsilon(1e-6));
  CHECK(adamw.w[0] == Approx(2 * (1 - 0.005)).epsilon(1e-6));  // a share of the weight
  CHECK(adamw.w[1] == Approx(-3 * (1 - 0.005)).epsilon(1e-6));
}

TEST_CASE(
    "optimizers: for all but adam, weight decay takes a share of the weight and stays out of the moments") {
  for (Optimizer optimizer : {Optimizer::Sgd, Optimizer::Momentum, Optimizer::AdamW, Optimizer::RAdam}) {
    INFO(to_string(optimizer));
    TrainConfig train = config(optimizer);
    train.weight_decay = 0.5f;
    Weights weights(train, {2.0f});
    for (int t = 1; t <= 8; ++t) weights.step({0.0f});
    CHECK(weights.w[0] == Approx(2 * std::pow(1 - 0.01 * 0.5, 8)).epsilon(1e-6));
  }
}

TEST_CASE("optimizers: momentum adds up a geometric series, sgd nothing") {
  TrainConfig train = config(Optimizer::Momentum);
  train.momentum = 0.8f;
  for (int t : {1, 2, 7}) {
    CHECK(factor_at(train, t, 0.5f) == Approx(0.5 * (1 - std::pow(0.8, t)) / 0.2).epsilon(1e-5));
    train.optimizer = Optimizer::Sgd;
    CHECK(factor_at(train, t, 0.5f) == Approx(0.5).epsilon(1e-5));
    train.optimizer = Optimizer::Momentum;
  }
}

}  // namespace normscope::test
