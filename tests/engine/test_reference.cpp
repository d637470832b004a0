// First hop of the gradient tests: the double reference's hand-written backward equals the derivative that
// dual numbers give, to 1e-10, for every case of every op. The second hop (test_op_cases.cpp) compares the
// kernels with it.
#include <algorithm>
#include <cmath>
#include <set>

#include "catch.hpp"
#include "engine/op_cases.h"
#include "engine/ops/ops.h"

namespace normscope::test {
namespace {

/// |<dy, J u> - <u, g>| over the size of such a projection; NaN when anything is.
double projection_error(const OpCase& c, size_t input, const Values& dy, const Values& gradient,
                        uint64_t seed) {
  Random random(seed);
  const Inputs<double> in = inputs_of(c);
  Inputs<Dual> dual;
  for (const Values& v : in) dual.emplace_back(v.begin(), v.end());
  double expected = 0, scale = 0;
  for (size_t i = 0; i < gradient.size(); ++i) {
    const double u = random.normal();
    dual[input][i].d = u;
    expected += u * gradient[i];
    scale += u * u * gradient[i] * gradient[i];
  }
  const Array<Dual> out = c.forward_dual(dual);
  double measured = 0;
  for (size_t i = 0; i < out.size(); ++i) measured += dy[i] * out[i].d;
  return std::abs(measured - expected) / std::max(std::sqrt(scale), 1e-3);
}

}  // namespace

TEST_CASE("reference: backward equals the dual numbers' derivative", "[reference]") {
  for (const OpCase& c : op_cases()) {
    INFO(c.name);
    if (static_cast<double>(c.out.size()) * c.terms > 3e5) continue;  // the same code as at smaller sizes
    const Inputs<double> in = inputs_of(c);
    const Values dy = cotangent_of(c, in);
    const auto gradients = c.backward(in, dy);
    REQUIRE(gradients.size() == c.in.size());
    for (size_t i = 0; i < c.in.size(); ++i) {
      INFO("input " << i);
      if (!c.in[i].present || !c.in[i].differentiable) continue;
      REQUIRE(gradients[i].size() == c.in[i].values.size());
      for (uint64_t seed : {1, 2, 3}) {
        const double error = projection_error(c, i, dy, gradients[i], seed);
        CHECK(error <= 1e-10);
      }
    }
  }
}

TEST_CASE("reference: forward on dual numbers has the same values as on doubles", "[reference]") {
  for (const OpCase& c : op_cases()) {
    INFO(c.name);
    const Inputs<double> in = inputs_of(c);
    Inputs<Dual> dual;
    for (const Values& v : in) dual.emplace_back(v.begin(), v.end());
    const Values out = c.forward(in)[0];
    const Array<Dual> out_dual = c.forward_dual(dual);
    REQUIRE(out.size() == out_dual.size());
    REQUIRE(static_cast<int64_t>(out.size()) == c.out.size());
    double worst = 0;
    for (size_t i = 0; i < out.size(); ++i) worst = std::max(worst, std::abs(out[i] - out_dual[i].v));
    CHECK(worst == 0.0);
  }
}

// A norm's backward removes two directions; with a cotangent of ones or a plain sum, dropping either would go
// unseen.
TEST_CASE("reference: the proof fails when a projection of the norm is left out", "[reference]") {
  for (const OpCase& c : norm_cases()) {
    const int64_t D = c.out.cols();
    if (D < 15 || c.attributes.as<NormSpec>().kind == NormKind::DyT) continue;  // DyT projects nothing
    INFO(c.name);
    const Inputs<double> in = inputs_of(c);
    const Values dy = cotangent_of(c, in);
    const Values right = c.backward(in, dy)[0];
    const double eps = static_cast<double>(c.attributes.as<NormSpec>().eps);
    const auto norm = reference::layer_norm<double>(c.attributes.as<NormSpec>().kind, in[0], {}, {}, D, eps);
    double worst_mean = 0, worst_correlation = 0;
    Values without_mean(right), without_correlation(right);
    for (size_t r = 0; r < norm.mean.size(); ++r) {
      double mean_c = 0, mean_cy = 0;
      for (size_t j = 0; j < static_cast<size_t>(D); ++j) {
        const size_t i = r * static_cast<size_t>(D) + j;
        const double cotangent = dy[i] * (in[1].empty() ? 1.0 : in[1][j]);
        mean_c += cotangent / static_cast<double>(D);
        mean_cy += cotangent * norm.out[i] / static_cast<double>(D);
      }
      for (size_t j = 0; j < static_cast<size_t>(D); ++j) {
        const size_t i = r * static_cast<size_t>(D) + j;
        without_mean[i] += mean_c * norm.inverse_sigma[r];
        without_correlation[i] += norm.out[i] * mean_cy * norm.inverse_sigma[r];
      }
    }
    for (uint64_t seed : {1, 2, 3}) {
      worst_mean = std::max(worst_mean, projection_error(c, 0, dy, without_mean, seed));
      worst_correlation = std::max(worst_correlation, projection_error(c, 0, dy, without_correlation, seed));
    }
    if (c.attributes.as<NormSpec>().kind != NormKind::Rms) CHECK(worst_mean > 1e-3);
    CHECK(worst_correlation > 1e-3);
  }
}

TEST_CASE("reference: every op of ops.def has a case", "[reference]") {
  std::set<OpKind> covered;
  for (const OpCase& c : op_cases()) covered.insert(c.op);
  // Ops without a forward and backward of their own: their cases stand in test_update_ops.cpp.
  const std::set<OpKind> elsewhere = {OpKind::Probe, OpKind::GradNorm, OpKind::Clip, OpKind::Adam,
                                      OpKind::Sgd};
  for (int i = 0; i < static_cast<int>(OpKind::Count); ++i) {
    const OpKind op = static_cast<OpKind>(i);
    INFO("op without a case in tests/engine/op_cases*.cpp: " << to_string(op));
    CHECK(covered.count(op) + elsewhere.count(op) == 1);
  }
}

}  // namespace normscope::test
