// These tests hold the balanced-mass factor against the norm of softmax's Jacobian over all vectors of signs.
#include "addons/papers/training/attention_balance.h"

#include <random>

#include "catch.hpp"

namespace normscope::test {
namespace {

/// The largest sum of absolute values that diag(p) - p p' makes of a vector of signs.
double norm_by_all_signs(const std::vector<float>& p) {
  double most = 0;
  for (uint32_t signs = 0; signs < 1u << p.size(); ++signs) {
    const auto sign = [&](size_t i) { return (signs >> i & 1u) != 0 ? 1.0 : -1.0; };
    double mean = 0, sum = 0;
    for (size_t i = 0; i < p.size(); ++i) mean += static_cast<double>(p[i]) * sign(i);
    for (size_t i = 0; i < p.size(); ++i) sum += static_cast<double>(p[i]) * std::abs(sign(i) - mean);
    most = std::max(most, sum);
  }
  return most;
}

}  // namespace

TEST_CASE("attention balance: it is the norm of softmax's Jacobian, from below, and exact with one heavy key",
          "[measure]") {
  CHECK(balanced_mass({1.0f}) == 0);
  CHECK(balanced_mass({0.5f, 0.5f}) == 1);
  CHECK(balanced_mass({0.75f, 0.25f}) == Approx(0.75));
  std::mt19937 random(7);
  for (int trial = 0; trial < 40; ++trial) {
    std::normal_distribution<float> logit(0.0f, 1.0f + 0.1f * static_cast<float>(trial));
    std::vector<float> p(10);
    float sum = 0;
    for (float& e : p) sum += e = std::exp(logit(random));
    for (float& e : p) e /= sum;
    const double exact = norm_by_all_signs(p), found = balanced_mass(p);
    INFO("trial " << trial);
    CHECK(found <= exact + 1e-6);
    if (*std::max_element(p.begin(), p.end()) >= 0.5f)
      CHECK(found == Approx(exact).margin(1e-6));
    else
      CHECK(found >= 8.0 / 9 - 1e-6);
  }
}

}  // namespace normscope::test
