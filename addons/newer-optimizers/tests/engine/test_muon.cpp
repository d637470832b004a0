// These tests hold Muon against the iteration in double precision over ten steps, on every instruction set and order of
// chunks; its singular values against the published band; and its other parameters against AdamW, bit by bit.

#include <algorithm>

#include "addons/newer-optimizers/tests/engine/matrix_parameters.h"
#include "addons/newer-optimizers/tests/engine/muon_changes.h"

// Muon in double, as its paper writes it.

namespace normscope::reference {

/// The iteration as Jordan et al. 2024 write it, on the rows or, where there are more, on the columns.
inline Values orthogonalised(Values x, int64_t rows, int64_t cols, int iterations = 5) {
  if (rows > cols) {  // transposed, and back
    Values turned(x.size());
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < cols; ++j) turned[at(j * rows + i)] = x[at(i * cols + j)];
    turned = orthogonalised(std::move(turned), cols, rows, iterations);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < cols; ++j) x[at(i * cols + j)] = turned[at(j * rows + i)];
    return x;
  }
  const auto product = [](const Values& a, const Values& b, int64_t n, int64_t k, int64_t m, bool turned) {
    Values c(at(n * m), 0.0);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t l = 0; l < k; ++l)
        for (int64_t j = 0; j < m; ++j)
          c[at(i * m + j)] += a[at(i * k + l)] * b[at(turned ? j * k + l : l * m + j)];
    return c;
  };
  const double size = norm(x) + 1e-7;
  for (double& e : x) e /= size;
  for (int i = 0; i < iterations; ++i) {
    const Values a = product(x, x, rows, cols, rows, true), squared = product(a, a, rows, rows, rows, false);
    Values b(a.size());
    for (size_t e = 0; e < a.size(); ++e) b[e] = -4.7750 * a[e] + 2.0315 * squared[e];
    const Values moved = product(b, x, rows, rows, cols, false);
    for (size_t e = 0; e < x.size(); ++e) x[e] = 3.4445 * x[e] + moved[e];
  }
  return x;
}

/// Jordan et al. 2024 with Nesterov's momentum, as large as Liu et al. 2025 (arXiv 2502.16982) make it:
/// w -= lr (0.2 sqrt(max(rows, cols)) O + decay w).
inline UpdateResult muon(const Values& w, const Values& clipped, const Values& m, int64_t rows, int64_t cols,
                         const StepInputs& s) {
  const Values g = with_l2(w, clipped, s);
  const double momentum = static_cast<double>(s.momentum);
  UpdateResult r{w, m, {}, Values(w.size())};
  Values direction(w.size());
  for (size_t i = 0; i < w.size(); ++i) {
    r.m[i] = momentum * m[i] + g[i];
    direction[i] = g[i] + momentum * r.m[i];
  }
  const Values o = orthogonalised(std::move(direction), rows, cols);
  const double scale = 0.2 * std::sqrt(static_cast<double>(std::max(rows, cols)));
  for (size_t i = 0; i < w.size(); ++i) {
    r.change[i] = -static_cast<double>(s.lr) * (scale * o[i] + static_cast<double>(s.weight_decay) * w[i]);
    r.value[i] = w[i] + r.change[i];
  }
  return r;
}

}  // namespace normscope::reference

namespace normscope::test {
namespace {

UpdateResult muon_rule(const Values& w, const Values& g, const Values& m, const Values& v, int64_t rows,
                       int64_t cols, const StepInputs& step) {
  UpdateResult r = reference::muon(w, g, m, rows, cols, step);
  r.v = v;  // one moment
  return r;
}

}  // namespace

TEST_CASE("muon: ten steps equal the published iteration in double precision, the rest is AdamW to the bit") {
  on_each_instruction_set([] {
    std::vector<float> first;
    for (const Order& order : orders()) {
      INFO(order.name);
      const std::vector<float> all = ten_matrix_steps(OpKind::Muon, order, muon_rule);
      if (first.empty()) first = all;
      CHECK(same_bits(first, all));
    }
  });
}

TEST_CASE("muon: neighbouring rules miss the update by far") {
  Random random(5);
  const auto draw = [&] {
    const std::vector<float> x = random.normal({20 * 32}, 0.0, 1.0).values;
    return Values(x.begin(), x.end());
  };
  const Values w = draw(), g = draw(), m = draw();
  StepInputs s = matrix_inputs(3);
  s.weight_decay = 0;
  const Values right = reference::muon(w, g, m, 20, 32, s).change;
  const auto update = [&](const Values& direction, int iterations, double scale) {
    Values change = reference::orthogonalised(direction, 20, 32, iterations);
    for (double& e : change) e *= -static_cast<double>(s.lr) * scale;
    return change;
  };
  Values heavy(w.size()), nesterov(w.size());
  for (size_t i = 0; i < w.size(); ++i) {
    heavy[i] = 0.95 * m[i] + g[i];
    nesterov[i] = g[i] + 0.95 * heavy[i];
  }
  const double scale = 0.2 * std::sqrt(32.0);
  CHECK(apart(update(nesterov, 5, scale), right) < 1e-6);
  CHECK(apart(update(heavy, 5, scale), right) > 0.05);                    // without Nesterov's look ahead
  CHECK(apart(update(nesterov, 4, scale), right) > 0.02);                 // an iteration less
  CHECK(apart(update(nesterov, 5, 1.0), right) > 0.05);                   // Jordan's own size
  CHECK(apart(update(nesterov, 5, 0.2 * std::sqrt(20.0)), right) > 0.1);  // the smaller side
}

TEST_CASE("muon: the update's singular values lie in the published band, those of the gradient do not") {
  MatrixParameters p;
  p.gradients(1);
  StepInputs s = matrix_inputs(1);
  s.lr = 1;
  s.weight_decay = 0;
  std::vector<Values> before;
  for (const ParameterCall& c : p.calls) before.push_back(wide(c.value, c.size));
  p.run(OpKind::Muon, s, orders()[0]);
  int seen = 0;
  for (size_t i = 0; i < p.calls.size(); ++i) {
    const ParameterCall& c = p.calls[i];
    if (!c.is_matrix() || 2 * std::min(c.rows, c.cols) > std::max(c.rows, c.cols) || c.cols == 1) continue;
    INFO(c.rows << " by " << c.cols);  // twice as long as wide: well conditioned
    Values o = wide(c.value, c.size), g = wide(c.gradient, c.size);
    for (size_t e = 0; e < o.size(); ++e)
      o[e] = (before[i][e] - o[e]) / (0.2 * std::sqrt(static_cast<double>(std::max(c.rows, c.cols))));
    const double size = norm_of(g);
    for (double& e : g) e /= size;
    for (const double value : singular_values(o, c.rows, c.cols)) {
      CHECK(value > 0.65);
      CHECK(value < 1.25);
    }
    for (const double value : singular_values(g, c.rows, c.cols)) CHECK(value < 0.95);
    const std::vector<double> plain = singular_values(g, c.rows, c.cols);
    CHECK(*std::min_element(plain.begin(), plain.end()) < 0.4);
    ++seen;
  }
  CHECK(seen == 2);
}

TEST_CASE("muon: a matrix's own rate is that of its whole step") {
  MatrixParameters half, whole;
  half.calls[2].steps.rate = 0.5f;
  std::vector<Values> moves;
  for (MatrixParameters* p : {&half, &whole}) {
    const ParameterCall& c = p->calls[2];
    const Values before = wide(c.value, c.size);
    p->gradients(1);
    p->run(OpKind::Muon, matrix_inputs(1), orders().front());
    moves.push_back(wide(c.value, c.size));
    for (size_t i = 0; i < before.size(); ++i) moves.back()[i] -= before[i];
  }
  for (double& e : moves[1]) e *= 0.5;
  CHECK(apart(moves[0], moves[1]) < 1e-4);
}

TEST_CASE("muon: a zero gradient moves nothing, NaN stays visible") {
  MatrixParameters p;
  for (const ParameterCall& c : p.calls) std::fill_n(c.gradient, c.size, 0.0f);
  StepInputs s = matrix_inputs(1);
  s.weight_decay = 0;
  const Values before = wide(p.calls[0].value, p.calls[0].size);
  p.run(OpKind::Muon, s, orders()[0]);
  CHECK(apart(wide(p.calls[0].value, p.calls[0].size), before) == 0.0);
  CHECK(p.update_norm[0] == 0.0);
  p.calls[2].gradient[3] = std::nanf("");
  p.run(OpKind::Muon, s, orders()[0]);
  CHECK(std::isnan(p.weight_norm[2]));
  CHECK(std::isfinite(p.weight_norm[4]));
}

TEST_CASE("muon: changing what it reads of a step changes the result") {
  check_every_step_input_counts(
      {.row_weights = true, .clip = true, .dropout = 0.1f}, [] { return make_cpu_backend(1); },
      muon_changes());
}

TEST_CASE("muon: the matrices of the layers are its own, and nothing else") {
  const Tiny tiny({.tied = false});
  const std::set<std::string> ends = {"wq", "wk", "wv", "wo", "w1", "w2"};
  int matrices = 0;
  for (const ParameterInfo& info : tiny.store->parameters()) {
    INFO(info.name);
    const bool own = info.layer > 0 && ends.count(info.name.substr(info.name.rfind('.') + 1)) > 0;
    CHECK(info.hidden == own);
    matrices += own;
  }
  CHECK(matrices == 12);
  CHECK_THROWS_WITH(tiny.store->mark_hidden("L01.attn.bq"), Catch::Contains("no matrix"));
}

}  // namespace normscope::test
