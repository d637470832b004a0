// Parameters for optimizers that have a rule of their own for matrices: see test_muon.cpp.
#pragma once

#include <algorithm>

#include "engine/support/op_harness.h"
#include "reference/update.h"

namespace normscope::test {

using reference::UpdateResult;

struct MatrixShape {
  int64_t rows, cols;
};
/// Square, wide and tall ones, whole vectors and not, beyond a block of 4096; one column.
inline constexpr MatrixShape kMatrixShapes[] = {{5, 5}, {7, 33}, {40, 12}, {64, 80}, {97, 50}, {9, 1}};

/// Matrices with vectors between them, in guarded memory.
struct MatrixParameters {
  MatrixParameters() {
    Random random(3);
    int64_t at = 0;
    for (const MatrixShape& shape : kMatrixShapes) {
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
  GuardedMemory memory{size_t{1} << 17};
  std::vector<ParameterCall> calls;
  std::vector<double> update_norm, weight_norm;
  double clip_factor = 1.0;
};

inline StepInputs matrix_inputs(int step) {
  return StepInputs{.step = static_cast<uint32_t>(step),
                    .lr = 2e-2f,
                    .eps = 1e-6f,
                    .bias_correction1 = static_cast<float>(1 - std::pow(0.9, step)),
                    .bias_correction2 = static_cast<float>(1 - std::pow(0.98, step)),
                    .momentum = 0.95f,
                    .weight_decay = 0.1f,
                    .update_bound = 0.01f};
}

inline Values wide(const float* p, int64_t n) { return Values(p, p + n); }

inline double apart(const Values& a, const Values& b) {
  Values difference(a);
  for (size_t i = 0; i < a.size(); ++i) difference[i] -= b[i];
  return norm_of(difference) / norm_of(b);
}

/// The singular values of a matrix (rows,cols): roots of the eigenvalues of its smaller square, by Jacobi's turns.
inline std::vector<double> singular_values(const Values& x, int64_t rows, int64_t cols) {
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

/// What a rule in double makes of a matrix (rows,cols) with these weights, clipped gradients and moments.
using MatrixRule = UpdateResult (*)(const Values& w, const Values& g, const Values& m, const Values& v,
                                    int64_t rows, int64_t cols, const StepInputs& step);

/// Compares ten steps, clipped, with the rule in double, which goes on from its own moments, and everything that is no
/// matrix with Adam, bit by bit.
inline std::vector<float> ten_matrix_steps(OpKind op, const Order& order, MatrixRule rule) {
  MatrixParameters p, plain;
  p.clip_factor = plain.clip_factor = 0.37;
  std::vector<std::pair<Values, Values>> moments;
  for (const ParameterCall& c : p.calls) {
    const Values zeros(static_cast<size_t>(c.size), 0.0);
    moments.emplace_back(zeros, zeros);
  }
  for (int step = 1; step <= 10; ++step) {
    std::vector<Values> before;
    for (const ParameterCall& c : p.calls) before.push_back(wide(c.value, c.size));
    p.gradients(step);
    plain.gradients(step);
    p.run(op, matrix_inputs(step), order);
    plain.run(OpKind::Adam, matrix_inputs(step), order);
    for (size_t i = 0; i < p.calls.size(); ++i) {
      const ParameterCall& c = p.calls[i];
      INFO("step " << step << ", " << c.rows << " by " << c.cols << ", " << c.size);
      if (!c.is_matrix()) {
        CHECK(std::equal(c.value, c.value + c.size, plain.calls[i].value));
        CHECK(std::equal(c.v, c.v + c.size, plain.calls[i].v));
        CHECK(p.update_norm[i] == plain.update_norm[i]);
        continue;
      }
      Values g = wide(c.gradient, c.size);
      for (double& e : g) e *= 0.37;
      const UpdateResult expected =
          rule(before[i], g, moments[i].first, moments[i].second, c.rows, c.cols, matrix_inputs(step));
      moments[i] = {expected.m, expected.v};
      Values change = wide(c.value, c.size);
      for (size_t e = 0; e < change.size(); ++e) change[e] -= before[i][e];
      CHECK(apart(change, expected.change) < 2e-4);
      CHECK(apart(wide(c.m, c.size), expected.m) < 1e-5);
      CHECK(p.update_norm[i] == Approx(norm_of(expected.change)).epsilon(1e-4));
      CHECK(p.weight_norm[i] == Approx(norm_of(expected.value)).epsilon(1e-5));
      const Values second = wide(c.v, c.size);  // zero for Muon, which has one moment
      CHECK((norm_of(expected.v) == 0 ? norm_of(second) : apart(second, expected.v)) <= 1e-5);
    }
  }
  std::vector<float> all;
  for (const ParameterCall& c : p.calls)
    for (const float* from : {c.value, c.m, c.v}) all.insert(all.end(), from, from + c.size);
  return all;
}

}  // namespace normscope::test
