// A small model with one text, for the tests of what is inside it.
#pragma once

#include <cmath>
#include <vector>

#include "addons/inside/training/inside.h"
#include "training/support/small_model.h"

namespace normscope::test {

struct InsideModel : SmallModel {
  using SmallModel::SmallModel;
  Inside inside(const InsideQuestion& asked = {}) { return inside_of(store, config, text, asked); }
};

inline double length(const double* x, size_t n) {
  double square = 0;
  for (size_t i = 0; i < n; ++i) square += x[i] * x[i];
  return std::sqrt(square);
}

/// The logarithms of a row's probabilities.
inline std::vector<double> log_softmax(const std::vector<double>& row) {
  double sum = 0;
  for (const double x : row) sum += std::exp(x);
  std::vector<double> logs;
  for (const double x : row) logs.push_back(x - std::log(sum));
  return logs;
}

}  // namespace normscope::test
