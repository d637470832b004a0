// Muon in double, as its paper writes it.
#pragma once

#include <utility>

#include "reference/update.h"

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
