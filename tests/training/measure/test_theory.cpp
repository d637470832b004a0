// These tests hold the closed forms against the reference page's numbers by hand, and against each other.
#include "catch.hpp"

#include <cmath>
#include <numeric>

#include "engine/core/error.h"
#include "training/measure/initial_analysis.h"
#include "training/measure/theory/theory.h"

using namespace normscope;
using namespace normscope::theory;

TEST_CASE("feed-forward gain and Lemma 2, for F = D and F = 4D", "[theory]") {
  CHECK(feed_forward_gain(1) == Approx(0.5));
  CHECK(feed_forward_gain(2) == Approx(4.0 / 9));
  CHECK(feed_forward_gain(4) == Approx(0.32));
  CHECK(post_residual_square(1) == Approx(1.5));
  CHECK(post_residual_square(4) == Approx(1.32));
  const Bounds d = pre_stream_square(6, 1), four = pre_stream_square(6, 4);
  CHECK(d.low == Approx(4.0));
  CHECK(d.high == Approx(10.0));
  CHECK(four.low == Approx(1 + 6 * 0.32));
  CHECK(four.high == Approx(1 + 6 * 1.32));
}

TEST_CASE("mean field: the table for n = 32, F = D", "[theory]") {
  struct Row {
    size_t k;
    double post, post_cosine, pre, pre_cosine;
  };
  const auto post = post_mean_field(12, 32, 1), pre = pre_mean_field(12, 32, 1);
  for (const Row& row : {Row{1, 1.031, 0.131, 1.531, 0.129}, Row{2, 1.159, 0.318, 2.188, 0.260},
                         Row{4, 1.543, 0.711, 3.864, 0.463}, Row{6, 1.844, 0.915, 5.891, 0.587},
                         Row{8, 1.958, 0.978, 8.132, 0.665}, Row{12, 1.997, 0.999, 12.983, 0.754}}) {
    INFO("layer " << row.k);
    CHECK(post[row.k - 1].square == Approx(row.post).margin(6e-4));
    CHECK(post[row.k - 1].cosine == Approx(row.post_cosine).margin(6e-4));
    CHECK(pre[row.k - 1].square == Approx(row.pre).margin(6e-4));
    CHECK(pre[row.k - 1].cosine == Approx(row.pre_cosine).margin(6e-4));
    const Bounds bounds = pre_stream_square(static_cast<int32_t>(row.k), 1);
    CHECK(pre[row.k - 1].square >= bounds.low);
    CHECK(pre[row.k - 1].square <= bounds.high);
  }
  CHECK(relu_correlation(1) == Approx(1.0));
  CHECK(relu_correlation(0) == Approx(1 / std::acos(-1.0)));
  CHECK(std::isfinite(relu_correlation(1 + 1e-12)));
}

TEST_CASE("dependency: rows sum to one, diagonals follow O(N) and O(log N)", "[theory]") {
  struct Row {
    int32_t n;
    double post, pre;
  };
  for (const Row& row :
       {Row{12, 4.00, 1.75}, Row{24, 8.00, 2.35}, Row{48, 16.0, 3.00}, Row{200, 66.7, 4.39}}) {
    INFO(row.n << " sub-layers");
    CHECK(own_shares_post(row.n, 0.5) == Approx(row.post).epsilon(2e-3));
    CHECK(own_shares_pre(row.n, 0.5) == Approx(row.pre).epsilon(4e-3));
    const std::vector<double> v(static_cast<size_t>(row.n), 0.5);
    CHECK(sum_of_own_shares(dependency_post(v)) == Approx(own_shares_post(row.n, 0.5)));
    CHECK(sum_of_own_shares(dependency_pre(1, v)) == Approx(own_shares_pre(row.n, 0.5)));
  }
  const std::vector<double> v = {0.2, 0.4, 0.17, 0.9}, omega = {1, 1.3, 1.5, 0.7};
  for (const auto& rows : {dependency_pre(0.6, v), dependency_post(v), dependency_post(v, omega)})
    for (const auto& row : rows) CHECK(std::accumulate(row.begin(), row.end(), 0.0) == Approx(1.0));
  CHECK(dependency_post(v, omega)[3][4] == Approx(0.9 / (0.49 + 0.9)));
  CHECK(dependency_post(v)[2][1] == Approx(0.2 / 1.2 / 1.4 / 1.17));
  CHECK(own_share(0.4, 1) == Approx(dependency_post(v)[1][2]));
  CHECK_THROWS_AS(dependency_post(v, std::vector<double>(2, 1.0)), Error);
}

TEST_CASE("gradients: last layer, Pre-LN profile, decoder profile", "[theory]") {
  const int32_t depths[] = {2, 4, 8, 16, 32};
  const double expected[] = {0.956, 0.719, 0.496, 0.332, 0.224};
  CHECK(last_layer_gradient(128, 32, 1.5) == Approx(1.155).margin(1e-3));
  for (size_t k = 0; k < 5; ++k)
    CHECK(last_layer_gradient(128, 32, pre_mean_field(depths[k], 32, 1).back().square) ==
          Approx(expected[k]).margin(2e-3));
  std::vector<double> squares;
  for (const MeanField& layer : pre_mean_field(12, 32, 1)) squares.push_back(layer.square);
  CHECK(pre_gradient_profile(squares).front() == Approx(2.91).margin(0.01));
  CHECK(pre_gradient_profile(squares).back() == 1.0);
  const auto decoder = decoder_gradient_profile(std::vector<double>(6, 1.0));
  CHECK(decoder.front() == Approx(std::pow(0.5, 2.5)));
  CHECK(decoder.back() == 1.0);
  CHECK(decoder_gradient_profile(std::vector<double>{9, 3, 0}).front() == Approx(0.5));
  CHECK(equations().size() == 14);
  CHECK_THROWS_AS(equation("nothing"), Error);
}
