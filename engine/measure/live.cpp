#include "measure/live.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace normscope {
namespace {

/// Variance over all elements, about their mean. Four running sums so that the loop vectorises with fixed order.
double variance(const std::vector<float>& x) {
  double sum[4] = {}, square[4] = {};
  for (size_t i = 0; i + 4 <= x.size(); i += 4)
    for (size_t k = 0; k < 4; ++k) {
      const double v = x[i + k];
      sum[k] += v;
      square[k] += v * v;
    }
  for (size_t i = x.size() / 4 * 4; i < x.size(); ++i) {
    sum[0] += x[i];
    square[0] += static_cast<double>(x[i]) * x[i];
  }
  const double n = static_cast<double>(x.size());
  const double mean = (sum[0] + sum[1] + sum[2] + sum[3]) / n;
  return std::max(0.0, (square[0] + square[1] + square[2] + square[3]) / n - mean * mean);
}

double dot(const float* a, const float* b, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

/// Mean cosine over pairs of different tokens within each sequence: from the sum of unit vectors, in O(T D).
double token_cosine(const std::vector<float>& x, size_t rows, size_t width, size_t tokens, std::vector<double>& direction) {
  if (tokens < 2) return 1.0;
  double total = 0;
  for (size_t first = 0; first < rows; first += tokens) {
    std::fill(direction.begin(), direction.end(), 0.0);
    double unit = 0;
    for (size_t r = first; r < first + tokens; ++r) {
      const float* row = &x[r * width];
      const double norm = std::sqrt(dot(row, row, width));
      if (norm == 0) continue;
      unit += 1;
      for (size_t c = 0; c < width; ++c) direction[c] += row[c] / norm;
    }
    double square = 0;
    for (double d : direction) square += d * d;
    total += unit > 1 ? (square - unit) / (unit * (unit - 1)) : 1.0;
  }
  return total / static_cast<double>(rows / tokens);
}

double layer_cosine(const std::vector<float>& x, const std::vector<float>& y, size_t rows, size_t width) {
  double total = 0;
  for (size_t r = 0; r < rows; ++r) {
    const float *a = &x[r * width], *b = &y[r * width];
    const double scale = std::sqrt(dot(a, a, width) * dot(b, b, width));
    total += scale > 0 ? dot(a, b, width) / scale : 0;
  }
  return total / static_cast<double>(rows);
}

void multiply(std::vector<float>& x, const std::vector<float>& by, size_t width) {
  for (size_t i = 0; i < x.size(); i += width)
    for (size_t c = 0; c < width; ++c) x[i + c] *= by[c];
}

}  // namespace

LiveMeasurements::LiveMeasurements(const Program& program, const ModelValues& model, const ModelConfig& config,
                                   int32_t sequences)
    : program_(&program), width_(static_cast<size_t>(config.width)) {
  describe(model);
  if (sublayers_.empty()) fail("measure", "the model has no sub-layers");
  const auto shape = [&](ValueId v) { return program.data().values[static_cast<size_t>(v)].shape; };
  // The stacks of an encoder-decoder may differ in length: buffers take the longer one.
  size_t longest = 0;
  for (const Sublayer& s : sublayers_) longest = std::max(longest, static_cast<size_t>(shape(s.output)[1]));
  const size_t count = static_cast<size_t>(sequences) * longest;
  for (auto* buffer : {&x_, &branch_, &y_, &bias_component_}) buffer->reserve(count * width_);
  for (auto* buffer : {&mean_, &inverse_sigma_}) buffer->reserve(count);
  for (auto* buffer : {&gain_, &bias_, &skip_, &branch_scale_}) buffer->reserve(width_);
  direction_.resize(width_);
  for (const Sublayer& s : sublayers_)
    if (s.probabilities != kNone) {
      const Shape p = shape(s.probabilities);
      p_.reserve(static_cast<size_t>(sequences * p[1] * p[2] * p[3]));
    }
  components_.resize(sublayers_.size() + 1);
  for (auto& component : components_) component.reserve(count * width_);
  rows_ = static_cast<size_t>(sequences);  // sequences until measure_sublayer knows the length
  lay_out();
}

void LiveMeasurements::describe(const ModelValues& model) {
  const ProgramData& data = program_->data();
  const auto producer = [&](ValueId v) -> const Node& { return data.nodes[static_cast<size_t>(data.values[static_cast<size_t>(v)].node)]; };
  std::string stack = "?";
  int32_t index = 0;
  for (const SublayerValues& m : model.sublayers) {
    Sublayer s;
    s.name = m.name;
    s.input = m.input, s.branch = m.branch, s.output = m.output, s.probabilities = m.probabilities;
    const Node& sum = producer(m.sum);
    s.skip = sum.in[2], s.branch_scale = sum.in[3];
    s.skip_constant = sum.attributes.skip, s.branch_constant = sum.attributes.branch;
    if (m.output != m.sum) {
      const Node& norm = producer(m.output);
      s.trunk = norm.attributes.norm;
      s.gain = norm.in[1], s.bias = norm.in[2];
      s.mean = norm.saved[0], s.inverse_sigma = norm.saved[1];
    }
    const std::string prefix = m.name.substr(0, m.name.find('L'));  // "", "enc." or "dec."
    s.starts_stack = prefix != stack;
    if (s.starts_stack) index = 0;
    stack = prefix;
    s.index_in_stack = ++index;
    sublayers_.push_back(s);
  }
}

void LiveMeasurements::lay_out() {
  for (Sublayer& s : sublayers_) {
    s.first_number = static_cast<int32_t>(layout_.size());
    const int32_t layer = std::atoi(s.name.c_str() + s.name.find('L') + 1);
    const std::string beta = s.name.substr(0, s.name.find('L')) + "beta2";
    for (const char* number : {".token_cosine", ".layer_cosine", ".branch.variance", ".input.variance"})
      layout_.push_back({s.name + number, layer});
    if (s.probabilities != kNone) layout_.push_back({s.name + ".attention_entropy", layer});
    layout_.push_back({fmt::format("{}.{}.sum", beta, s.index_in_stack), layer});
    for (int32_t j = 0; j <= s.index_in_stack; ++j)
      layout_.push_back({fmt::format("{}.{}.{}", beta, s.index_in_stack, j), layer});
  }
}

void LiveMeasurements::load(ValueId value, std::vector<float>& host, size_t count) const {
  host.resize(count);  // within the reserved capacity
  program_->read_front(value, host);
}

void LiveMeasurements::load_scale(ValueId value, float constant, std::vector<float>& host) const {
  host.assign(width_, constant);
  if (value == kNone) return;
  const size_t size = static_cast<size_t>(program_->data().values[static_cast<size_t>(value)].shape.size());
  program_->read_front(value, std::span(host).first(size));
  if (size == 1) std::fill(host.begin() + 1, host.end(), host[0]);
}

void LiveMeasurements::measure(std::span<double> out) {
  residual_ = 0;
  const size_t sequences = rows_;
  for (const Sublayer& s : sublayers_) {
    tokens_per_sequence_ = static_cast<size_t>(program_->data().values[static_cast<size_t>(s.output)].shape[1]);
    rows_ = sequences * tokens_per_sequence_;
    measure_sublayer(s, out);
    rows_ = sequences;
  }
}

void LiveMeasurements::measure_sublayer(const Sublayer& s, std::span<double> out) {
  const size_t n = rows_ * width_;
  load(s.input, x_, n);
  load(s.branch, branch_, n);
  load(s.output, y_, n);
  load_scale(s.skip, s.skip_constant, skip_);
  load_scale(s.branch_scale, s.branch_constant, branch_scale_);
  double* number = &out[static_cast<size_t>(s.first_number)];
  *number++ = token_cosine(y_, rows_, width_, tokens_per_sequence_, direction_);
  *number++ = layer_cosine(x_, y_, rows_, width_);
  if (s.starts_stack) {
    components_[0] = x_;
    bias_component_.assign(n, 0.0f);
  }
  multiply(branch_, branch_scale_, width_);
  multiply(x_, skip_, width_);
  *number++ = variance(branch_);
  *number++ = variance(x_);
  if (s.probabilities != kNone) *number++ = entropy(s);
  carry_components(s);
  double* sum = number++;
  *sum = 0;
  const double whole = variance(y_);
  for (int32_t j = 0; j <= s.index_in_stack; ++j)
    *sum += *number++ = whole > 0 ? variance(components_[static_cast<size_t>(j)]) / whole : 0.0;
}

/// c_ij = N'( skip c_(i-1)j ) for j < i, c_ii = N'( branch a_i ), where N'(z) = gain (z - mean z)/sigma_i with the norm's
/// own sigma_i (identity without a trunk norm); the norm's bias joins the bias component (norm-science A.5).
void LiveMeasurements::carry_components(const Sublayer& s) {
  if (s.trunk != NormKind::None) {
    load(s.inverse_sigma, inverse_sigma_, rows_);
    load_scale(s.gain, 1.0f, gain_);
    load_scale(s.bias, 0.0f, bias_);
  }
  const auto carry = [&](std::vector<float>& c) {
    multiply(c, skip_, width_);
    normalize(s, c);
  };
  for (int32_t j = 0; j < s.index_in_stack; ++j) carry(components_[static_cast<size_t>(j)]);
  carry(bias_component_);
  std::vector<float>& own = components_[static_cast<size_t>(s.index_in_stack)];
  own = branch_;
  normalize(s, own);
  if (s.trunk == NormKind::LayerNorm)
    for (size_t i = 0; i < bias_component_.size(); ++i) bias_component_[i] += bias_[i % width_];

  double worst = 0;
  for (size_t i = 0; i < y_.size(); ++i) {
    double sum = bias_component_[i];
    for (int32_t j = 0; j <= s.index_in_stack; ++j) sum += components_[static_cast<size_t>(j)][i];
    worst = std::max(worst, std::abs(sum - y_[i]));
  }
  const double spread = std::sqrt(variance(y_));
  if (spread > 0) residual_ = std::max(residual_, worst / spread);
}

void LiveMeasurements::normalize(const Sublayer& s, std::vector<float>& c) const {
  if (s.trunk == NormKind::None) return;
  const bool centers = s.trunk != NormKind::Rms;
  for (size_t r = 0; r < rows_; ++r) {
    float* row = &c[r * width_];
    float mean = 0;
    if (centers) {
      for (size_t k = 0; k < width_; ++k) mean += row[k];
      mean /= static_cast<float>(width_);
    }
    for (size_t k = 0; k < width_; ++k) row[k] = gain_[k] * ((row[k] - mean) * inverse_sigma_[r]);
  }
}

double LiveMeasurements::entropy(const Sublayer& s) {
  const Shape& shape = program_->data().values[static_cast<size_t>(s.probabilities)].shape;
  const size_t queries = rows_ / tokens_per_sequence_ * static_cast<size_t>(shape[1] * shape[2]);
  load(s.probabilities, p_, queries * static_cast<size_t>(shape[3]));
  double total = 0;
  for (float p : p_)
    if (p > 0) total -= static_cast<double>(p) * std::log(p);
  return total / static_cast<double>(queries);
}

}  // namespace normscope
