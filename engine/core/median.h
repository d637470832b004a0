// The median of a list of numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace normscope {

/// Reorders the numbers, of which there is at least one. Of an even count it is the mean of the two in the
/// middle; NaN where one of them is NaN.
inline double median_of(std::span<float> numbers) {
  if (std::ranges::any_of(numbers, [](float x) { return std::isnan(x); }))
    return std::numeric_limits<double>::quiet_NaN();
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  const auto upper = static_cast<double>(*middle);
  if (numbers.size() % 2 == 1) return upper;
  return (upper + static_cast<double>(*std::max_element(numbers.begin(), middle))) / 2;
}

}  // namespace normscope
