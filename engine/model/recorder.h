// The building blocks of models, by the config's rules: initialised parameters, products, norms, dropout, activations,
// scales. Networks derive from Recorder; forms of residual streams (model/residual.h) use it.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "engine/model/part.h"
#include "engine/model/residual.h"
#include "engine/model/transformer.h"
#include "engine/ops/ops.h"

namespace normscope {

struct Recorder {
  Recorder(Tape& on, const ModelConfig& of, const RecordOptions& with)
      : tape(on), store(on.store()), config(of), options(with), growth(growth_of(of, true)) {
    for (const PartRow* row : kParts)
      if (auto part = row->record(*this)) parts.push_back(std::move(part));
  }
  Recorder(const Recorder&) = delete;

  /// Sets the layer of the nodes and parameters that are recorded from now on; 0: none.
  void begin(int32_t of) {
    layer = of;
    tape.set_layer(of);
  }

  ValueId activated(const std::string& name, ValueId x) {
    return normscope::activated(tape, config.activation, name, x);
  }

  /// FixUp's scalar shift, which starts at 0.
  ValueId shift(const std::string& name, const Inner& inner, ValueId x) {
    if (!inner.shifts) return x;
    return affine(tape, name + twin, x, 1.0f, kNone, parameter(name + ".b", {1}, {Init::Kind::Zeros, 0.0}));
  }

  /// X W + b with W named n.w<suffix>, initialised by the config's rule and scale times gain. Shifts replace the bias.
  ValueId project(const std::string& n, const std::string& suffix, ValueId x, int64_t out, double gain,
                  const Wiring& wiring, Init::Mirror mirror = Init::Mirror::None) {
    const int64_t in = tape.shape(x).cols();
    Init init = matrix_init(in, out, gain * config.init_scale);
    init.mirror = mirror;
    const bool into_stream = suffix == "o" || suffix == "2";
    start(n + ".w" + suffix, wiring, into_stream ? Init::Unit::Rows : Init::Unit::Columns, init);
    const ValueId w = matrix(n + ".w" + suffix, {in, out}, init);
    const bool biased = !wiring.inner.shifts && has_bias_of(suffix);
    const ValueId b = biased ? parameter(n + ".b" + suffix, {out}, {Init::Kind::Zeros, 0.0}) : kNone;
    return linear(tape, n + "." + suffix + twin, x, w, b);
  }

  /// Lets the parts change the initial values of a matrix.
  void start(const std::string& name, const Wiring& wiring, Init::Unit along, Init& init) {
    for (const auto& part : parts) part->start(name, wiring, along, init);
  }

  /// Whether the matrix n.w<suffix> has a bias.
  bool has_bias_of(const std::string& suffix) const {
    static constexpr std::string_view kOf[] = {"qkvo12g", "qkv", "12g", "", "qkvo", "o12g"};  // by Biases
    return kOf[static_cast<size_t>(config.biases)].find(suffix) != std::string_view::npos;
  }

  Init matrix_init(int64_t in, int64_t out, double gain) const {
    if (gain == 0) return {Init::Kind::Zeros, 0.0};
    const double xavier = std::sqrt(2.0 / static_cast<double>(in + out));
    const double fixed = gains.deviation / std::sqrt(growth.width);
    return {Init::Kind::Normal, gain * (fixed > 0 ? fixed : xavier)};
  }

  /// Normalises each head's part of a row by itself when heads > 1.
  ValueId norm(const std::string& name, const WiredNorm& wired, ValueId x, int32_t heads = 1) {
    return norm(name, name, wired, x, heads);
  }
  /// The same for a node that has another name than the norm, with the parameters of the norm `name`.
  ValueId norm(const std::string& node, const std::string& name, const WiredNorm& wired, ValueId x,
               int32_t heads = 1) {
    const NormKind kind = wired;
    if (kind == NormKind::None) return x;
    const int64_t D = tape.shape(x).cols() / heads;
    const double beyond = config.gain_offset && has_gain(kind) ? 1 : 0;
    const ValueId gain =
        has_gain(kind) ? parameter(name + ".gain", {D}, {Init::Kind::Constant, 1 - beyond}) : kNone;
    const ValueId bias = has_bias(kind) ? parameter(name + ".bias", {D}, {Init::Kind::Zeros, 0.0}) : kNone;
    const NormExtras extras{
        .alpha = has_alpha(kind) ? parameter(name + ".alpha", {1}, {Init::Kind::Constant, config.dyt_alpha})
                                 : kNone,
        .shift = has_shift(kind) ? parameter(name + ".shift", {1}, {Init::Kind::Zeros, 0.0}) : kNone,
        .scale = config.adanorm_scale,
        .slope = config.adanorm_slope,
        .gain_offset = static_cast<float>(beyond)};
    return layer_norm(tape, node + twin, kind, x, gain, bias, wired.eps > 0 ? wired.eps : config.eps, heads,
                      extras);
  }

  bool left_out(const std::string& name) const {
    return std::ranges::find(options.left_out, name) != options.left_out.end();
  }

  ValueId drop(const std::string& name, DropoutKind kind, float probability, ValueId x) {
    return options.training && probability > 0 ? dropout(tape, name, x, kind) : x;
  }

  ResidualScale scale(const std::string& name, const Scale& s) {
    if (s.kind == Scale::Kind::One) return {};
    if (s.kind == Scale::Kind::Constant) return {s.value, kNone};
    if (s.kind == Scale::Kind::Toward) return {1.0f, share(name, s.value)};
    const int64_t size = s.kind == Scale::Kind::LearnedScalar ? 1 : config.d_model;
    return {1.0f, parameter(name, {size}, {Init::Kind::Constant, s.value})};
  }

  /// The scale of the skip path. nGPT: one minus the branch's share; otherwise the skip's own scale.
  ResidualScale skip_scale(const std::string& sublayer, const Wiring& wiring, const ResidualScale& branch) {
    if (wiring.branch.kind != Scale::Kind::Toward) return scale(sublayer + ".skip", wiring.skip);
    const ValueId one = parameter("sphere.one", {1}, {Init::Kind::Constant, 1.0}, false);
    return {1.0f, affine(tape, sublayer + ".rest", branch.learned, -1.0f, kNone, one)};
  }

  /// |a| of a learned vector a: 2 max(a, 0) - a.
  ValueId share(const std::string& name, double start) {
    const ValueId a = learned_scale(name, config.d_model, start, start * root_of_width());
    return add(tape, name + ".share", relu(tape, name + ".positive", a), a, {2.0f, kNone}, {-1.0f, kNone});
  }

  /// A learned vector with the steps of one that is stored divided by `unit` (nGPT): Adam's are `unit` times as large.
  ValueId learned_scale(const std::string& name, int64_t size, double start, double unit) {
    const ValueId value = parameter(name, {size}, {Init::Kind::Constant, start});
    const auto inverse = static_cast<float>(1 / unit);
    store.scale_steps(tape.named(name), {static_cast<float>(unit), inverse, inverse});
    return value;
  }
  double root_of_width() const { return std::sqrt(static_cast<double>(config.d_model)); }

  ValueId parameter(const std::string& name, Shape shape, Init init, bool trainable = true) {
    tape.declare(name, shape, init, trainable);
    scale_steps(name, layer > 0 ? growth.rate : 1.0);
    return tape.parameter(name);
  }

  /// Multiplies the steps of a parameter by the transfer's factors.
  void scale_steps(const std::string& name, double rate, double decay = 1, double eps = 1) {
    if (config.transfer != Transfer::None)
      store.scale_steps(tape.named(name), {static_cast<float>(rate), static_cast<float>(decay),
                                           static_cast<float>(eps * growth.eps)});
  }

  /// A parameter from hidden states to hidden states.
  ValueId matrix(const std::string& name, Shape shape, Init init) {
    const ValueId value = parameter(name, shape, init);
    store.mark_hidden(tape.named(name));
    scale_steps(name, growth.matrix_rate(), growth.width);
    return value;
  }

  /// The factor of token rows, sqrt(D), divided by the base's; 1 where embedding_scale sets the factor.
  double table_growth() const { return config.embedding_scale > 0 ? 1 : std::sqrt(growth.width); }

  /// The standard deviation of the matrix from states to logits: 1 / sqrt(D), with a transfer for the base's D.
  double read_out_deviation() const {
    return std::sqrt(growth.width) / std::sqrt(static_cast<double>(config.d_model));
  }

  /// Divides a state by the width's growth and multiplies it by c: the matrix is stored c times too small.
  ValueId read_out(ValueId hidden, double c) {
    if (c == growth.width) return hidden;
    return affine(tape, "read_out", hidden, static_cast<float>(c / growth.width), kNone, kNone);
  }

  Tape& tape;
  Store& store;
  const ModelConfig& config;
  const RecordOptions& options;
  int32_t layer = 0;
  InitGains gains;                                   ///< of the stack that is recorded
  Growth growth;                                     ///< of that stack
  std::vector<std::unique_ptr<Part>> parts;          ///< of add-ons
  std::vector<std::unique_ptr<Residual>> residuals;  ///< other forms of its residual streams
  ValueId layer_input = kNone;                       ///< the input of the layer that is recorded
  ValueId probe_lengths = kNone;
  bool last_layer = false;
  /// The suffix of node names while a memory's states pass the norms and matrices of the segment; empty otherwise.
  std::string twin;
  ModelValues values;  ///< so far
};

/// Makes a form of residual streams for a stack if the wiring of any sub-layer has the form's word; else null.
template <ResidualForm kForm, class Form>
std::unique_ptr<Residual> record_form(Recorder& recorder, const StackWiring& stack) {
  return any_has_word(stack, kForm) ? std::make_unique<Form>(recorder) : nullptr;
}

}  // namespace normscope
