// The part of LiveMeasurements that looks for extremes in a state: see step_metrics.h.
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

}  // namespace normscope
