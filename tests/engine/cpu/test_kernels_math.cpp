// These tests bound the error of the vectorised exp, tanh and erf on every instruction set: a dense sweep against
// double, in units of the last place of the exact result. The bounds are those stated in cpu/vector_math.h.
#include <bit>

#include "catch.hpp"
#include "engine/cpu/vector_math.h"
#include "engine/support/op_harness.h"

namespace normscope::test {
namespace {

/// The distance from the exact result in units of the last place of its float.
double ulps(float got, double exact) {
  if (std::isnan(got)) return std::numeric_limits<double>::infinity();
  const int exponent = std::max(std::ilogb(exact), -126);
  return std::abs(static_cast<double>(got) - exact) / std::ldexp(1.0, exponent - 23);
}

/// Every 251st float of both signs up to `limit` in magnitude.
std::vector<float> sweep(float limit) {
  std::vector<float> x;
  const uint32_t last = std::bit_cast<uint32_t>(limit);
  for (uint32_t bits = 0x00800000u; bits <= last; bits += 251) {
    x.push_back(std::bit_cast<float>(bits));
    x.push_back(-x.back());
  }
  return x;
}

template <class Function, class Exact>
double worst_ulps(Function function, Exact exact, float limit) {
  const std::vector<float> x = sweep(limit);
  std::vector<float> y(x.size());
  function(x.data(), y.data(), static_cast<int64_t>(x.size()));
  double worst = 0;
  for (size_t i = 0; i < x.size(); ++i) worst = std::max(worst, ulps(y[i], exact(static_cast<double>(x[i]))));
  return worst;
}

}  // namespace

TEST_CASE("vector exp, tanh and erf: within their ulp over a dense sweep", "[kernels]") {
  for (const std::string& isa : instruction_sets()) {
    use_instruction_set(isa);
    INFO(isa);
    CHECK(worst_ulps(
              cpu::vector_exp, [](double x) { return std::exp(x); }, 87.3f) <= 2.0);
    CHECK(worst_ulps(
              cpu::vector_tanh, [](double x) { return std::tanh(x); }, 30.0f) <= 4.0);
    CHECK(worst_ulps(
              cpu::vector_erf, [](double x) { return std::erf(x); }, 30.0f) <= 2.0);
    // Ends, special values, and every length of a partial vector.
    const float infinity = std::numeric_limits<float>::infinity(),
                nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> x = {0.0f, -infinity, infinity, nan, -200.0f, 200.0f, 88.75f, 1.0f};
    for (size_t n = 1; n <= x.size(); ++n) {
      std::vector<float> e(n + 1, 7.0f), t(n + 1, 7.0f), f(n + 1, 7.0f);
      cpu::vector_exp(x.data(), e.data(), static_cast<int64_t>(n));
      cpu::vector_tanh(x.data(), t.data(), static_cast<int64_t>(n));
      cpu::vector_erf(x.data(), f.data(), static_cast<int64_t>(n));
      CHECK(e[n] == 7.0f);
      CHECK(t[n] == 7.0f);
      CHECK(f[n] == 7.0f);
      for (size_t i = 0; i < n; ++i) {
        const double x64 = static_cast<double>(x[i]);
        if (std::isnan(x[i])) {
          CHECK(std::isnan(e[i]));
          CHECK(std::isnan(t[i]));
          CHECK(std::isnan(f[i]));
        } else {
          CHECK(e[i] == Approx(static_cast<float>(std::exp(x64))));
          CHECK(t[i] == Approx(static_cast<float>(std::tanh(x64))));
          CHECK(f[i] == Approx(static_cast<float>(std::erf(x64))));
        }
      }
    }
  }
  use_instruction_set("");
}

}  // namespace normscope::test
