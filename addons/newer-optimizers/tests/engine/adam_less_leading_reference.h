// Adam less its leading direction, in double.
#pragma once

#include "addons/newer-optimizers/engine/matrix_updates.h"
#include "reference/update.h"

namespace normscope::reference {

/// Takes from u (rows,cols) what lies along its leading right singular direction, as twelve passes of the power method
/// find it.
inline Values less_leading(Values u, int64_t rows, int64_t cols) {
  Values v(at(cols)), y(at(rows));
  const auto times = [&] {
    for (int64_t i = 0; i < rows; ++i) {
      y[at(i)] = 0;
      for (int64_t j = 0; j < cols; ++j) y[at(i)] += u[at(i * cols + j)] * v[at(j)];
    }
  };
  for (int64_t j = 0; j < cols; ++j) v[at(j)] = static_cast<double>(leading_start(j));
  for (int pass = 0; pass < 12; ++pass) {
    times();
    for (int64_t j = 0; j < cols; ++j) {
      v[at(j)] = 0;
      for (int64_t i = 0; i < rows; ++i) v[at(j)] += u[at(i * cols + j)] * y[at(i)];
    }
    const double length = norm(v);
    for (double& e : v) e = length > 1e-17 ? e / length : 0.0;
  }
  times();
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < cols; ++j) u[at(i * cols + j)] -= y[at(i)] * v[at(j)];
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
