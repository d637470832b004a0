// Vectorised sums over rows of host memory for measure/step_metrics: means and squares of carried
// components, dot products, entropies. They add float lanes within a row and doubles across rows, in a fixed order,
// so results are bitwise identical for any number of threads.
#pragma once

#include <cstdint>
#include <span>

namespace normscope::cpu {

/// The sum and the sum of squares of n numbers; variance is about their mean.
struct Moments {
  double sum = 0, square = 0;
  double variance(int64_t n) const {
    const double mean = sum / static_cast<double>(n), v = square / static_cast<double>(n) - mean * mean;
    return v > 0 || v != v ? v : 0.0;  // rounding only; NaN stays
  }
};

/// A sub-layer's affine map of the rows c (width) of a component, with mean = mean(scale * c):
///   c  <-  (scale * c - mean) * inverse_sigma * factor * gain + bias
/// A null pointer means one, and zero for the bias.
struct CarryMap {
  const float* scale = nullptr;          ///< width numbers
  const float* gain = nullptr;           ///< width numbers
  const float* inverse_sigma = nullptr;  ///< one number per row; null: no norm, so no mean is subtracted
  bool centre = true;                    ///< subtract the row's mean
  const float* bias = nullptr;           ///< width numbers, added last
  const float* factor = nullptr;         ///< one number per element, after mean and inverse_sigma
};

Moments moments(const float* x, int64_t n);
/// Applies the map to rows x width numbers in place and adds the result to `total`. Returns the moments of the whole
/// result, and writes each row's moments to `by_row`, if given.
Moments carry_rows(const CarryMap& map, float* c, float* total, int64_t rows, int64_t width,
                   Moments* by_row = nullptr);
/// The largest |a - b|; NaN when any difference is NaN.
double largest_difference(const float* a, const float* b, int64_t n);
struct Dots {
  double aa = 0, ab = 0, bb = 0;
};
Dots dots(const float* a, const float* b, int64_t n);
void add_scaled(const float* x, float factor, float* sum, int64_t n);
/// Returns the sum of -p log p, where 0 log 0 = 0.
double entropy(const float* p, int64_t n);
/// x must not be empty. For an even count the mean of the two middle numbers; NaN when any number is NaN.
double median(std::span<const float> x);

/// The numbers of a parameter around an update: its gradient, and its values before and after.
struct UpdateRows {
  const float *gradient = nullptr, *before = nullptr, *after = nullptr;
  const float* second = nullptr;    ///< second moment; null: none is kept
  float factor = 1, l2 = 0;         ///< the optimizer reads factor * gradient + l2 * before
  float correction = 1, least = 0;  ///< factor of the second moment, and its lower bound
};
/// Sums over n numbers, with s = before - after:
///   ratio  =  sum (factor * gradient + l2 * before)^2 / max(correction * second, least), zero without `second`
///   gradient, product, step  =  sums of gradient^2, gradient * s, s^2
struct UpdateSums {
  double ratio = 0, gradient = 0, product = 0, step = 0;
};
UpdateSums update_sums(const UpdateRows& rows, int64_t n);

}  // namespace normscope::cpu
