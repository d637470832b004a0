#include "training/measure/single_norm.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "engine/core/error.h"
#include "engine/model/recorder.h"
#include "engine/tape/seal.h"
#include "engine/tape/store.h"

namespace normscope {
namespace {

constexpr int64_t kNumbers = int64_t{1} << 18;  // of activation_share
constexpr int32_t kGradientRows = 256, kJacobianRows = 8, kIterations = 100;
constexpr int32_t kWidestJacobian = 1024;

std::vector<float> numbers(const char* name, int64_t count, double deviation, double mean, uint64_t seed) {
  std::vector<float> x = initial_values(name, {count}, {Init::Kind::Normal, deviation}, seed);
  for (float& v : x) v += static_cast<float>(mean);
  return x;
}

/// Records `rows` rows through the norm and a loss whose gradient at the output is the parameter g: the sum
/// of g y. The rows are the heads of one row, so that a single product with g gives the loss.
class NormAlone {
 public:
  NormAlone(Backend& backend, const ModelConfig& config, int64_t rows, int64_t width)
      : store_(backend), program_(record(config, rows, width)) {}

  /// Dl/dx of l = sum of g y at x, row by row.
  std::vector<float> back(const std::vector<float>& x, const std::vector<float>& g) {
    store_.write(store_.find("x"), x);
    store_.write(store_.find("g"), g);
    program_.replay({});
    return program_.read("x", true);
  }

 private:
  Program record(const ModelConfig& config, int64_t rows, int64_t width) {
    if (config.norm == NormKind::None) fail("measure", "a model without a norm has none to measure");
    const RecordOptions options;
    Tape tape(store_);
    Recorder parts(tape, config, options);
    store_.declare("x", {1, rows * width}, {});
    store_.declare("g", {rows * width, 1}, {}, false);
    const ValueId y = parts.norm("norm", config.norm, tape.parameter("x"), static_cast<int32_t>(rows));
    const ValueId loss = linear(tape, "loss", y, tape.parameter("g"), kNone);
    store_.materialize(1);
    return seal(tape, {.loss = loss, .update = kNoOp});
  }

  Store store_;
  Program program_;
};

struct Spread {
  double mean = 0, variance = 0;
};
Spread spread_of(const float* x, int64_t width) {
  Spread s;
  for (int64_t i = 0; i < width; ++i) s.mean += static_cast<double>(x[i]) / static_cast<double>(width);
  for (int64_t i = 0; i < width; ++i)
    s.variance += std::pow(static_cast<double>(x[i]) - s.mean, 2) / static_cast<double>(width);
  return s;
}

double square_of(const std::vector<float>& x) {
  return std::accumulate(x.begin(), x.end(), 0.0,
                         [](double sum, float v) { return sum + static_cast<double>(v) * v; });
}

/// The largest singular value of a matrix (n,n), by power iteration on J^T J. `start` must not be orthogonal to
/// its vector.
double largest_singular_value(const std::vector<float>& j, std::vector<double> start) {
  const size_t n = start.size();
  std::vector<double> image(n);
  double value = 0;
  for (int32_t k = 0; k < kIterations; ++k) {
    double length = 0, square = 0;
    for (const double v : start) length += v * v;
    if (length == 0) return 0;
    for (size_t row = 0; row < n; ++row) {
      image[row] = 0;
      for (size_t c = 0; c < n; ++c) image[row] += static_cast<double>(j[row * n + c]) * start[c];
      square += image[row] * image[row];
    }
    value = std::sqrt(square / length);
    std::ranges::fill(start, 0.0);
    for (size_t row = 0; row < n; ++row)
      for (size_t c = 0; c < n; ++c)
        start[c] += static_cast<double>(j[row * n + c]) * image[row] / std::sqrt(std::max(square, 1e-300));
  }
  return value;
}

}  // namespace

double activation_share(Backend& backend, const ModelConfig& config, const GaussianRows& rows) {
  const int64_t count = std::max<int64_t>(1, kNumbers / rows.width);
  const RecordOptions options;
  Store store(backend);
  Tape tape(store);
  Recorder parts(tape, config, options);
  store.declare("x", {count, rows.width}, {});
  parts.activated("y", tape.parameter("x"));
  store.materialize(rows.seed);
  const std::vector<float> x =
      numbers("x", count * rows.width, rows.scale, rows.shift * rows.scale, rows.seed);
  store.write(store.find("x"), x);
  Program program = seal(tape, {});
  program.replay({});
  return square_of(program.read("y")) / square_of(x);
}

JacobianNorm norm_jacobian(Backend& backend, const ModelConfig& config, const GaussianRows& rows) {
  const int64_t width = rows.width;
  if (width > kWidestJacobian)
    fail("measure", "a Jacobian of {0} by {0} numbers: expected rows of at most {1}", width, kWidestJacobian);
  const auto n = static_cast<size_t>(width);
  NormAlone norm(backend, config, width, width);
  // Row i is the same x, with the gradient of the norm's number i.
  std::vector<float> same(n * n), unit(n * n, 0.0f);
  for (size_t i = 0; i < n; ++i) unit[i * n + i] = 1;
  const std::vector<float> drawn =
      numbers("x", kJacobianRows * width, rows.scale, rows.shift * rows.scale, rows.seed);
  const std::vector<float> direction = numbers("direction", width, 1, 0, rows.seed);
  JacobianNorm out;
  for (size_t row = 0; row < kJacobianRows; ++row) {
    const std::vector<float> x(drawn.begin() + static_cast<std::ptrdiff_t>(row * n),
                               drawn.begin() + static_cast<std::ptrdiff_t>((row + 1) * n));
    for (size_t i = 0; i < n; ++i)
      std::copy(x.begin(), x.end(), same.begin() + static_cast<std::ptrdiff_t>(i * n));
    const double value = largest_singular_value(norm.back(same, unit), {direction.begin(), direction.end()});
    out.spectral += value / kJacobianRows;
    out.product += value * std::sqrt(square_of(x) / static_cast<double>(width)) / kJacobianRows;
  }
  return out;
}

NormGradient norm_gradient(Backend& backend, const ModelConfig& config, const GaussianRows& rows) {
  const int64_t width = rows.width, count = kGradientRows * width;
  NormAlone norm(backend, config, kGradientRows, width);
  const std::vector<float> x = numbers("x", count, rows.scale, rows.shift * rows.scale, rows.seed),
                           g = numbers("g", count, 1, 1, rows.seed);
  const std::vector<float> dx = norm.back(x, g);
  double mean = 0, mean_before = 0, variance = 0, variance_before = 0;
  for (int64_t at = 0; at < count; at += width) {
    const double square = spread_of(x.data() + at, width).variance;  // sigma^2
    const Spread before = spread_of(g.data() + at, width), after = spread_of(dx.data() + at, width);
    mean_before += before.mean * before.mean;
    mean += square * after.mean * after.mean;
    variance_before += before.variance;
    variance += square * after.variance;
  }
  return {std::sqrt(mean / mean_before), variance / variance_before};
}

}  // namespace normscope
