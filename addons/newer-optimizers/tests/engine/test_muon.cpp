// These tests hold Muon against the iteration in double precision over ten steps, on every instruction set and order of
// chunks; its singular values against the published band; and its other parameters against AdamW, bit by bit.
#include <cmath>
#include <set>

#include "addons/newer-optimizers/tests/engine/muon_changes.h"
#include "addons/newer-optimizers/tests/engine/muon_reference.h"
#include "catch.hpp"
#include "engine/support/model_fixture.h"
#include "engine/support/op_cases.h"
#include "engine/support/op_harness.h"

namespace normscope::test {
namespace {

struct MuonShape {
  int64_t rows, cols;
};
/// Square, wide and tall ones, whole vectors and not, beyond a block of 4096; one column.
constexpr MuonShape kMuonShapes[] = {{5, 5}, {7, 33}, {40, 12}, {64, 80}, {97, 50}, {9, 1}};

/// Matrices with vectors between them, in guarded memory.
struct MuonParameters {
  MuonParameters() {
    Random random(3);
    int64_t at = 0;
    for (const MuonShape& shape : kMuonShapes) {
      const int64_t n = shape.rows * shape.cols;
      add(random, n);
      calls.back().rows = shape.rows;
      calls.back().cols = shape.cols;
      calls.back().at = at;
      at += (n + 15) / 16 * 16;
      add(random, shape.rows);  // a bias, say
    }
    for (auto* numbers : {&update_norm, &weight_norm}) numbers->assign(calls.size(), 0.0);
  }
  void add(Random& random, int64_t n) {
    const std::vector<float> zeros(static_cast<size_t>(n), 0.0f);
    calls.push_back({memory.copy(random.normal({n}, 0.3).values), memory.floats(static_cast<size_t>(n)),
                     memory.copy(zeros), memory.copy(zeros), n});
  }
  /// The gradients of a step, the same for everyone.
  void gradients(int step) {
    Random random(100 + static_cast<uint64_t>(step));
    for (const ParameterCall& p : calls) {
      const std::vector<float> g = random.normal({p.size}, 0.05, 0.3).values;
      std::copy(g.begin(), g.end(), p.gradient);
    }
  }
  void run(OpKind op, const StepInputs& step, const Order& order) {
    Call c{};
    c.phase = Phase::Update;
    c.parameters = calls.data();
    c.parameter_count = static_cast<int64_t>(calls.size());
    c.update_norm = update_norm.data();
    c.weight_norm = weight_norm.data();
    c.clip_factor = &clip_factor;
    CHECK(run_stages(kernels_of(op).forward(c), c, step, order));
    CHECK(memory.intact());
  }
  Guarded memory{size_t{1} << 17};
  std::vector<ParameterCall> calls;
  std::vector<double> update_norm, weight_norm;
  double clip_factor = 1.0;
};

StepInputs muon_inputs(int step) {
  return StepInputs{.step = static_cast<uint32_t>(step),
                    .lr = 2e-2f,
                    .eps = 1e-6f,
                    .bias_correction1 = static_cast<float>(1 - std::pow(0.9, step)),
                    .bias_correction2 = static_cast<float>(1 - std::pow(0.98, step)),
                    .momentum = 0.95f,
                    .weight_decay = 0.1f};
}

Values wide(const float* p, int64_t n) { return Values(p, p + n); }

double apart(const Values& a, const Values& b) {
  Values difference(a);
  for (size_t i = 0; i < a.size(); ++i) difference[i] -= b[i];
  return norm_of(difference) / norm_of(b);
}

/// The singular values of a matrix (rows,cols): roots of the eigenvalues of its smaller square, by Jacobi's turns.
std::vector<double> singular_values(const Values& x, int64_t rows, int64_t cols) {
  const int64_t n = std::min(rows, cols), length = std::max(rows, cols);
  const auto entry = [&](int64_t i, int64_t l) {
    return x[static_cast<size_t>(rows > cols ? l * cols + i : i * cols + l)];
  };
  std::vector<std::vector<double>> a(static_cast<size_t>(n),
                                     std::vector<double>(static_cast<size_t>(n), 0.0));
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      for (int64_t l = 0; l < length; ++l)
        a[static_cast<size_t>(i)][static_cast<size_t>(j)] += entry(i, l) * entry(j, l);
  for (int sweep = 0; sweep < 50; ++sweep)
    for (size_t p = 0; p < a.size(); ++p)
      for (size_t q = p + 1; q < a.size(); ++q) {
        if (std::abs(a[p][q]) < 1e-15) continue;
        const double angle = 0.5 * std::atan2(2 * a[p][q], a[q][q] - a[p][p]);
        const double c = std::cos(angle), s = std::sin(angle);
        for (size_t k = 0; k < a.size(); ++k) {
          const double up = a[k][p], uq = a[k][q];
          a[k][p] = c * up - s * uq;
          a[k][q] = s * up + c * uq;
        }
        for (size_t k = 0; k < a.size(); ++k) {
          const double up = a[p][k], uq = a[q][k];
          a[p][k] = c * up - s * uq;
          a[q][k] = s * up + c * uq;
        }
      }
  std::vector<double> values;
  for (size_t i = 0; i < a.size(); ++i) values.push_back(std::sqrt(std::max(0.0, a[i][i])));
  return values;
}

/// Compares ten steps, clipped, with the reference, which goes on from its own moments.
std::vector<float> whole_muon_run(const Order& order) {
  MuonParameters p, plain;
  p.clip_factor = plain.clip_factor = 0.37;
  std::vector<Values> moments;
  for (const ParameterCall& c : p.calls) moments.emplace_back(static_cast<size_t>(c.size), 0.0);
  for (int step = 1; step <= 10; ++step) {
    std::vector<Values> before;
    for (const ParameterCall& c : p.calls) before.push_back(wide(c.value, c.size));
    p.gradients(step);
    plain.gradients(step);
    p.run(OpKind::Muon, muon_inputs(step), order);
    plain.run(OpKind::Adam, muon_inputs(step), order);
    for (size_t i = 0; i < p.calls.size(); ++i) {
      const ParameterCall& c = p.calls[i];
      INFO("step " << step << ", " << c.rows << " by " << c.cols << ", " << c.size);
      if (!c.is_matrix()) {  // AdamW's bits
        CHECK(std::equal(c.value, c.value + c.size, plain.calls[i].value));
        CHECK(std::equal(c.v, c.v + c.size, plain.calls[i].v));
        CHECK(p.update_norm[i] == plain.update_norm[i]);
        continue;
      }
      Values g = wide(c.gradient, c.size);
      for (double& e : g) e *= 0.37;
      const auto expected = reference::muon(before[i], g, moments[i], c.rows, c.cols, muon_inputs(step));
      moments[i] = expected.m;
      Values change = wide(c.value, c.size);
      for (size_t e = 0; e < change.size(); ++e) change[e] -= before[i][e];
      CHECK(apart(change, expected.change) < 2e-4);
      CHECK(apart(wide(c.m, c.size), expected.m) < 1e-5);
      CHECK(p.update_norm[i] == Approx(norm_of(expected.change)).epsilon(1e-4));
      CHECK(p.weight_norm[i] == Approx(norm_of(expected.value)).epsilon(1e-5));
      CHECK(std::all_of(c.v, c.v + c.size, [](float v) { return v == 0; }));  // one moment
    }
  }
  std::vector<float> all;
  for (const ParameterCall& c : p.calls)
    for (const float* from : {c.value, c.m, c.v}) all.insert(all.end(), from, from + c.size);
  return all;
}

}  // namespace

TEST_CASE("muon: ten steps equal the published iteration in double precision, the rest is AdamW to the bit",
          "[ops]") {
  on_each_instruction_set([] {
    std::vector<float> first;
    for (const Order& order : orders()) {
      INFO(order.name);
      const std::vector<float> all = whole_muon_run(order);
      if (first.empty()) first = all;
      CHECK(same_bits(first, all));
    }
  });
}

TEST_CASE("muon: neighbouring rules miss the update by far", "[ops]") {
  Random random(5);
  const auto draw = [&] {
    const std::vector<float> x = random.normal({20 * 32}, 0.0, 1.0).values;
    return Values(x.begin(), x.end());
  };
  const Values w = draw(), g = draw(), m = draw();
  StepInputs s = muon_inputs(3);
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

TEST_CASE("muon: the update's singular values lie in the published band, those of the gradient do not",
          "[ops]") {
  MuonParameters p;
  p.gradients(1);
  StepInputs s = muon_inputs(1);
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

TEST_CASE("muon: a matrix's own rate is that of its whole step", "[ops]") {
  MuonParameters half, whole;
  half.calls[2].steps.rate = 0.5f;
  std::vector<Values> moves;
  for (MuonParameters* p : {&half, &whole}) {
    const ParameterCall& c = p->calls[2];
    const Values before = wide(c.value, c.size);
    p->gradients(1);
    p->run(OpKind::Muon, muon_inputs(1), orders().front());
    moves.push_back(wide(c.value, c.size));
    for (size_t i = 0; i < before.size(); ++i) moves.back()[i] -= before[i];
  }
  for (double& e : moves[1]) e *= 0.5;
  CHECK(apart(moves[0], moves[1]) < 1e-4);
}

TEST_CASE("muon: a zero gradient moves nothing, NaN stays visible", "[ops]") {
  MuonParameters p;
  for (const ParameterCall& c : p.calls) std::fill_n(c.gradient, c.size, 0.0f);
  StepInputs s = muon_inputs(1);
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

TEST_CASE("muon: changing what it reads of a step changes the result", "[replay]") {
  check_every_step_input_counts(
      {.row_weights = true, .clip = true, .dropout = 0.1f}, [] { return make_cpu_backend(1); },
      muon_changes());
}

TEST_CASE("muon: the matrices of the layers are its own, and nothing else", "[model]") {
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
