// These tests hold singular values to matrices that were built from known ones, and what a Spectrum says to its formulas.
#include "training/measure/spectrum.h"

#include <numbers>

#include "catch.hpp"

namespace normscope::test_singular_values {

using Doubles = std::vector<double>;

/// These singular values: a diagonal whose neighbouring rows, then columns, are rotated, some times over.
Doubles built(const Doubles& values, size_t rows, size_t cols) {
  Doubles a(rows * cols, 0.0);
  for (size_t i = 0; i < values.size(); ++i) a[i * cols + i] = values[i];
  const auto turn = [&](size_t p, size_t q, size_t step, size_t count, double angle) {
    const double c = std::cos(angle), s = std::sin(angle);
    for (size_t i = 0; i < count; ++i) {
      double &x = a[p + i * step], &y = a[q + i * step];
      const double kept = c * x - s * y;
      y = s * x + c * y;
      x = kept;
    }
  };
  double angle = 0.3;
  for (int round = 0; round < 4; ++round) {
    for (size_t i = 0; i + 1 < rows; ++i) turn(i * cols, (i + 1) * cols, 1, cols, angle += 0.7);
    for (size_t j = 0; j + 1 < cols; ++j) turn(j, j + 1, cols, rows, angle += 0.9);
  }
  return a;
}

void check_values(const Doubles& found, const Doubles& expected) {
  REQUIRE(found.size() == expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    INFO(i << " of " << found.size());
    CHECK(std::abs(found[i] - expected[i]) <= 3e-14 * expected.front());
  }
}

TEST_CASE("singular values: those that a matrix was built from, of any shape, large, small, alike and none") {
  const Doubles apart{5, 3, 1e-3, 1e-7, 0}, alike{2, 2, 2, 1.999, 1};
  for (const Doubles& values : {apart, alike}) {
    check_values(singular_values(built(values, 5, 5), 5, 5), values);
    check_values(singular_values(built(values, 9, 5), 9, 5), values);
    check_values(singular_values(built(values, 5, 12), 5, 12), values);
  }
  check_values(singular_values({3, 4}, 2, 1), {5});
  check_values(singular_values({3, 4}, 1, 2), {5});
  CHECK(singular_values(Doubles(6, 0.0), 2, 3) == Doubles{0, 0});
  for (const double scale : {1e-200, 1e200}) {  // whose squares are not numbers
    Doubles scaled = built(apart, 6, 5);
    for (double& x : scaled) x *= scale;
    check_values(singular_values(scaled, 6, 5), {5 * scale, 3 * scale, 1e-3 * scale, 1e-7 * scale, 0});
  }
  for (const double broken : singular_values({1, std::numeric_limits<double>::infinity(), 0, 1}, 2, 2))
    CHECK(std::isnan(broken));
}

TEST_CASE("singular values: they are no eigenvalues, and no lengths of rows") {
  // [1 1; 0 1] has the eigenvalue 1 twice, and rows of length sqrt(2) and 1.
  check_values(singular_values({1, 1, 0, 1}, 2, 2), {std::numbers::phi, 1 / std::numbers::phi});
}

TEST_CASE("singular values: as many as a layer's matrix has") {
  Doubles values;
  for (int i = 0; i < 48; ++i) values.push_back(std::exp(-0.3 * i));
  check_values(singular_values(built(values, 48, 96), 48, 96), values);
}

TEST_CASE("a spectrum: stable and effective rank, norm, and where a part of the values lies") {
  const Spectrum one{{7, 0, 0, 0}}, even{{2, 2, 2, 2}}, mixed{{4, 2, 1, 1, 0}};
  CHECK(one.stable_rank() == Approx(1));
  CHECK(one.effective_rank() == Approx(1));
  CHECK(even.stable_rank() == Approx(4));
  CHECK(even.effective_rank() == Approx(4));
  CHECK(mixed.norm() == Approx(std::sqrt(22)));
  CHECK(mixed.stable_rank() == Approx(22.0 / 16));
  CHECK(mixed.effective_rank() == Approx(22.0 * 22 / (256 + 16 + 1 + 1)));
  CHECK(mixed.share_at(1) == 1);
  CHECK(mixed.share_at(0.75) == 0.5);
  CHECK(mixed.share_at(0.5) == 0.25);
  CHECK(mixed.share_at(0.125) == 0.125);  // between two
  CHECK(mixed.share_at(0) == 0);
  const Spectrum nothing{{0, 0}};
  CHECK(std::isnan(nothing.stable_rank()));
  CHECK(std::isnan(nothing.effective_rank()));
}

}  // namespace normscope::test_singular_values
