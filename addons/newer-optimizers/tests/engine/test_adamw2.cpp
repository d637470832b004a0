// These tests hold AdamW^2 against the same in double precision over ten steps, and its steps against their bound by
// singular values that Jacobi's turns find.
#include <algorithm>

#include "addons/newer-optimizers/tests/engine/leading_reference.h"
#include "addons/newer-optimizers/tests/engine/matrix_parameters.h"
#include "engine/support/step_input_changes.h"

namespace normscope::reference {

/// AdamW^2 in double precision.
inline UpdateResult adamw2(const Values& w, const Values& clipped, const Values& m, const Values& v,
                           int64_t rows, int64_t cols, const StepInputs& s) {
  StepInputs alone = s;
  alone.weight_decay = 0;
  UpdateResult r = adam(w, clipped, m, v, alone);
  const double most = static_cast<double>(s.update_bound) * norm(leading_of(w, rows, cols).along);
  const double factor = std::min(1.0, most / norm(leading_of(r.change, rows, cols).along));
  for (size_t i = 0; i < w.size(); ++i) {
    const double decay = static_cast<double>(s.lr) * static_cast<double>(s.weight_decay) * w[i];
    r.change[i] = factor * (r.change[i] - decay);
    r.value[i] = w[i] + r.change[i];
  }
  return r;
}

}  // namespace normscope::reference

namespace normscope::test {
namespace {

double largest_of(const Values& x, int64_t rows, int64_t cols) {
  const std::vector<double> all = singular_values(x, rows, cols);
  return *std::max_element(all.begin(), all.end());
}

/// The largest singular value of what a step changed over the largest of the weights before it, matrix by matrix.
std::vector<double> shares_moved(float bound) {
  MatrixParameters p;
  p.gradients(1);
  StepInputs s = matrix_inputs(1);
  s.weight_decay = 0;
  s.update_bound = bound;
  std::vector<Values> before;
  for (const ParameterCall& c : p.calls) before.push_back(wide(c.value, c.size));
  p.run(OpKind::AdamW2, s, orders().front());
  std::vector<double> shares;
  for (size_t i = 0; i < p.calls.size(); ++i) {
    const ParameterCall& c = p.calls[i];
    if (!c.is_matrix()) continue;
    Values change = wide(c.value, c.size);
    for (size_t e = 0; e < change.size(); ++e) change[e] -= before[i][e];
    shares.push_back(largest_of(change, c.rows, c.cols) / largest_of(before[i], c.rows, c.cols));
  }
  return shares;
}

}  // namespace

TEST_CASE("adamw2: ten steps equal it in double precision, the rest is AdamW to the bit") {
  on_each_instruction_set([] {
    std::vector<float> first;
    for (const Order& order : orders()) {
      INFO(order.name);
      const std::vector<float> all = ten_matrix_steps(OpKind::AdamW2, order, reference::adamw2);
      if (first.empty()) first = all;
      CHECK(same_bits(first, all));
    }
  });
}

TEST_CASE("adamw2: no step is a larger share of its matrix than the bound, and a loose bound is AdamW") {
  // Twelve passes find a largest singular value some percent too small where the second is near.
  for (const double share : shares_moved(0.005f)) {
    CHECK(share < 0.005 * 1.05);
    CHECK(share > 0.005 * 0.95);
  }
  const std::vector<double> loose = shares_moved(100.0f), looser = shares_moved(1000.0f);
  CHECK(loose == looser);
  for (const double share : loose) CHECK(share > 0.01);
}

TEST_CASE("adamw2: a matrix of zeros moves freely, NaN stays visible") {
  MatrixParameters p, plain;
  StepInputs s = matrix_inputs(1);
  s.update_bound = 0.001f;
  for (MatrixParameters* of : {&p, &plain}) {
    of->gradients(1);
    std::fill_n(of->calls[0].value, of->calls[0].size, 0.0f);
  }
  p.run(OpKind::AdamW2, s, orders().front());
  plain.run(OpKind::Adam, s, orders().front());
  CHECK(p.update_norm[0] > 0);
  CHECK(p.update_norm[0] == Approx(plain.update_norm[0]).epsilon(1e-5));
  CHECK(p.update_norm[2] < plain.update_norm[2]);
  p.calls[2].gradient[3] = std::nanf("");
  p.run(OpKind::AdamW2, s, orders().front());
  CHECK(std::isnan(p.weight_norm[2]));
  CHECK(std::isfinite(p.weight_norm[4]));
}

TEST_CASE("adamw2: changing what it reads of a step changes the result") {
  constexpr Optimizer kRule = Optimizer::AdamW2;
  check_every_step_input_counts({.row_weights = true, .clip = true, .dropout = 0.1f},
                                [] { return make_cpu_backend(1); },
                                {{"lr", kRule, [](StepInputs& in) { in.lr *= 2; }},
                                 {"beta2", kRule, [](StepInputs& in) { in.beta2 = 0.9f; }},
                                 {"update_bound", kRule, [](StepInputs& in) { in.update_bound = 1e-5f; }},
                                 {"weight_decay", kRule, [](StepInputs& in) { in.weight_decay = 0.1f; }}});
}

}  // namespace normscope::test
