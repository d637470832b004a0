#include "training/measure/theory/theory.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/core/error.h"

namespace normscope::theory {
namespace {

constexpr Equation kEquations[] = {
    {"feed-forward gain", "g = 2r/(1+r)^2, r = F/D", "He et al. 2015 under Xavier's variance"},
    {"Lemma 2, Post-LN", "q = 1 + g", "Xiong et al. 2020, Lemma 2, for F = D; ours for another F"},
    {"Lemma 2, Pre-LN", "q0 + l g <= q_l <= q0 + l (1 + g)",
     "Xiong et al. 2020, Lemma 2, for F = D and q0 = 1; ours beyond"},
    {"correlation map", "kappa(c) = (sqrt(1-c^2) + (pi - arccos c) c)/pi", "Cho and Saul 2009"},
    {"mean field", "q <- q + m, m = 1/n + (1 - 1/n) rho; q <- q + g", "ours, docs/theory.md"},
    {"token cosine", "covariances of pairs of tokens through even attention and kappa",
     "ours, docs/theory.md"},
    {"dependency", "beta^2_ij = v_j / (v_0 + ... + v_i), divided on at every norm",
     "Liu et al. 2020, section 4.1"},
    {"own share", "beta^2_ii = v_i / (Var(skip x) + v_i)", "Liu et al. 2020, section 4.1"},
    {"sum of own shares, Post-LN", "N v/(1+v)", "Liu et al. 2020, Corollary 2; the constant is ours"},
    {"sum of own shares, Pre-LN", "sum_i v/(1 + i v)", "Liu et al. 2020, Corollary 1; the constant is ours"},
    {"last layer", "|dL/dW2|^2 = D r/(1+r) g^2 (1 + (n-1) a) / (n q), a = mean of kappa(c) eta",
     "ours, docs/theory.md; its order in D and L is bounded by Xiong et al. 2020, Theorem 1"},
    {"Post-LN profile", "|dL/dW2_l| / |dL/dW2_L| = 1",
     "Liu et al. 2020, Theorem 1 and appendix A.2, for the feed-forward part"},
    {"Pre-LN profile", "|dL/dW2_l| / |dL/dW2_L| = sqrt(q_L / q_l)", "ours, docs/theory.md"},
    {"decoder profile", "product over k = l+1..L of (1 + v_k)^(-1/2)",
     "ours, docs/theory.md; the mechanism is Liu et al. 2020, appendix A.3"},
};

}  // namespace

std::span<const Equation> equations() { return kEquations; }

const Equation& equation(std::string_view name) {
  for (const Equation& e : kEquations)
    if (name == e.name) return e;
  fail("theory", "there is no equation '{}'", name);
}

double feed_forward_gain(double r) { return 2 * r / ((1 + r) * (1 + r)); }
double post_residual_square(double r) { return 1 + feed_forward_gain(r); }

Bounds pre_stream_square(int32_t layers, double r, double q0) {
  const double g = feed_forward_gain(r);
  return {q0 + layers * g, q0 + layers * (1 + g)};
}

double relu_correlation(double c) {
  c = std::clamp(c, -1.0, 1.0);
  return (std::sqrt(1 - c * c) + (std::numbers::pi - std::acos(c)) * c) / std::numbers::pi;
}

std::vector<MeanField> post_mean_field(int32_t layers, int32_t n, double r) {
  const double g = feed_forward_gain(r);
  std::vector<MeanField> result;
  double c = 0;
  for (int32_t l = 0; l < layers; ++l) {
    const double m = 1.0 / n + (1 - 1.0 / n) * c, square = 1 + m;
    c = (c + m) / square;
    c = (c + g * relu_correlation(c)) / (1 + g);
    result.push_back({square, c});
  }
  return result;
}

std::vector<MeanField> pre_mean_field(int32_t layers, int32_t n, double r, double q0) {
  const double g = feed_forward_gain(r);
  std::vector<MeanField> result;
  double covariance = 0, q = q0;
  for (int32_t l = 0; l < layers; ++l) {
    const double m = 1.0 / n + (1 - 1.0 / n) * covariance / q;
    covariance += m;
    q += m;
    covariance += g * relu_correlation(covariance / q);
    q += g;
    result.push_back({q, covariance / q});
  }
  return result;
}

std::vector<std::vector<double>> dependency_pre(double v0, std::span<const double> v) {
  std::vector<double> terms = {v0};
  std::vector<std::vector<double>> rows;
  double sum = v0;
  for (double branch : v) {
    terms.push_back(branch);
    sum += branch;
    rows.push_back(terms);
    for (double& term : rows.back()) term /= sum;
  }
  return rows;
}

std::vector<std::vector<double>> dependency_post(std::span<const double> v, std::span<const double> omega) {
  if (!omega.empty() && omega.size() != v.size())
    fail("theory", "{} skip scales for {} branches: expected as many", omega.size(), v.size());
  std::vector<double> row = {1.0};
  std::vector<std::vector<double>> rows;
  for (size_t i = 0; i < v.size(); ++i) {
    const double skip = omega.empty() ? 1.0 : omega[i] * omega[i];
    for (double& share : row) share *= skip / (skip + v[i]);
    row.push_back(v[i] / (skip + v[i]));
    rows.push_back(row);
  }
  return rows;
}

double own_share(double branch_variance, double input_variance) {
  return branch_variance / (input_variance + branch_variance);
}

double own_shares_post(int32_t sublayers, double v) { return sublayers * v / (1 + v); }

double own_shares_pre(int32_t sublayers, double v) {
  double sum = 0;
  for (int32_t i = 1; i <= sublayers; ++i) sum += v / (1 + i * v);
  return sum;
}

double last_layer_gradient(double width, double n, double q, double g2, double a, double r) {
  return std::sqrt(width * r / (1 + r) / (n * q) * g2 * (1 + (n - 1) * a));
}

std::vector<double> pre_gradient_profile(std::span<const double> squares) {
  std::vector<double> profile;
  for (double q : squares) profile.push_back(std::sqrt(squares.back() / q));
  return profile;
}

}  // namespace normscope::theory
