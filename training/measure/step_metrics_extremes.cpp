// The part of LiveMeasurements that looks for extremes in a state, and asks each token by itself: see step_metrics.h.
#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/core/median.h"
#include "training/measure/step_metrics.h"

namespace normscope {

/// Writes the two numbers of the state in y_. It uses factor_, which only norms fill later.
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

/// Writes the two numbers that ask each token by itself, of the state in y_ after sub-layer `place`.
void LiveMeasurements::number_tokens(size_t place, double* number) {
  const auto own = static_cast<size_t>(sublayers_[place].index_in_stack);
  const auto width = static_cast<int64_t>(width_);
  lengths_.resize(rows_);  // within the reserved capacity
  own_shares_.resize(rows_);
  std::vector<float>* kept = token_shares_.empty() ? nullptr : &token_shares_[place];
  if (kept) kept->resize((own + 1) * rows_);
  bool finite = true;
  for (size_t r = 0; r < rows_; ++r) {
    const cpu::Moments state = cpu::moments(&y_[r * width_], width);
    const double whole = state.variance(width);
    const auto share = [&](size_t component) {
      const double part = row_shares_[component][r].variance(width);
      return static_cast<float>(whole > 0 || whole != whole ? part / whole : 0.0);
    };
    lengths_[r] = static_cast<float>(std::sqrt(state.square));
    own_shares_[r] = share(own);
    finite = finite && std::isfinite(lengths_[r]) && std::isfinite(own_shares_[r]);
    for (size_t j = 0; kept && j <= own; ++j) (*kept)[j * rows_ + r] = share(j);
  }
  number[0] = number[1] = std::numeric_limits<double>::quiet_NaN();
  if (!finite) return;
  const auto longest = static_cast<double>(*std::max_element(lengths_.begin(), lengths_.end()));
  if (const double median = median_of(lengths_); median > 0) number[0] = longest / median;
  number[1] = median_of(own_shares_);
}

}  // namespace normscope
