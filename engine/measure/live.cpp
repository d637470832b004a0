#include "measure/live.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/error.h"
#include "cpu/measure_rows.h"

namespace normscope {
namespace {

double variance(const std::vector<float>& x) {
  const int64_t n = static_cast<int64_t>(x.size());
  return cpu::moments(x.data(), n).variance(n);
}

/// Mean cosine over pairs of different tokens within each sequence: from the sum of unit vectors, in O(T D).
double token_cosine(const std::vector<float>& x, size_t rows, size_t width, size_t tokens,
                    std::vector<float>& direction) {
  if (tokens < 2) return 1.0;
  const int64_t n = static_cast<int64_t>(width);
  double total = 0;
  for (size_t first = 0; first < rows; first += tokens) {
    std::fill(direction.begin(), direction.end(), 0.0f);
    double unit = 0;
    for (size_t r = first; r < first + tokens; ++r) {
      const float* row = &x[r * width];
      const double norm = std::sqrt(cpu::moments(row, n).square);
      if (norm == 0) continue;
      unit += 1;
      cpu::add_scaled(row, static_cast<float>(1 / norm), direction.data(), n);
    }
    const double square = cpu::moments(direction.data(), n).square;
    total += unit > 1 ? (square - unit) / (unit * (unit - 1)) : 1.0;
  }
  return total / static_cast<double>(rows / tokens);
}

double layer_cosine(const std::vector<float>& x, const std::vector<float>& y, size_t rows, size_t width) {
  double total = 0;
  for (size_t r = 0; r < rows; ++r) {
    const cpu::Dots d = cpu::dots(&x[r * width], &y[r * width], static_cast<int64_t>(width));
    const double scale = std::sqrt(d.aa * d.bb);
    total += scale > 0 || scale != scale ? d.ab / scale : 0;
  }
  return total / static_cast<double>(rows);
}

void multiply(std::vector<float>& x, const std::vector<float>& by, size_t width) {
  for (size_t i = 0; i < x.size(); i += width)
    for (size_t c = 0; c < width; ++c) x[i + c] *= by[c];
}

}  // namespace

LiveMeasurements::LiveMeasurements(const Program& program, const ModelValues& model,
                                   const ModelConfig& config, int32_t sequences)
    : program_(&program), width_(static_cast<size_t>(config.width)) {
  describe(model);
  if (sublayers_.empty()) fail("measure", "the model has no sub-layers");
  const auto shape = [&](ValueId v) { return program.data().values[static_cast<size_t>(v)].shape; };
  // The stacks of an encoder-decoder may differ in length: buffers take the longer one.
  size_t longest = 0;
  for (const Sublayer& s : sublayers_) longest = std::max(longest, static_cast<size_t>(shape(s.output)[1]));
  const size_t count = static_cast<size_t>(sequences) * longest;
  for (auto* buffer : {&x_, &branch_, &y_, &bias_component_, &total_}) buffer->reserve(count * width_);
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
  shares_.resize(components_.size());
  rows_ = static_cast<size_t>(sequences);  // sequences until measure_sublayer knows the length
  lay_out();
}

void LiveMeasurements::describe(const ModelValues& model) {
  const ProgramData& data = program_->data();
  const auto producer = [&](ValueId v) -> const Node& {
    return data.nodes[static_cast<size_t>(data.values[static_cast<size_t>(v)].node)];
  };
  const auto input = [&](std::string_view name) {
    const auto at = std::find_if(data.values.begin(), data.values.end(),
                                 [&](const ValueInfo& v) { return v.name == name; });
    return at == data.values.end() ? kNone : static_cast<ValueId>(at - data.values.begin());
  };
  std::string stack = "?";
  int32_t index = 0;
  for (const SublayerValues& m : model.sublayers) {
    Sublayer s;
    s.name = m.name;
    s.input = m.input, s.branch = m.branch, s.output = m.output, s.probabilities = m.probabilities;
    const Node& sum = producer(m.sum);
    s.skip = sum.in[2], s.branch_scale = sum.in[3];
    s.skip_constant = sum.attributes.skip, s.branch_constant = sum.attributes.branch;
    s.scales_skip = s.skip != kNone || s.skip_constant != 1.0f;
    s.scales_branch = s.branch_scale != kNone || s.branch_constant != 1.0f;
    if (m.output != m.sum) {
      const Node& norm = producer(m.output);
      s.trunk = norm.attributes.norm;
      s.gain = norm.in[1], s.bias = norm.in[2];
      s.mean = norm.saved[0], s.inverse_sigma = norm.saved[1];
    }
    const std::string prefix = m.name.substr(0, m.name.find('L'));  // "", "enc." or "dec."
    s.lengths = input(prefix == "dec." ? "target_lengths" : "key_lengths");
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

/// Tokens of a sequence that are measured: all, or those that are no padding where one sequence is measured.
size_t LiveMeasurements::counted_tokens(const Sublayer& s, size_t sequences) const {
  const auto all = static_cast<size_t>(program_->data().values[static_cast<size_t>(s.output)].shape[1]);
  if (s.lengths == kNone || sequences != 1) return all;
  float bits = 0;  // an integer input, copied as it is
  program_->read_front(s.lengths, {&bits, 1});
  const int32_t length = std::bit_cast<int32_t>(bits);
  return std::clamp<size_t>(static_cast<size_t>(std::max(length, 1)), 1, all);
}

void LiveMeasurements::measure(std::span<double> out) {
  residual_ = 0;
  const size_t sequences = rows_;
  for (const Sublayer& s : sublayers_) {
    tokens_per_sequence_ = counted_tokens(s, sequences);
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
  if (s.scales_skip) load_scale(s.skip, s.skip_constant, skip_);
  if (s.scales_branch) load_scale(s.branch_scale, s.branch_constant, branch_scale_);
  double* number = &out[static_cast<size_t>(s.first_number)];
  *number++ = token_cosine(y_, rows_, width_, tokens_per_sequence_, direction_);
  *number++ = layer_cosine(x_, y_, rows_, width_);
  if (s.starts_stack) {
    components_[0] = x_;
    bias_component_.assign(n, 0.0f);
  }
  if (s.scales_branch) multiply(branch_, branch_scale_, width_);
  if (s.scales_skip) multiply(x_, skip_, width_);
  *number++ = variance(branch_);
  *number++ = variance(x_);
  if (s.probabilities != kNone) *number++ = entropy(s);
  carry_components(s);
  double* sum = number++;
  *sum = 0;
  const double whole = variance(y_);
  for (int32_t j = 0; j <= s.index_in_stack; ++j) {
    const double share = shares_[static_cast<size_t>(j)].variance(static_cast<int64_t>(n));
    *sum += *number++ = whole > 0 || whole != whole ? share / whole : 0.0;
  }
}

/// c_ij = N'( skip c_(i-1)j ) for j < i, c_ii = N'( branch a_i ), where N'(z) = gain (z - mean z)/sigma_i
/// with the norm's own sigma_i (identity without a trunk norm); the norm's bias joins the bias component
/// (norm-science A.5). A sub-layer without a trunk norm and without a skip scale leaves the older components
/// as they are.
void LiveMeasurements::carry_components(const Sublayer& s) {
  const int64_t rows = static_cast<int64_t>(rows_), width = static_cast<int64_t>(width_);
  const size_t own = static_cast<size_t>(s.index_in_stack);
  cpu::CarryMap map;
  if (s.trunk != NormKind::None) {
    load(s.inverse_sigma, inverse_sigma_, rows_);
    load_scale(s.gain, 1.0f, gain_);
    load_scale(s.bias, 0.0f, bias_);
    map.inverse_sigma = inverse_sigma_.data();
    map.gain = gain_.data();
    map.centre = s.trunk != NormKind::Rms;
  }
  if (s.scales_skip) map.scale = skip_.data();
  const auto carry = [&](const cpu::CarryMap& how, std::vector<float>& c) {
    return cpu::carry_rows(how, c.data(), total_.data(), rows, width);
  };
  components_[own] = branch_;
  if (map.inverse_sigma || map.scale || s.starts_stack) {
    total_.assign(y_.size(), 0.0f);
    for (size_t j = 0; j < own; ++j) shares_[j] = carry(map, components_[j]);
    if (s.trunk == NormKind::LayerNorm) map.bias = bias_.data();
    carry(map, bias_component_);
    map.bias = nullptr;
  }
  map.scale = nullptr;  // the branch has its own, applied already
  shares_[own] = carry(map, components_[own]);

  const double worst = cpu::largest_difference(total_.data(), y_.data(), rows * width);
  const double spread = std::sqrt(variance(y_));
  if (spread > 0) residual_ = std::max(residual_, worst / spread);
}

double LiveMeasurements::entropy(const Sublayer& s) {
  const Shape& shape = program_->data().values[static_cast<size_t>(s.probabilities)].shape;
  const size_t heads = rows_ / tokens_per_sequence_ * static_cast<size_t>(shape[1]);
  const size_t queries = static_cast<size_t>(shape[2]), keys = static_cast<size_t>(shape[3]);
  const size_t counted = std::min(queries, tokens_per_sequence_);
  load(s.probabilities, p_, heads * queries * keys);
  double total = 0;
  for (size_t h = 0; h < heads; ++h)
    total += cpu::entropy(&p_[h * queries * keys], static_cast<int64_t>(counted * keys));
  return total / static_cast<double>(heads * counted);
}

}  // namespace normscope
