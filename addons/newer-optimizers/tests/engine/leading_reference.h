// The leading singular direction of a matrix in double precision, by the passes of the kernels.
#pragma once

#include "addons/newer-optimizers/engine/matrix_updates.h"
#include "reference/update.h"

namespace normscope::reference {

/// The leading right singular direction v of u (rows,cols), of length cols, and u v, of length rows.
struct Leading {
  Values direction, along;
};

inline Leading leading_of(const Values& u, int64_t rows, int64_t cols) {
  Leading of{Values(at(cols)), Values(at(rows))};
  Values &v = of.direction, &y = of.along;
  const auto times = [&] {
    for (int64_t i = 0; i < rows; ++i) {
      y[at(i)] = 0;
      for (int64_t j = 0; j < cols; ++j) y[at(i)] += u[at(i * cols + j)] * v[at(j)];
    }
  };
  for (int64_t j = 0; j < cols; ++j) v[at(j)] = static_cast<double>(leading_start(j));
  for (int pass = 0; pass < kLeadingPasses; ++pass) {
    times();
    for (int64_t j = 0; j < cols; ++j) {
      v[at(j)] = 0;
      for (int64_t i = 0; i < rows; ++i) v[at(j)] += u[at(i * cols + j)] * y[at(i)];
    }
    const double length = norm(v);
    for (double& e : v) e = length > 1e-17 ? e / length : 0.0;
  }
  times();
  return of;
}

}  // namespace normscope::reference
