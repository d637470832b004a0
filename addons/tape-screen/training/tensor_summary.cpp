#include "addons/tape-screen/training/tensor_summary.h"

#include <algorithm>
#include <cmath>

namespace normscope {
namespace {

/// The quantile `share` of unordered numbers; 0 without numbers.
double quantile(std::vector<float> magnitudes, double share) {
  if (magnitudes.empty()) return 0;
  const auto last = static_cast<double>(magnitudes.size() - 1);
  const auto at = magnitudes.begin() + static_cast<std::ptrdiff_t>(std::ceil(share * last));
  std::nth_element(magnitudes.begin(), at, magnitudes.end());
  return static_cast<double>(*at);
}

void fill_histogram(std::span<const float> values, TensorSummary& s) {
  const double width = (s.high - s.low) / static_cast<double>(kHistogramBins);
  for (const float v : values) {
    if (!std::isfinite(v)) continue;
    const double place = width > 0 ? (static_cast<double>(v) - s.low) / width : 0;
    ++s.histogram[std::min(static_cast<size_t>(place), kHistogramBins - 1)];
  }
}

/// Whether a and not b is the number of a cell with both.
bool outweighs(float a, float b) {
  if (std::isfinite(a) != std::isfinite(b)) return !std::isfinite(a);
  return std::isfinite(a) && std::abs(a) > std::abs(b);
}

}  // namespace

TensorSummary summarise(std::span<const float> values) {
  TensorSummary s;
  s.count = values.size();
  std::vector<float> magnitudes;
  double sum = 0, squares = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto v = static_cast<double>(values[i]);
    if (!std::isfinite(v)) {
      if (s.first_not_finite < 0) s.first_not_finite = static_cast<int64_t>(i);
      ++s.not_finite;
      continue;
    }
    s.low = magnitudes.empty() ? v : std::min(s.low, v);
    s.high = magnitudes.empty() ? v : std::max(s.high, v);
    sum += v;
    squares += v * v;
    magnitudes.push_back(std::abs(values[i]));
  }
  if (magnitudes.empty()) return s;
  const auto n = static_cast<double>(magnitudes.size());
  s.mean = sum / n;
  s.norm = std::sqrt(squares);
  double about = 0;
  for (const float v : values)
    if (std::isfinite(v)) about += (static_cast<double>(v) - s.mean) * (static_cast<double>(v) - s.mean);
  s.deviation = std::sqrt(about / n);
  fill_histogram(values, s);
  s.limit = quantile(std::move(magnitudes), 0.995);
  return s;
}

HeatMap heat_map(std::span<const float> values, size_t columns, size_t most_rows, size_t most_columns) {
  if (values.empty() || columns == 0) return {};
  const size_t rows = values.size() / columns;
  HeatMap map{std::min(rows, most_rows), std::min(columns, most_columns), {}};
  map.cells.reserve(map.rows * map.columns);
  for (size_t r = 0; r < map.rows; ++r)
    for (size_t c = 0; c < map.columns; ++c) {
      const size_t top = r * rows / map.rows, bottom = (r + 1) * rows / map.rows;
      const size_t left = c * columns / map.columns, right = (c + 1) * columns / map.columns;
      float most = values[top * columns + left];
      for (size_t y = top; y < bottom; ++y)
        for (size_t x = left; x < right; ++x)
          if (outweighs(values[y * columns + x], most)) most = values[y * columns + x];
      map.cells.push_back(most);
    }
  return map;
}

}  // namespace normscope
