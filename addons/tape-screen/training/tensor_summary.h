// The content of a tensor in few numbers and a small picture: moments, extremes, histogram, the first number that is
// not finite, and a heat map that keeps extremes. Called by the Tape screen and normscope tape.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace normscope {

inline constexpr size_t kHistogramBins = 48;

/// Statistics of the finite numbers; the others are only counted. All are zero when no number is finite.
struct TensorSummary {
  size_t count = 0, not_finite = 0;
  int64_t first_not_finite = -1;   ///< index of the element; -1: none
  double mean = 0, deviation = 0;  ///< of the population: divided by the count
  double norm = 0, low = 0, high = 0;
  /// |v| that 99.5 % of the numbers do not exceed: the limit of a picture's colours.
  double limit = 0;
  /// Counts in equal parts of [low, high], both ends included; all in the first where low = high.
  std::array<uint32_t, kHistogramBins> histogram{};
};
TensorSummary summarise(std::span<const float> values);

/// The tensor as a picture. Where the tensor is larger than the picture, a cell holds the number of
/// largest magnitude in its part; a number that is not finite comes before all others.
struct HeatMap {
  size_t rows = 0, columns = 0;
  std::vector<float> cells;  ///< row by row
};
/// A picture of `values`, whose count is a multiple of `columns`, in at most `most_rows` x `most_columns` cells.
HeatMap heat_map(std::span<const float> values, size_t columns, size_t most_rows, size_t most_columns);

}  // namespace normscope
