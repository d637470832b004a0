// These tests hold Adam less its leading direction against the same in double precision over ten steps, and its
// singular values against the values of Adam's own step.
#include <algorithm>

#include "addons/newer-optimizers/tests/engine/leading_reference.h"
#include "addons/newer-optimizers/tests/engine/matrix_parameters.h"
#include "engine/support/step_input_changes.h"

// Adam less its leading direction, in double.

namespace normscope::reference {

/// Takes from u (rows,cols) what lies along its leading right singular direction.
inline Values less_leading(Values u, int64_t rows, int64_t cols) {
  const Leading leading = leading_of(u, rows, cols);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < cols; ++j) u[at(i * cols + j)] -= leading.along[at(i)] * leading.direction[at(j)];
  return u;
}

inline UpdateResult adam_less_leading(const Values& w, const Values& clipped, const Values& m,
                                      const Values& v, int64_t rows, int64_t cols, const StepInputs& s) {
  StepInputs alone = s;
  alone.weight_decay = 0;
  UpdateResult r = adam(w, clipped, m, v, alone);
  r.change = less_leading(std::move(r.change), rows, cols);
  for (size_t i = 0; i < w.size(); ++i) {
    r.change[i] -= static_cast<double>(s.lr) * static_cast<double>(s.weight_decay) * w[i];
    r.value[i] = w[i] + r.change[i];
  }
  return r;
}

}  // namespace normscope::reference

namespace normscope::test {

TEST_CASE("adam less leading: ten steps equal it in double precision, the rest is AdamW to the bit") {
  on_each_instruction_set([] {
    std::vector<float> first;
    for (const Order& order : orders()) {
      INFO(order.name);
      const std::vector<float> all =
          ten_matrix_steps(OpKind::AdamLessLeading, order, reference::adam_less_leading);
      if (first.empty()) first = all;
      CHECK(same_bits(first, all));
    }
  });
}

TEST_CASE("adam less leading: a step keeps all singular values of Adam's but the largest") {
  // Gradients that have a large part in common, as those of all tokens do in a model's first steps.
  MatrixParameters less, plain;
  StepInputs s = matrix_inputs(1);
  s.weight_decay = 0;
  std::vector<Values> before;
  for (MatrixParameters* p : {&less, &plain}) {
    p->gradients(1);
    for (const ParameterCall& c : p->calls) {
      for (int64_t i = 0; i < c.size; ++i)
        if (c.is_matrix())
          c.gradient[i] += (i / c.cols % 2 == 0 ? 0.4f : -0.4f) * (i % c.cols % 3 == 0 ? 1 : -1);
      if (p == &less) before.push_back(wide(c.value, c.size));
    }
  }
  less.run(OpKind::AdamLessLeading, s, orders().front());
  plain.run(OpKind::Adam, s, orders().front());
  int seen = 0;
  for (size_t i = 0; i < less.calls.size(); ++i) {
    const ParameterCall& c = less.calls[i];
    if (!c.is_matrix() || std::min(c.rows, c.cols) < 7) continue;
    INFO(c.rows << " by " << c.cols);
    const auto values_of = [&](const ParameterCall& moved) {
      Values change = wide(moved.value, moved.size);
      for (size_t e = 0; e < change.size(); ++e) change[e] -= before[i][e];
      std::vector<double> values = singular_values(change, c.rows, c.cols);
      std::sort(values.rbegin(), values.rend());
      return values;
    };
    const std::vector<double> left = values_of(c), all = values_of(plain.calls[i]);
    CHECK(all[0] > 1.2 * all[1]);
    CHECK(left.back() < 1e-3 * all[0]);
    for (size_t k = 0; k + 1 < all.size(); ++k) CHECK(left[k] == Approx(all[k + 1]).margin(0.01 * all[0]));
    ++seen;
  }
  CHECK(seen == 4);
}

TEST_CASE("adam less leading: a zero gradient moves nothing, NaN stays visible") {
  MatrixParameters p;
  for (const ParameterCall& c : p.calls) std::fill_n(c.gradient, c.size, 0.0f);
  StepInputs s = matrix_inputs(1);
  s.weight_decay = 0;
  p.run(OpKind::AdamLessLeading, s, orders().front());
  CHECK(p.update_norm[0] == 0.0);
  p.calls[2].gradient[3] = std::nanf("");
  p.run(OpKind::AdamLessLeading, s, orders().front());
  CHECK(std::isnan(p.weight_norm[2]));
  CHECK(std::isfinite(p.weight_norm[4]));
}

TEST_CASE("adam less leading: changing what it reads of a step changes the result") {
  constexpr Optimizer kRule = Optimizer::AdamLessLeading;
  check_every_step_input_counts({.row_weights = true, .clip = true, .dropout = 0.1f},
                                [] { return make_cpu_backend(1); },
                                {{"lr", kRule, [](StepInputs& in) { in.lr *= 2; }},
                                 {"beta1", kRule, [](StepInputs& in) { in.beta1 = 0.8f; }},
                                 {"beta2", kRule, [](StepInputs& in) { in.beta2 = 0.9f; }},
                                 {"weight_decay", kRule, [](StepInputs& in) { in.weight_decay = 0.1f; }}});
}

}  // namespace normscope::test
