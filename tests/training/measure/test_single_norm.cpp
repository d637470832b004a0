// These tests hold measure/single_norm.h against what theory says of each kind: Lemmas 1 and 3 of Xiong et al. 2020,
// Theorem 1 of Xu et al. 2019. The identities row by row are in test_norm_kinds.cpp.
#include "catch.hpp"
#include "training/measure/single_norm.h"
#include "training/support/small_runs.h"

namespace normscope::test {
namespace {

ModelConfig config_of(NormKind kind, Activation activation = Activation::Relu) {
  ModelConfig config = small_spec().model;
  config.norm = kind;
  config.activation = activation;
  config.eps = 1e-12f;
  return config;
}

NormGradient gradient_of(NormKind kind, double scale = 3) {
  return norm_gradient(shared_backend(), config_of(kind), {.width = 16, .scale = scale, .seed = 2});
}

JacobianNorm jacobian_of(NormKind kind, const GaussianRows& rows) {
  return norm_jacobian(shared_backend(), config_of(kind), rows);
}

}  // namespace

TEST_CASE("single norm: ReLU lets half of the square through, at any width and scale, and GELU less",
          "[norm]") {
  for (const int32_t width : {8, 100, 1024})
    for (const double scale : {0.01, 1.0, 100.0}) {
      INFO(width << " at " << scale);
      const GaussianRows rows{.width = width, .scale = scale, .seed = 5};
      CHECK(std::abs(activation_share(shared_backend(), config_of(NormKind::LayerNorm), rows) - 0.5) < 0.01);
    }
  const GaussianRows rows{.width = 64, .seed = 5};
  const ModelConfig gelu = config_of(NormKind::LayerNorm, Activation::Gelu);
  CHECK(std::abs(activation_share(shared_backend(), gelu, rows) - 0.424) < 0.01);
  // Far above zero a ReLU is the identity.
  CHECK(activation_share(shared_backend(), config_of(NormKind::LayerNorm), {.width = 64, .shift = 20}) ==
        Approx(1).epsilon(1e-6));
}

TEST_CASE("single norm: the Jacobian of a layer norm has the norm 1 over the deviation of its row",
          "[norm]") {
  const JacobianNorm one = jacobian_of(NormKind::Simple, {.width = 16, .seed = 3});
  // Of rows of mean zero both are 1 on the average.
  CHECK(one.spectral == Approx(1).epsilon(0.3));
  CHECK(one.product == Approx(1).epsilon(0.15));
  CHECK(one.product >= 1 - 1e-5);
  const JacobianNorm ten = jacobian_of(NormKind::Simple, {.width = 16, .scale = 10, .seed = 3});
  CHECK(ten.spectral == Approx(one.spectral / 10).epsilon(1e-4));
  CHECK(ten.product == Approx(one.product).epsilon(1e-4));
  // Xiong's bound is of rows with a small mean: with one of three deviations the product is the root of 1 + 9.
  CHECK(jacobian_of(NormKind::LayerNorm, {.width = 256, .shift = 3, .seed = 3}).product ==
        Approx(std::sqrt(10.0)).epsilon(0.05));
  // What keeps mean and deviation constant is a division by the deviation alone.
  CHECK(jacobian_of(NormKind::Detach, {.width = 16, .seed = 3}).spectral ==
        Approx(one.spectral).epsilon(1e-4));
  // DyT has no statistics: its slope alpha wherever the tanh is straight.
  CHECK(jacobian_of(NormKind::DyT, {.width = 16, .scale = 1e-3, .seed = 3}).spectral ==
        Approx(0.5).epsilon(1e-3));
  CHECK(jacobian_of(NormKind::Derf, {.width = 16, .scale = 1e-3, .seed = 3}).spectral ==
        Approx(0.5 * 2 / std::sqrt(std::acos(-1.0))).epsilon(1e-3));
}

TEST_CASE("single norm: which kind keeps mean and variance of a gradient", "[norm]") {
  struct Kept {
    NormKind kind;
    bool mean, variance;
  };
  for (const auto& [kind, mean, variance] :
       {Kept{NormKind::Simple, false, false}, Kept{NormKind::LayerNorm, false, false},
        Kept{NormKind::DetachMean, true, false}, Kept{NormKind::DetachVariance, false, true},
        Kept{NormKind::Detach, true, true}})
    for (const double scale : {0.1, 3.0}) {
      INFO(to_string(kind) << " at " << scale);
      const NormGradient gradient = gradient_of(kind, scale);
      CHECK(std::abs(gradient.mean - (mean ? 1 : 0)) < 1e-5);
      // Of a gradient drawn apart from the rows 1 - 1/(D - 1) is left.
      CHECK(std::abs(gradient.variance - (variance ? 1.0 : 14.0 / 15)) < (variance ? 1e-5 : 0.02));
    }
}

TEST_CASE("single norm: what cannot be measured is refused", "[norm]") {
  CHECK(error_of([] { gradient_of(NormKind::None); }) ==
        "[measure] a model without a norm has none to measure");
  CHECK(error_of([] { jacobian_of(NormKind::Simple, {.width = 1025}); }) ==
        "[measure] a Jacobian of 1025 by 1025 numbers: expected rows of at most 1024");
}

}  // namespace normscope::test
