// The part of LiveMeasurements that looks for extremes in a state, and at its rank: see step_metrics.h.
#include <algorithm>
#include <cmath>
#include <limits>

#include "training/measure/step_metrics.h"

namespace normscope {
namespace {

/// `median_of` reorders the numbers, of which there is at least one and none is NaN. Of an even count it is the mean of
/// the two in the middle.
double median_of(std::vector<float>& numbers) {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  const auto upper = static_cast<double>(*middle);
  if (numbers.size() % 2 == 1) return upper;
  return (upper + static_cast<double>(*std::max_element(numbers.begin(), middle))) / 2;
}

/// `add_products` adds to sums (n,n) the products of all pairs of the n numbers at x, but for those below the diagonal.
void add_products(const float* x, size_t n, float* sums) {
  for (size_t i = 0; i < n; ++i)
    for (size_t j = i; j < n; ++j) sums[i * n + j] += x[i] * x[j];
}

/// `mirror` fills in what is below the diagonal.
void mirror(std::vector<float>& sums, size_t n) {
  for (size_t i = 1; i < n; ++i)
    for (size_t j = 0; j < i; ++j) sums[i * n + j] = sums[j * n + i];
}

}  // namespace

/// `number_extreme` writes the two numbers of the state in y_. It uses factor_, which only norms fill later.
void LiveMeasurements::number_extreme(double* number) {
  factor_.resize(y_.size());  // within the reserved capacity
  size_t at = 0;
  bool finite = true;
  for (size_t i = 0; i < y_.size(); ++i) {
    factor_[i] = std::abs(y_[i]);
    finite = finite && std::isfinite(factor_[i]);
    if (factor_[i] > factor_[at]) at = i;
  }
  number[0] = number[1] = std::numeric_limits<double>::quiet_NaN();
  if (!finite) return;
  const auto largest = static_cast<double>(factor_[at]);
  const double median = median_of(factor_);
  if (median > 0) number[0] = largest / median;
  number[1] = static_cast<double>(at / width_ % tokens_per_sequence_ + 1);
}

/// `effective_rank` is that of the state in y_. Y Y' and Y' Y have the same eigenvalues but for zeros: the smaller one is
/// computed. It uses factor_, which only norms fill later.
double LiveMeasurements::effective_rank() {
  const size_t tokens = tokens_per_sequence_, side = std::min(tokens, width_), sequences = rows_ / tokens;
  double sum = 0;
  for (size_t s = 0; s < sequences; ++s) {
    const float* y = &y_[s * tokens * width_];
    gram_.assign(side * side, 0.0f);  // within the reserved capacity
    if (tokens < width_) {
      factor_.resize(tokens);
      for (size_t c = 0; c < width_; ++c) {
        for (size_t t = 0; t < tokens; ++t) factor_[t] = y[t * width_ + c];
        add_products(factor_.data(), tokens, gram_.data());
      }
    } else {
      for (size_t t = 0; t < tokens; ++t) add_products(y + t * width_, width_, gram_.data());
    }
    mirror(gram_, side);
    double trace = 0, squares = 0;
    for (size_t i = 0; i < side; ++i) trace += static_cast<double>(gram_[i * side + i]);
    for (const float v : gram_) squares += static_cast<double>(v) * static_cast<double>(v);
    sum += trace * trace / squares;
  }
  return sum / static_cast<double>(sequences);
}

}  // namespace normscope
