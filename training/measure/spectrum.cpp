// Reflections from both sides turn a matrix into a bidiagonal B with the same singular values (Golub and Kahan 1965).
// The eigenvalues of [0 B; B' 0] are plus and minus the singular values of B; with its rows reordered, this matrix has
// the numbers of B next to a diagonal of zeros. Sturm's count finds the eigenvalues one by one. Nothing is squared on
// the way, so that the smallest singular values keep their digits.
#include "training/measure/spectrum.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace normscope {
namespace {

/// 1 - factor v v', which turns a vector onto the first axis.
struct Reflection {
  std::vector<double> v;
  double factor = 0, length = 0;  ///< with its sign: what the vector becomes
};

/// Makes the reflection for the vector in v, whose first number it changes. Zeros need none.
void aim(Reflection& r) {
  double square = 0;
  for (const double x : r.v) square += x * x;
  const double first = r.v.front();
  r.length = first > 0 ? -std::sqrt(square) : std::sqrt(square);
  r.v.front() -= r.length;
  const double half = square - r.length * first;  // of v'v
  r.factor = half > 0 ? 1 / half : 0;
}

/// The bidiagonal matrix of one with no fewer rows than columns: each diagonal number, then its right neighbour.
std::vector<double> bidiagonal(std::vector<double> a, size_t rows, size_t cols) {
  std::vector<double> numbers, sums;
  Reflection r;
  for (size_t k = 0; k < cols; ++k) {
    r.v.clear();
    for (size_t i = k; i < rows; ++i) r.v.push_back(a[i * cols + k]);
    aim(r);
    numbers.push_back(r.length);
    if (k + 1 == cols) break;
    const size_t right = cols - k - 1;
    sums.assign(right, 0);
    for (size_t i = k; i < rows; ++i)
      for (size_t j = 0; j < right; ++j) sums[j] += r.v[i - k] * a[i * cols + k + 1 + j];
    for (size_t i = k; i < rows; ++i) {
      const double by = r.factor * r.v[i - k];
      for (size_t j = 0; j < right; ++j) a[i * cols + k + 1 + j] -= by * sums[j];
    }
    r.v.assign(&a[k * cols + k + 1], &a[k * cols + k + 1] + right);
    aim(r);
    numbers.push_back(r.length);
    for (size_t i = k + 1; i < rows; ++i) {
      double* row = &a[i * cols + k + 1];
      double sum = 0;
      for (size_t j = 0; j < right; ++j) sum += r.v[j] * row[j];
      sum *= r.factor;
      for (size_t j = 0; j < right; ++j) row[j] -= sum * r.v[j];
    }
  }
  return numbers;
}

/// How many eigenvalues of the symmetric matrix with a diagonal of zeros and `beside` next to it are below x.
size_t count_below(double x, std::span<const double> beside) {
  constexpr double kMin = std::numeric_limits<double>::min();
  // A pivot of zero is replaced by one just below zero, for the count and for the division.
  const auto off_zero = [](double pivot) { return std::abs(pivot) < kMin ? -kMin : pivot; };
  double pivot = off_zero(-x);
  size_t count = pivot < 0;
  for (const double b : beside) {
    pivot = off_zero(-x - b / pivot * b);
    count += pivot < 0;
  }
  return count;
}

/// Adds to sums (n,n) the products of all pairs of the n numbers at x, except most pairs below the diagonal: it goes by
/// four columns, for which the compiler makes vectors.
void add_products(const float* __restrict x, size_t n, float* __restrict sums) {
  for (size_t i = 0; i < n; ++i, sums += n) {
    size_t j = i / 4 * 4;
    for (; j + 4 <= n; j += 4)
      for (size_t k = j; k < j + 4; ++k) sums[k] += x[i] * x[k];
    for (; j < n; ++j) sums[j] += x[i] * x[j];
  }
}

/// Copies the sums above the diagonal to the places below it.
void mirror(std::vector<float>& sums, size_t n) {
  for (size_t i = 1; i < n; ++i)
    for (size_t j = 0; j < i; ++j) sums[i * n + j] = sums[j * n + i];
}

}  // namespace

std::vector<double> singular_values(std::vector<double> matrix, size_t rows, size_t cols) {
  const size_t count = std::min(rows, cols);
  double largest = 0;
  for (const double x : matrix) {
    if (!std::isfinite(x)) return std::vector<double>(count, std::numeric_limits<double>::quiet_NaN());
    largest = std::max(largest, std::abs(x));
  }
  if (largest == 0 || count == 0) return std::vector<double>(count, 0.0);
  if (rows < cols) {
    std::vector<double> turned(matrix.size());
    for (size_t i = 0; i < rows; ++i)
      for (size_t j = 0; j < cols; ++j) turned[j * rows + i] = matrix[i * cols + j];
    matrix = std::move(turned);
    std::swap(rows, cols);
  }
  for (double& x : matrix) x /= largest;
  const std::vector<double> beside = bidiagonal(std::move(matrix), rows, cols);
  double most = 0;  // no eigenvalue is beyond the largest sum of a row
  for (size_t i = 0; i < beside.size(); ++i)
    most = std::max(most, std::abs(beside[i]) + (i > 0 ? std::abs(beside[i - 1]) : 0));
  most *= 1 + 1e-15;
  std::vector<double> values;
  for (size_t k = count; k-- > 0;) {
    double low = 0, high = most;
    while (high - low > 1e-16 * most) {
      const double middle = (low + high) / 2;
      if (middle <= low || middle >= high) break;
      (count_below(middle, beside) > count + k ? high : low) = middle;
    }
    values.push_back((low + high) / 2 * largest);
  }
  return values;
}

double Spectrum::norm() const {
  double sum = 0;
  for (const double s : values) sum += s * s;
  return std::sqrt(sum);
}

double Spectrum::stable_rank() const {
  const double shape = norm() / values.front();
  return shape * shape;
}

double Spectrum::effective_rank() const {
  const double all = norm();
  double sum = 0;
  for (const double s : values) sum += std::pow(s / all, 4);
  return 1 / sum;
}

double Spectrum::share_at(double part) const {
  const double place = (1 - part) * static_cast<double>(values.size() - 1);
  const auto before = static_cast<size_t>(place);
  const size_t after = std::min(before + 1, values.size() - 1);
  const double mixed = std::lerp(values[before], values[after], place - static_cast<double>(before));
  return mixed / values.front();
}

void EffectiveRankRoom::reserve(size_t tokens, size_t width) {
  const size_t side = std::min(tokens, width);
  gram.reserve(side * side);
  column.reserve(tokens);
}

double effective_rank(std::span<const float> states, size_t tokens, size_t width, EffectiveRankRoom& room) {
  const size_t side = std::min(tokens, width), sequences = states.size() / (tokens * width);
  double sum = 0;
  for (size_t s = 0; s < sequences; ++s) {
    const float* y = &states[s * tokens * width];
    room.gram.assign(side * side, 0.0f);  // within the reserved capacity
    if (tokens < width) {
      room.column.resize(tokens);
      for (size_t c = 0; c < width; ++c) {
        for (size_t t = 0; t < tokens; ++t) room.column[t] = y[t * width + c];
        add_products(room.column.data(), tokens, room.gram.data());
      }
    } else {
      for (size_t t = 0; t < tokens; ++t) add_products(y + t * width, width, room.gram.data());
    }
    mirror(room.gram, side);
    double trace = 0, squares = 0;
    for (size_t i = 0; i < side; ++i) trace += static_cast<double>(room.gram[i * side + i]);
    for (const float v : room.gram) squares += static_cast<double>(v) * static_cast<double>(v);
    sum += trace * trace / squares;
  }
  return sum / static_cast<double>(sequences);
}

}  // namespace normscope
