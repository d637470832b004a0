#include "training/measure/step_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>
#include <utility>

#include "engine/core/error.h"
#include "engine/model/residual.h"
#include "engine/ops/rules.h"

namespace normscope {

void StreamShares::reserve(size_t components, size_t streams, size_t positions) {
  coefficients_.resize(components);
  for (auto& c : coefficients_) c.reserve(streams * positions);
}

void StreamShares::start(size_t streams, size_t positions) {
  streams_ = streams;
  positions_ = positions;
  coefficients_[0].assign(streams * positions, 1.0f);
}

void StreamShares::pass(size_t own, const StreamWeights& carry, const StreamWeights& write) {
  for (size_t c = 0; c < own; ++c)
    for (size_t p = 0; p < positions_; ++p) {
      float* u = &coefficients_[c][p * streams_];
      std::array<float, kMaxStreams> next{};
      for (size_t i = 0; i < streams_; ++i)
        for (size_t j = 0; j < streams_; ++j) next[j] += carry.at(p, i, streams_, j) * u[i];
      for (size_t j = 0; j < streams_; ++j) u[j] = next[j];
    }
  coefficients_[own].resize(streams_ * positions_);
  for (size_t p = 0; p < positions_; ++p)
    for (size_t j = 0; j < streams_; ++j) coefficients_[own][p * streams_ + j] = write.at(p, 0, 1, j);
}

void StreamShares::read(size_t component, const StreamWeights& weights, std::span<float> out) const {
  for (size_t p = 0; p < positions_; ++p) {
    out[p] = 0.0f;
    for (size_t i = 0; i < streams_; ++i)
      out[p] += weights.at(p, i, streams_, 0) * coefficients_[component][p * streams_ + i];
  }
}

namespace {

double variance(const std::vector<float>& x) {
  const int64_t n = static_cast<int64_t>(x.size());
  return cpu::moments(x.data(), n).variance(n);
}

/// The mean cosine over pairs of different tokens within each sequence, from the sum of unit vectors in O(T D).
double token_cosine(const std::vector<float>& x, size_t rows, size_t width, size_t tokens,
                    std::vector<float>& direction) {
  if (tokens < 2) return 1.0;
  const int64_t n = static_cast<int64_t>(width);
  double total = 0;
  for (size_t first = 0; first < rows; first += tokens) {
    std::ranges::fill(direction, 0.0f);
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

/// Turns each x into (t(x) - t(0)) / x, with t the curve of a kind without statistics. It returns t(0),
/// which is not a share of x.
template <class S>
float to_factors(NormKind kind, float alpha, float shift, std::vector<float>& numbers) {
  const S a = static_cast<S>(alpha), s = static_cast<S>(shift), still = norm_curve(kind, s);
  const double steepest = norm_curve_slope(kind, static_cast<double>(shift)) * static_cast<double>(alpha);
  for (float& x : numbers) {
    const S e = static_cast<S>(x);
    x = static_cast<float>(e == 0 ? static_cast<S>(steepest) : (norm_curve(kind, a * e + s) - still) / e);
  }
  return static_cast<float>(still);
}

}  // namespace

LiveMeasurements::LiveMeasurements(const Program& program, const ModelValues& model,
                                   const ModelConfig& config, int32_t sequences)
    : program_(&program), width_(static_cast<size_t>(config.d_model)) {
  describe(model, config);
  if (sublayers_.empty()) fail("measure", "the model has no sub-layers");
  // The stacks of an encoder-decoder may differ in length: buffers take the longer one.
  size_t longest = 0;
  for (const Sublayer& s : sublayers_) longest = std::max(longest, static_cast<size_t>(shape(s.output)[1]));
  const size_t count = static_cast<size_t>(sequences) * longest;
  for (auto* buffer : {&x_, &branch_, &y_, &bias_component_, &total_, &factor_})
    buffer->reserve(count * width_);
  for (auto* buffer : {&mean_, &inverse_sigma_, &lengths_, &own_shares_}) buffer->reserve(count);
  for (auto* buffer : {&gain_, &bias_, &skip_, &branch_scale_}) buffer->reserve(width_);
  direction_.resize(width_);
  rank_room_.reserve(longest, width_);
  make_room_for_heads(sequences);
  components_.resize(sublayers_.size() + 1);
  for (auto& component : components_) component.reserve(count * width_);
  if (std::ranges::any_of(sublayers_, &Sublayer::adds_bottom)) {
    layer_components_.resize(components_.size() + 1);
    for (auto& component : layer_components_) component.reserve(count * width_);
  }
  make_room_for_streams(count);
  shares_.resize(components_.size());
  row_shares_.assign(components_.size(), std::vector<cpu::Moments>(count));
  rows_ = static_cast<size_t>(sequences);  // sequences until measure_sublayer knows the length
  lay_out();
}

void LiveMeasurements::describe_sum(Sublayer& s, const Node& sum) {
  const auto scales = sum.attributes.as<AddSpec>();
  s.skip = sum.in[2];
  s.branch_scale = sum.in[3];
  s.skip_constant = scales.skip;
  s.branch_constant = scales.branch;
  s.scales_skip = s.skip != kNone || s.skip_constant != 1.0f;
  s.scales_branch = s.branch_scale != kNone || s.branch_constant != 1.0f;
}

/// The norm that a node records over `from`; none where a factor scales that instead.
LiveMeasurements::Norm LiveMeasurements::norm_of(const Node& node, ValueId from) {
  Norm n;
  if (node.op != NormSpec::kOp) return n;
  const auto norm = node.attributes.as<NormSpec>();
  n.kind = norm.kind;
  n.input = from;
  n.gain = node.in[1];
  n.bias = node.in[2];
  n.alpha = node.in[3];
  n.shift = has_shift(norm.kind) ? node.in[4] : kNone;
  n.mean = node.saved[0];
  n.inverse_sigma = node.saved[1];
  n.scale = norm.scale;
  n.slope = norm.slope;
  n.gain_offset = norm.gain_offset;
  return n;
}

void LiveMeasurements::describe(const ModelValues& model, const ModelConfig& config) {
  const ProgramData& data = program_->data();
  const auto producer = [&](ValueId v) -> const Node& {
    return data.nodes[static_cast<size_t>(data.values[static_cast<size_t>(v)].node)];
  };
  const auto input = [&](std::string_view name) {
    const auto at = std::ranges::find(data.values, name, &ValueInfo::name);
    return at == data.values.end() ? kNone : static_cast<ValueId>(at - data.values.begin());
  };
  // A value that no norm stands before may be an input, which no node records.
  const auto norm_between = [&](ValueId from, ValueId to) {
    return from == to ? Norm{} : norm_of(producer(to), from);
  };
  std::string stack = "?";
  int32_t index = 0, layer = 0;
  for (const SublayerValues& values : model.sublayers) {
    Sublayer s;
    static_cast<SublayerValues&>(s) = values;
    if (s.probabilities != kNone) {
      const Node& attention = producer(s.probabilities);
      s.scores = rules_of(attention.op).scores(attention);
    }
    if (s.streams == kNone) {
      describe_sum(s, producer(s.joined));
      s.enter = norm_between(s.input, s.entered);
      s.stream = norm_between(s.sum, s.output);
      if (s.factor != kNone) {
        s.factor_word = factor_of(wiring_of(config, values))->word;
        s.scales_skip = true;
        s.scales_branch |= s.stream.kind == NormKind::None;
      }
    }
    const std::string prefix = s.name.substr(0, s.name.find('L'));  // "", "enc." or "dec."
    s.lengths = input(prefix == "dec." ? "target_lengths" : "key_lengths");
    s.starts_stack = prefix != stack;
    if (s.starts_stack) index = 0;
    s.starts_layer = s.starts_stack || s.layer != layer;
    stack = prefix;
    layer = s.layer;
    s.index_in_stack = ++index;
    sublayers_.push_back(s);
  }
}

void LiveMeasurements::lay_out() {
  for (Sublayer& s : sublayers_) {
    s.first_number = static_cast<int32_t>(layout_.size());
    const int32_t layer = s.layer;
    const std::string beta = s.name.substr(0, s.name.find('L')) + "beta2";
    for (const char* number : {".token_cosine", ".layer_cosine", ".branch.variance", ".input.variance",
                               ".extreme", ".extreme_position", ".effective_rank"})
      layout_.push_back({s.name + number, layer});
    if (s.probabilities != kNone) lay_out_heads(s, layer);
    for (const char* number : {".longest", ".token_share"}) layout_.push_back({s.name + number, layer});
    layout_.push_back({fmt::format("{}.{}.sum", beta, s.index_in_stack), layer});
    for (int32_t j = 0; j <= s.index_in_stack; ++j)
      layout_.push_back({fmt::format("{}.{}.{}", beta, s.index_in_stack, j), layer});
    if (s.skip != kNone) layout_.push_back({s.name + ".skip.mean", layer});
    if (s.branch_scale != kNone) layout_.push_back({s.name + ".branch.mean", layer});
    if (s.factor != kNone) layout_.push_back({fmt::format("{}.{}", s.name, s.factor_word), layer});
    for (int64_t i = 1; i <= streams_of(s); ++i)
      layout_.push_back({fmt::format("{}.read.{}", s.name, i), layer});
  }
}

void LiveMeasurements::load(ValueId value, std::vector<float>& host, size_t count) const {
  host.resize(count);  // within the reserved capacity
  program_->read_part(value, host);
}

void LiveMeasurements::load_scale(ValueId value, float constant, std::vector<float>& host) const {
  host.assign(width_, constant);
  if (value == kNone) return;
  const auto size = static_cast<size_t>(shape(value).size());
  program_->read_part(value, std::span(host).first(size));
  if (size == 1) std::fill(host.begin() + 1, host.end(), host[0]);
}

/// Loads what the summands of a sub-layer are multiplied by.
void LiveMeasurements::load_scales(const Sublayer& s) {
  if (s.scales_skip) load_scale(s.skip, s.skip_constant, skip_);
  if (s.scales_branch) load_scale(s.branch_scale, s.branch_constant, branch_scale_);
  if (s.factor == kNone) return;
  load_scale(s.factor, 1.0f, gain_);
  multiply(skip_, gain_, width_);
  if (s.stream.kind == NormKind::None) multiply(branch_scale_, gain_, width_);
}

/// The measured tokens of a sequence: all, or the unpadded ones where one sequence is measured.
size_t LiveMeasurements::counted_tokens(const Sublayer& s, size_t sequences) const {
  const auto all = static_cast<size_t>(shape(s.output)[1]);
  if (s.lengths == kNone || sequences != 1) return all;
  float bits = 0;  // an integer input, copied as it is
  program_->read_part(s.lengths, {&bits, 1});
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
  load_scales(s);
  double* number = &out[static_cast<size_t>(s.first_number)];
  *number++ = token_cosine(y_, rows_, width_, tokens_per_sequence_, direction_);
  *number++ = layer_cosine(x_, y_, rows_, width_);
  if (s.starts_stack) {
    components_[0] = x_;
    bias_component_.assign(n, 0.0f);
  }
  if (s.entered != s.input) load(s.entered, x_, n);
  if (s.scales_branch) multiply(branch_, branch_scale_, width_);
  if (s.scales_skip) multiply(x_, skip_, width_);
  *number++ = variance(branch_);
  *number++ = variance(x_);
  number_extreme(number);
  number += 2;
  *number++ = effective_rank(y_, tokens_per_sequence_, width_, rank_room_);
  if (s.probabilities != kNone) number = number_heads(s, number);
  carry_components(s);
  number_tokens(static_cast<size_t>(&s - sublayers_.data()), number);
  number += 2;
  double* sum = number++;
  *sum = 0;
  const double whole = variance(y_);
  for (int32_t j = 0; j <= s.index_in_stack; ++j) {
    const double share = shares_[static_cast<size_t>(j)].variance(static_cast<int64_t>(n));
    *sum += *number++ = whole > 0 || whole != whole ? share / whole : 0.0;
  }
  for (const auto& [scale, values] : {std::pair(s.skip, &skip_), std::pair(s.branch_scale, &branch_scale_)})
    if (scale != kNone)
      *number++ = std::accumulate(values->begin(), values->end(), 0.0) / static_cast<double>(width_);
  if (s.factor != kNone) {
    load_scale(s.factor, 1.0f, gain_);
    *number++ = static_cast<double>(gain_[0]);
  }
  if (s.streams != kNone) number_reads(s, number);
}

/// Carries every component through the sub-layer:
///   c_ij = N'( skip N''( c_(i-1)j ) ) for j < i
///   c_ii = N'( branch a_i )
/// Here N'(z) = gain (z - mean z)/sigma_i with the sigma_i of the norm on the stream, and N'' likewise of the norm
/// where the sub-layer begins (identity without them). A norm's bias joins the bias component (norm-science A.5). Where
/// the layer's input joins the sum, its components do. A sub-layer with none of these leaves the older components
/// unchanged.
void LiveMeasurements::carry_components(const Sublayer& s) {
  const int64_t rows = static_cast<int64_t>(rows_), width = static_cast<int64_t>(width_);
  const size_t own = static_cast<size_t>(s.index_in_stack);
  if (s.read != kNone) return carry_streams(s);
  if (s.starts_layer && !layer_components_.empty()) keep_layer_input(own);
  if (s.enter.kind != NormKind::None) carry_older(s.enter, map_of(s.enter), own);
  if (s.adds_bottom()) add_layer_input(s, own);
  cpu::CarryMap map = map_of(s.stream);
  if (s.scales_skip && !s.adds_bottom()) map.scale = skip_.data();
  if (map.inverse_sigma || map.scale || s.adds_bottom() || s.starts_stack) carry_older(s.stream, map, own);
  map.scale = nullptr;  // the branch's own scale is applied already
  components_[own] = branch_;
  shares_[own] =
      cpu::carry_rows(map, components_[own].data(), total_.data(), rows, width, row_shares_[own].data());
  check_total();
}

/// Keeps the largest difference between the sum of the components and the state.
void LiveMeasurements::check_total() {
  const double worst =
      cpu::largest_difference(total_.data(), y_.data(), static_cast<int64_t>(rows_ * width_));
  const double spread = std::sqrt(variance(y_));
  if (spread > 0) residual_ = std::max(residual_, worst / spread);
}

/// A norm as it is in this replay, but for its bias; the identity without a norm.
cpu::CarryMap LiveMeasurements::map_of(const Norm& norm) {
  cpu::CarryMap map;
  if (norm.kind == NormKind::None) return map;
  load(norm.inverse_sigma, inverse_sigma_, rows_);
  load_scale(norm.gain, 1.0f - norm.gain_offset, gain_);
  if (norm.gain_offset != 0)
    for (float& gain : gain_) gain += norm.gain_offset;
  load_scale(norm.bias, 0.0f, bias_);
  map.inverse_sigma = inverse_sigma_.data();
  map.gain = gain_.data();
  map.centre = is_centred(norm.kind);
  map.factor = element_factors(norm);
  return map;
}

/// Applies the transpose of a norm's map.
void LiveMeasurements::transpose(const cpu::CarryMap& map, std::vector<float>& direction) const {
  if (!map.inverse_sigma) return;
  for (size_t at = 0; at < direction.size(); at += width_) {
    double sum = 0;
    for (size_t i = 0; i < width_; ++i) {
      direction[at + i] *=
          map.inverse_sigma[at / width_] * map.gain[i] * (map.factor ? map.factor[at + i] : 1);
      sum += static_cast<double>(direction[at + i]);
    }
    if (!map.centre) continue;
    const auto mean = static_cast<float>(sum / static_cast<double>(width_));
    for (size_t i = 0; i < width_; ++i) direction[at + i] -= mean;
  }
}

bool LiveMeasurements::follow_down(std::vector<float>& direction, const BranchReader& at) {
  const auto other_form = [](const Sublayer& s) { return s.read != kNone || s.lengths != kNone; };
  if (std::ranges::any_of(sublayers_, other_form) ||
      std::ranges::count(sublayers_, true, &Sublayer::starts_stack) != 1)
    return false;
  const size_t sequences = std::exchange(rows_, direction.size() / width_);
  std::vector<float> bottom, own;  // where a sum adds the layer's input, what that gets beside the sub-layers
  for (size_t place = sublayers_.size(); place-- > 0;) {
    const Sublayer& s = sublayers_[place];
    load_scales(s);
    transpose(map_of(s.stream), direction);
    own = direction;
    if (s.scales_branch) multiply(own, branch_scale_, width_);
    at(place, own);
    if (s.adds_bottom()) bottom = direction;
    if (s.scales_skip) multiply(direction, skip_, width_);
    transpose(map_of(s.enter), direction);
    if (!s.starts_layer) continue;
    if (!bottom.empty())
      cpu::add_scaled(bottom.data(), 1.0f, direction.data(), static_cast<int64_t>(bottom.size()));
    bottom.clear();
  }
  rows_ = sequences;
  return true;
}

/// The norm that alone lies between two values, of kind None where they are one; nothing where more does.
std::optional<LiveMeasurements::Norm> LiveMeasurements::norm_between(ValueId output, ValueId input) const {
  if (output == input) return Norm{};
  const ProgramData& data = program_->data();
  const int32_t producer = data.values[static_cast<size_t>(output)].node;
  if (producer < 0) return {};
  const Node& node = data.nodes[static_cast<size_t>(producer)];
  const Norm norm = norm_of(node, input);
  return norm.kind == NormKind::None || node.in[0] != input ? std::nullopt : std::optional(norm);
}

bool LiveMeasurements::follow_norm(ValueId output, ValueId input, std::vector<float>& direction) {
  const std::optional<Norm> norm = norm_between(output, input);
  if (!norm) return false;
  const size_t sequences = std::exchange(rows_, direction.size() / width_);
  transpose(map_of(*norm), direction);
  rows_ = sequences;
  return true;
}

/// Applies a norm's derivative: its map to what is left without the part that lengthens or shortens its input.
void LiveMeasurements::move_through(const Norm& norm, std::vector<float>& direction) {
  if (norm.kind == NormKind::None) return;
  const cpu::CarryMap map = map_of(norm);
  if (!map.factor) {
    load(norm.input, x_, direction.size());
    if (map.centre) load(norm.mean, mean_, rows_);
    for (size_t r = 0; r < rows_; ++r) {
      float *z = &x_[r * width_], *d = &direction[r * width_];
      for (size_t i = 0; i < width_; ++i) z[i] = (z[i] - (map.centre ? mean_[r] : 0)) * map.inverse_sigma[r];
      const double along = cpu::dots(z, d, static_cast<int64_t>(width_)).ab / static_cast<double>(width_);
      cpu::add_scaled(z, static_cast<float>(-along), d, static_cast<int64_t>(width_));
    }
  }
  total_.assign(direction.size(), 0.0f);
  cpu::carry_rows(map, direction.data(), total_.data(), static_cast<int64_t>(rows_),
                  static_cast<int64_t>(width_));
}

bool LiveMeasurements::carry_branch(size_t place, ValueId product, std::vector<float>& direction) {
  const Sublayer& s = sublayers_[place];
  const std::optional<Norm> after = norm_between(s.branch, product);
  if (s.read != kNone || !after) return false;
  const size_t sequences = std::exchange(rows_, direction.size() / width_);
  move_through(*after, direction);
  load_scales(s);
  if (s.scales_branch) multiply(direction, branch_scale_, width_);
  move_through(s.stream, direction);
  rows_ = sequences;
  return true;
}

/// Carries the first `count` components and the bias component; total_ is their sum.
void LiveMeasurements::carry_older(const Norm& norm, cpu::CarryMap map, size_t count) {
  const int64_t rows = static_cast<int64_t>(rows_), width = static_cast<int64_t>(width_);
  total_.assign(y_.size(), 0.0f);
  for (size_t j = 0; j < count; ++j)
    shares_[j] =
        cpu::carry_rows(map, components_[j].data(), total_.data(), rows, width, row_shares_[j].data());
  if (has_bias(norm.kind)) map.bias = bias_.data();
  cpu::carry_rows(map, bias_component_.data(), total_.data(), rows, width);
}

void LiveMeasurements::keep_layer_input(size_t count) {
  for (size_t j = 0; j < layer_components_.size() - 1; ++j)
    layer_components_[j].assign(components_[j].begin(),
                                j < count ? components_[j].end() : components_[j].begin());
  layer_components_.back() = bias_component_;
}

/// Applies the skip scale and adds the layer's input, before the norm on the stream. A component
/// younger than the layer's input has no part in it.
void LiveMeasurements::add_layer_input(const Sublayer& s, size_t count) {
  const auto join = [&](std::vector<float>& c, const std::vector<float>& kept) {
    if (s.scales_skip) multiply(c, skip_, width_);
    cpu::add_scaled(kept.data(), 1.0f, c.data(), static_cast<int64_t>(kept.size()));
  };
  for (size_t j = 0; j < count; ++j) join(components_[j], layer_components_[j]);
  join(bias_component_, layer_components_.back());
}

/// The factor of each element beside mean and 1/sigma, in this replay: the one that the
/// kind holds constant, or (t(x) - t(0)) / x of its curve. What is left of a shifted one, gain t(0), is not a share of
/// x and joins the bias. Null for the other kinds.
const float* LiveMeasurements::element_factors(const Norm& norm) {
  const bool adaptive = traits_of(norm.kind).has_factor;
  if (!adaptive && !has_alpha(norm.kind)) return nullptr;
  load(norm.input, factor_, rows_ * width_);
  if (adaptive) {
    load(norm.mean, mean_, rows_);
    for (size_t r = 0; r < rows_; ++r)
      for (size_t i = r * width_; i < (r + 1) * width_; ++i)
        factor_[i] = held_factor(norm.scale, norm.slope, factor_[i] - mean_[r], inverse_sigma_[r]);
    return factor_.data();
  }
  float alpha = 0, shift = 0;
  program_->read_part(norm.alpha, {&alpha, 1});
  if (has_shift(norm.kind)) {
    program_->read_part(norm.shift, {&shift, 1});
    const float still = to_factors<double>(norm.kind, alpha, shift, factor_);  // a difference, which cancels
    for (size_t j = 0; j < width_; ++j) bias_[j] += gain_[j] * still;
  } else {
    to_factors<float>(norm.kind, alpha, shift, factor_);
  }
  std::ranges::fill(inverse_sigma_, 1.0f);
  return factor_.data();
}

/// Writes NAME.extreme and NAME.extreme_position of the state in y_. It uses factor_, which only norms fill later.
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
  const double median = cpu::median(factor_);
  if (median > 0) number[0] = largest / median;
  number[1] = static_cast<double>(at / width_ % tokens_per_sequence_ + 1);
}

/// Writes NAME.longest and NAME.token_share of the state in y_ after sub-layer `place`.
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
  const auto longest = static_cast<double>(*std::ranges::max_element(lengths_));
  if (const double median = cpu::median(lengths_); median > 0) number[0] = longest / median;
  number[1] = cpu::median(own_shares_);
}

namespace {

/// The larger of two, or the one that is not a number, so that a broken score shows.
double larger_number(double a, double b) { return b > a || b != b ? b : a; }

/// The first key of the largest probability, or one whose probability is not a number.
size_t most_probable(const float* p, size_t keys) {
  size_t best = 0;
  for (size_t k = 1; k < keys; ++k)
    if (p[k] > p[best] || p[k] != p[k]) best = k;
  return best;
}

/// NaN, as what is not measured, where no query sees a key.
double or_nothing(double largest) {
  return largest == -std::numeric_limits<double>::infinity() ? std::numeric_limits<double>::quiet_NaN()
                                                             : largest;
}

double product(const float* a, const float* b, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

}  // namespace

void LiveMeasurements::make_room_for_heads(int32_t sequences) {
  const auto each = [&](ValueId v) { return static_cast<size_t>(sequences * shape(v)[1] * shape(v)[2]); };
  for (const Sublayer& s : sublayers_) {
    if (s.probabilities == kNone) continue;
    const AttentionScores& x = s.scores;
    const Shape& p = shape(s.probabilities);
    p_.reserve(static_cast<size_t>(sequences * p[1] * p[2] * p[3]));
    queries_.reserve(each(x.queries));
    keys_.reserve(each(x.keys));
    if (x.distances == kNone) continue;
    position_.reserve(each(x.position));
    distances_.reserve(static_cast<size_t>(shape(x.distances).size()));
  }
}

void LiveMeasurements::lay_out_heads(const Sublayer& s, int32_t layer) {
  for (const char* number : {".attention_entropy", ".largest_logit", ".first_mass"})
    layout_.push_back({s.name + number, layer});
  for (int32_t h = 1; h <= s.scores.heads; ++h)
    for (const char* number : {"entropy", "logit", "first_mass"})
      layout_.push_back({fmt::format("{}.head.{}.{}", s.name, h, number), layer});
}

/// A query's score of a key as it goes into the softmax:
///   S  =  scale (q k + e r_d)                    // e r_d: only of relative positions, d how far back the key is
///   S  =  cap tanh(S / cap)                      // only with a cap
///   S  =  S + slope (key - query)                // only with ALiBi
double LiveMeasurements::score(const AttentionScores& x, size_t sequence, size_t head, size_t query,
                               size_t key) const {
  const auto queries = static_cast<size_t>(shape(x.queries)[1]), keys = static_cast<size_t>(shape(x.keys)[1]);
  const auto all = static_cast<size_t>(shape(x.queries)[2]), shared = static_cast<size_t>(shape(x.keys)[2]);
  const size_t width = all / static_cast<size_t>(x.heads), from = head * width;
  const size_t q = (sequence * queries + query) * all + from,
               k = (sequence * keys + key) * shared + head / (all / shared) * width;
  double sum = product(&queries_[q], &keys_[k], width);
  if (x.distances != kNone)
    sum += product(&position_[q], &distances_[(query + keys - queries - key) * all + from], width);
  sum *= AttentionSpec{.scale = x.scale}.scale_of(static_cast<int64_t>(width));
  if (const auto cap = static_cast<double>(x.cap); cap > 0) sum = cap * std::tanh(sum / cap);
  if (x.alibi)
    sum += alibi_slope(static_cast<int64_t>(head), x.heads) *
           (static_cast<double>(key) - static_cast<double>(query));
  return sum;
}

/// The largest of a head's first `counted` queries, minus infinity where they see no key.
double LiveMeasurements::largest_score(const Sublayer& s, size_t sequence, size_t head, const float* p,
                                       size_t counted) const {
  const auto keys = static_cast<size_t>(shape(s.probabilities)[3]);
  double largest = -std::numeric_limits<double>::infinity();
  for (size_t t = 0; t < counted; ++t, p += keys) {
    const size_t key = most_probable(p, keys);
    if (p[key] == 0) continue;
    const double broken = p[key] != p[key] ? std::numeric_limits<double>::quiet_NaN() : 0;
    largest = larger_number(largest, score(s.scores, sequence, head, t, key) + broken);
  }
  return largest;
}

/// Writes the sub-layer's three numbers, then three of each head, and returns where the next goes.
double* LiveMeasurements::number_heads(const Sublayer& s, double* number) {
  const size_t sequences = rows_ / tokens_per_sequence_, heads = static_cast<size_t>(s.scores.heads);
  const auto queries = static_cast<size_t>(shape(s.probabilities)[2]),
             keys = static_cast<size_t>(shape(s.probabilities)[3]);
  const size_t counted = std::min(queries, tokens_per_sequence_);
  const auto width = static_cast<size_t>(shape(s.scores.queries)[2]);
  load(s.probabilities, p_, sequences * heads * queries * keys);
  load(s.scores.queries, queries_, sequences * queries * width);
  load(s.scores.keys, keys_, sequences * keys * static_cast<size_t>(shape(s.scores.keys)[2]));
  if (s.scores.distances != kNone) {
    load(s.scores.position, position_, sequences * queries * width);
    load(s.scores.distances, distances_, static_cast<size_t>(shape(s.scores.distances).size()));
  }
  double *own = number + 3, total = 0, largest = -std::numeric_limits<double>::infinity(), mass = 0;
  std::fill(own, own + 3 * heads, 0.0);
  for (size_t h = 0; h < heads; ++h) own[3 * h + 1] = largest;
  const auto rows = static_cast<double>(sequences * counted);
  for (size_t i = 0; i < sequences * heads; ++i) {
    double* of_head = own + i % heads * 3;
    const float* p = &p_[i * queries * keys];
    const double entropy = cpu::entropy(p, static_cast<int64_t>(counted * keys));
    total += entropy;
    of_head[0] += entropy / rows;
    of_head[1] = larger_number(of_head[1], largest_score(s, i / heads, i % heads, p, counted));
    for (size_t t = 0; t < counted; ++t) of_head[2] += static_cast<double>(p[t * keys]) / rows;
  }
  for (size_t h = 0; h < heads; ++h) {
    largest = larger_number(largest, own[3 * h + 1]);
    mass += own[3 * h + 2] / static_cast<double>(heads);
    own[3 * h + 1] = or_nothing(own[3 * h + 1]);
  }
  number[0] = total / static_cast<double>(sequences * heads * counted);
  number[1] = or_nothing(largest);
  number[2] = mass;
  return own + 3 * heads;
}

int64_t LiveMeasurements::streams_of(const Sublayer& s) const {
  return s.streams == kNone ? 0 : shape(s.streams)[2];
}

void LiveMeasurements::make_room_for_streams(size_t positions) {
  size_t most = 0;
  for (const Sublayer& s : sublayers_) most = std::max(most, static_cast<size_t>(streams_of(s)));
  if (most == 0) return;
  if (most <= size_t{kMaxStreams}) streams_.reserve(components_.size(), most, positions);
  read_.reserve(most * positions);
  carry_.reserve(most * most * positions);
  write_.reserve(most * positions);
}

StreamWeights LiveMeasurements::weights_of(ValueId value, size_t to, std::vector<float>& host) const {
  const Shape& all = shape(value);
  const bool shared = all.rank == 2;
  const auto each = static_cast<size_t>(shared ? all.size() : all.size() / (all[0] * all[1]));
  load(value, host, shared ? each : each * rows_);
  return {host, to, shared};
}

/// Carries the components as they were written, and their coefficients in what is read.
void LiveMeasurements::carry_streams(const Sublayer& s) {
  const auto rows = static_cast<int64_t>(rows_), width = static_cast<int64_t>(width_);
  const size_t own = static_cast<size_t>(s.index_in_stack);
  const bool of_depth = s.carry == kNone;
  const StreamWeights read = weights_of(s.read, 1, read_);
  if (!of_depth) {
    const auto count = static_cast<size_t>(streams_of(s));
    if (s.starts_stack) streams_.start(count, rows_);
    streams_.pass(own, weights_of(s.carry, count, carry_), weights_of(s.write, count, write_));
  }
  components_[own] = branch_;
  total_.assign(y_.size(), 0.0f);
  inverse_sigma_.resize(rows_);  // a coefficient for each row
  cpu::CarryMap map;
  map.inverse_sigma = inverse_sigma_.data();
  map.centre = false;
  for (size_t j = 0; j <= own; ++j) {
    if (of_depth)
      for (size_t p = 0; p < rows_; ++p) inverse_sigma_[p] = read.at(p, j, own + 1, 0);
    else
      streams_.read(j, read, inverse_sigma_);
    x_ = components_[j];
    shares_[j] = cpu::carry_rows(map, x_.data(), total_.data(), rows, width, row_shares_[j].data());
  }
  check_total();
}

/// Writes the mean weight of each stream in what is read.
void LiveMeasurements::number_reads(const Sublayer& s, double* number) const {
  const auto count = static_cast<size_t>(streams_of(s));
  const bool shared = read_.size() == count;
  const size_t positions = shared ? 1 : rows_;
  for (size_t i = 0; i < count; ++i) {
    double sum = 0;
    for (size_t p = 0; p < positions; ++p) sum += static_cast<double>(read_[p * count + i]);
    *number++ = sum / static_cast<double>(positions);
  }
}

}  // namespace normscope
