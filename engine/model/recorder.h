// A recorder of models has the parts that they are put together from, by the config's rules: parameters as they start,
// products, norms, dropout, activations, scales. Networks derive from it; forms of residual streams (model/residual.h)
// use it.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "engine/model/transformer.h"
#include "engine/ops/activations/activations.h"
#include "engine/ops/add/add.h"
#include "engine/ops/affine/affine.h"
#include "engine/ops/dropout/dropout.h"
#include "engine/ops/layer_norm/layer_norm.h"
#include "engine/ops/linear/linear.h"
#include "engine/ops/unit_vectors/unit_vectors.h"

namespace normscope {

struct Recorder {
  Recorder(Tape& on, const ModelConfig& of, const RecordOptions& with)
      : tape(on), store(on.store()), config(of), options(with), growth(growth_of(of, true)) {}

  /// Sets the layer of what is recorded from here on; 0: none.
  void begin(int32_t of) {
    layer = of;
    tape.set_layer(of);
  }

  ValueId activated(const std::string& name, ValueId x) {
    using Record = ValueId (*)(Tape&, const std::string&, ValueId);
    static constexpr Record kRecord[] = {
#define ACTIVATION(Name, op) op,
#include "engine/ops/activations/activations.def"
#undef ACTIVATION
    };
    return kRecord[static_cast<size_t>(config.activation)](tape, name, x);
  }

  /// FixUp's scalar shift, which starts at 0.
  ValueId shift(const std::string& name, const Inner& inner, ValueId x) {
    if (!inner.shifts) return x;
    return affine(tape, name + twin, x, 1.0f, kNone, parameter(name + ".b", {1}, {Init::Kind::Zeros, 0.0}));
  }

  /// X W + b with W named n.w<suffix>, started by the config's rule and scale times gain. Shifts replace the
  /// bias.
  ValueId project(const std::string& n, const std::string& suffix, ValueId x, int64_t out, double gain,
                  const Inner& inner, Init::Mirror mirror = Init::Mirror::None) {
    const int64_t in = tape.shape(x).cols();
    Init init = matrix_init(in, out, gain * config.init_scale);
    init.mirror = mirror;
    if (inner.sphere) init.unit = suffix == "o" || suffix == "2" ? Init::Unit::Rows : Init::Unit::Columns;
    const ValueId w = matrix(n + ".w" + suffix, {in, out}, init);
    const bool biased = !inner.shifts && has_bias_of(suffix);
    const ValueId b = biased ? parameter(n + ".b" + suffix, {out}, {Init::Kind::Zeros, 0.0}) : kNone;
    return linear(tape, n + "." + suffix + twin, x, w, b);
  }

  /// Whether the matrix n.w<suffix> has a bias.
  bool has_bias_of(const std::string& suffix) const {
    const bool reads_stream = suffix == "q" || suffix == "k" || suffix == "v";
    switch (config.biases) {
      case Biases::All:
        return true;
      case Biases::Qkv:
        return reads_stream;
      case Biases::FeedForward:
        return !reads_stream && suffix != "o";
      case Biases::None:
        return false;
      case Biases::Attention:
        return reads_stream || suffix == "o";
    }
    return true;
  }

  Init matrix_init(int64_t in, int64_t out, double gain) const {
    if (gain == 0) return {Init::Kind::Zeros, 0.0};
    const double xavier = std::sqrt(2.0 / static_cast<double>(in + out));
    const double fixed = gains.deviation / std::sqrt(growth.width);
    return {Init::Kind::Normal, gain * (fixed > 0 ? fixed : xavier)};
  }

  /// Normalises each head's part of a row by itself when heads > 1.
  ValueId norm(const std::string& name, const WiredNorm& wired, ValueId x, int32_t heads = 1) {
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
    return layer_norm(tape, name + twin, kind, x, gain, bias, wired.eps > 0 ? wired.eps : config.eps, heads,
                      extras);
  }

  bool left_out(const std::string& name) const {
    return std::find(options.left_out.begin(), options.left_out.end(), name) != options.left_out.end();
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
    const ValueId a = sphere_scale(name, config.d_model, start, start * root_of_width());
    return add(tape, name + ".share", relu(tape, name + ".positive", a), a, {2.0f, kNone}, {-1.0f, kNone});
  }

  /// A learned vector that nGPT stores divided by `unit`: Adam's steps of it are so much larger.
  ValueId sphere_scale(const std::string& name, int64_t size, double start, double unit) {
    const ValueId value = parameter(name, {size}, {Init::Kind::Constant, start});
    const auto inverse = static_cast<float>(1 / unit);
    store.scale_steps(name, {static_cast<float>(unit), inverse, inverse});
    return value;
  }
  double root_of_width() const { return std::sqrt(static_cast<double>(config.d_model)); }

  /// Gives x, behind matrices of unit vectors, a learned scale for each number.
  ValueId rescaled(const std::string& name, const Inner& inner, ValueId x, double unit = 1) {
    if (!inner.sphere) return x;
    return affine(tape, name + "_scaled", x, 1.0f,
                  sphere_scale(name + "_scale", tape.shape(x).cols(), 1.0, unit), kNone);
  }

  ValueId parameter(const std::string& name, Shape shape, Init init, bool trainable = true) {
    store.declare(name, shape, init, trainable, layer);
    scale_steps(name, layer > 0 ? growth.rate : 1.0);
    if (init.unit != Init::Unit::None) keep_unit(name, init.unit == Init::Unit::Columns);
    return tape.parameter(name);
  }

  /// Has the vectors of a parameter divided by their length behind every update.
  void keep_unit(const std::string& name, bool columns) {
    const std::vector<Node>& asked = tape.after_update();
    const std::string node = name + ".unit";
    if (std::none_of(asked.begin(), asked.end(), [&](const Node& n) { return n.name == node; }))
      unit_vectors(tape, node, tape.parameter(name), {columns});
  }

  /// Multiplies the steps of a parameter as the transfer wants it.
  void scale_steps(const std::string& name, double rate, double decay = 1, double eps = 1) {
    if (config.transfer != Transfer::None)
      store.scale_steps(
          name, {static_cast<float>(rate), static_cast<float>(decay), static_cast<float>(eps * growth.eps)});
  }

  /// A parameter from hidden states to hidden states.
  ValueId matrix(const std::string& name, Shape shape, Init init) {
    const ValueId value = parameter(name, shape, init);
    store.mark_hidden(name);
    scale_steps(name, growth.matrix_rate(), growth.width);
    return value;
  }

  /// By how much more than the base's a transfer's token table is multiplied where it is looked up.
  double table_growth() const { return config.embedding_scale > 0 ? 1 : std::sqrt(growth.width); }

  /// The standard deviation of the matrix from states to logits: 1 / sqrt(D), of a transfer the base's.
  double read_out_deviation() const {
    return std::sqrt(growth.width) / std::sqrt(static_cast<double>(config.d_model));
  }

  /// How that matrix (D,V) starts.
  Init output_init() const {
    Init init{Init::Kind::Normal, read_out_deviation()};
    if (ends_on_sphere(config.stack())) init.unit = Init::Unit::Columns;
    return init;
  }

  /// The logits of a state; on the sphere they are products of unit vectors times a learned scale each, and
  /// a bias stands behind that.
  ValueId outputs(const std::string& name, ValueId hidden, ValueId w, ValueId bias, bool transposed = false) {
    if (!ends_on_sphere(config.stack())) return linear(tape, name, hidden, w, bias, transposed);
    const ValueId products = linear(tape, name + ".products", hidden, w, kNone, transposed);
    const double root = root_of_width();
    return affine(tape, name, products, static_cast<float>(1 / root),
                  sphere_scale("out.scale", tape.shape(products).cols(), 1.0, root), bias);
  }

  /// Divides a state by the width's growth; the matrix is stored c times too small.
  ValueId read_out(ValueId hidden, double c) {
    if (growth.width == 1) return hidden;
    return affine(tape, "read_out", hidden, static_cast<float>(c / growth.width), kNone, kNone);
  }

  Tape& tape;
  Store& store;
  const ModelConfig& config;
  const RecordOptions& options;
  int32_t layer = 0;
  InitGains gains;  ///< of the stack that is recorded
  Growth growth;    ///< the same
  /// The end of the nodes' names while the memory takes the way of the stream. The parameters are the same.
  static constexpr const char* kOfMemory = ".memory";
  std::string twin;
};

}  // namespace normscope
