#include "engine/core/initial_values.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "engine/core/philox.h"

namespace normscope {
namespace {

/// Uniform in (0,1] from 32 random bits: never 0, so its logarithm is finite.
double uniform(uint32_t word) { return (static_cast<double>(word) + 1.0) * (1.0 / 4294967296.0); }

/// Overwrites the second half of the columns or rows with minus the first half.
void mirror(std::vector<float>& values, const Shape& shape, Init::Mirror which) {
  const int64_t cols = shape.cols(), rows = shape.rows();
  const int64_t half = which == Init::Mirror::Columns ? cols / 2 : rows / 2 * cols;
  const int64_t line = which == Init::Mirror::Columns ? cols : rows * cols;
  for (int64_t first = 0; first < rows * cols; first += line)
    for (int64_t i = 0; i < half; ++i)
      values[static_cast<size_t>(first + half + i)] = -values[static_cast<size_t>(first + i)];
}

/// Applies Box-Muller to each half of a Philox block: four words give four normal numbers.
void fill_normal(std::vector<float>& values, std::string_view name, double deviation, uint64_t seed) {
  const size_t n = values.size();
  const uint32_t site = site_of(name);
  for (size_t i = 0; i < n; i += 4) {
    const PhiloxBlock b =
        philox_block(static_cast<uint32_t>(i / 4), site, 0, static_cast<uint32_t>(Purpose::Init), seed);
    for (size_t j = 0; j < 4 && i + j < n; j += 2) {
      const double radius = deviation * std::sqrt(-2.0 * std::log(uniform(b.word[j])));
      const double angle = 2.0 * std::numbers::pi * uniform(b.word[j + 1]);
      values[i + j] = static_cast<float>(radius * std::cos(angle));
      if (i + j + 1 < n) values[i + j + 1] = static_cast<float>(radius * std::sin(angle));
    }
  }
}

/// Follows Vaswani et al. 2017, section 3.5. Position t has
///   component 2k    sin(t 10000^(-2k/D))
///   component 2k+1  cos(t 10000^(-2k/D))
void fill_sinusoid(std::vector<float>& values, const Shape& shape) {
  for (int64_t t = 0; t < shape.rows(); ++t)
    for (int64_t c = 0; c < shape.cols(); ++c) {
      const double rate =
          std::pow(10000.0, -2.0 * static_cast<double>(c / 2) / static_cast<double>(shape.cols()));
      const double x = static_cast<double>(t) * rate;
      values[static_cast<size_t>(t * shape.cols() + c)] =
          static_cast<float>(c % 2 ? std::cos(x) : std::sin(x));
    }
}

void fill_turns(std::vector<float>& values, const Shape& shape, const Init& init) {
  const size_t columns = static_cast<size_t>(shape.cols()), half = columns / 2;
  for (size_t t = 0; t < static_cast<size_t>(shape.rows()); ++t)
    for (size_t i = 0; i < half; ++i) {
      const double angle = static_cast<double>(t) * init.rates[i];
      values[t * columns + i] = static_cast<float>(init.value * std::cos(angle));
      values[t * columns + half + i] = static_cast<float>(init.value * std::sin(angle));
    }
}

void fill_diagonal(std::vector<float>& values, const Shape& shape, const Init& init) {
  const int64_t rows = shape.rows(), cols = shape.cols();
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < cols; ++c)
      values[static_cast<size_t>(r * cols + c)] =
          static_cast<float>(((r - c) % rows + rows) % rows == init.place ? init.value : init.rest);
}

void fill_permutations(std::vector<float>& values, const Shape& shape) {
  const auto n = static_cast<size_t>(std::lround(std::sqrt(static_cast<double>(shape.cols()))));
  std::vector<size_t> places(n);
  std::iota(places.begin(), places.end(), size_t{0});
  for (size_t first = 0; first < values.size(); first += n * n) {
    for (size_t i = 0; i < n; ++i) values[first + i * n + places[i]] = 1.0f;
    std::ranges::next_permutation(places);
  }
}

}  // namespace

void divide_by_lengths(std::vector<float>& values, const Shape& shape, Init::Unit which) {
  constexpr double kRounding = 1e-5;
  const int64_t cols = shape.cols(), rows = shape.rows();
  const bool columns = which == Init::Unit::Columns;
  for (int64_t of = 0; of < (columns ? cols : rows); ++of) {
    const auto at = [&](int64_t i) -> float& {
      return values[static_cast<size_t>(columns ? i * cols + of : of * cols + i)];
    };
    const int64_t n = columns ? rows : cols;
    double square = 0;
    for (int64_t i = 0; i < n; ++i) square += static_cast<double>(at(i)) * static_cast<double>(at(i));
    if (!(square > 0) || std::abs(square - 1) < kRounding) continue;
    for (int64_t i = 0; i < n; ++i)
      at(i) = static_cast<float>(static_cast<double>(at(i)) / std::sqrt(square));
  }
}

std::vector<float> initial_values(std::string_view name, const Shape& shape, const Init& init,
                                  uint64_t seed) {
  std::vector<float> values(static_cast<size_t>(shape.size()), 0.0f);
  switch (init.kind) {
    case Init::Kind::Zeros:
      break;
    case Init::Kind::Constant:
      std::fill(values.begin(), values.end(), static_cast<float>(init.value));
      break;
    case Init::Kind::Normal:
      fill_normal(values, name, init.value, seed);
      if (init.mirror != Init::Mirror::None) mirror(values, shape, init.mirror);
      if (init.unit != Init::Unit::None) divide_by_lengths(values, shape, init.unit);
      break;
    case Init::Kind::Sinusoid:
      fill_sinusoid(values, shape);
      break;
    case Init::Kind::Turns:
      fill_turns(values, shape, init);
      break;
    case Init::Kind::Diagonal:
      fill_diagonal(values, shape, init);
      break;
    case Init::Kind::Permutations:
      fill_permutations(values, shape);
      break;
    case Init::Kind::Ramp:
      for (size_t i = 1; i < values.size(); ++i)
        values[i] = static_cast<float>(static_cast<double>(i) / static_cast<double>(values.size() - 1));
      break;
  }
  return values;
}

}  // namespace normscope
