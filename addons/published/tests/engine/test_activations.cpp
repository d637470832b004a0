// The formulas of published models' activations have the values of their definitions. That kernels and models compute
// them is held where all activations are: test_op_cases.cpp, test_model_reference.cpp.
#include "engine/support/op_harness.h"

namespace normscope::test {

TEST_CASE("activations of published models: the formulas have the values of their definitions", "[reference]") {
  namespace formulas = reference::formulas;
  for (const double x : {-3.0, -0.5, 0.0, 0.25, 1.0, 2.5}) {
    INFO(x);
    CHECK(formulas::GeluErf{}.value(x) == Approx(x * 0.5 * std::erfc(-x / std::sqrt(2.0))).epsilon(1e-6));
    CHECK(formulas::Relu2{}.value(x) == Approx(x > 0 ? x * x : 0));
  }
}

}  // namespace normscope::test
