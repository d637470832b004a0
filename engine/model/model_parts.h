// `ModelParts` are what a recorder of models is put together from, by the config's rules: parameters as they start,
// products, norms, dropout, activations, scales. Called by transformer.cpp, convolutions.cpp and parser.cpp.
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

namespace normscope {

class ModelParts {
 public:
  ModelParts(Tape& tape, const ModelConfig& config, const RecordOptions& options)
      : tape_(tape), store_(tape.store()), config_(config), options_(options) {}

 protected:
  /// `begin` sets the layer of what is recorded from here on; 0: none.
  void begin(int32_t layer) {
    layer_ = layer;
    tape_.set_layer(layer);
  }

  ValueId activated(const std::string& name, ValueId x) {
    using Record = ValueId (*)(Tape&, const std::string&, ValueId);
    static constexpr Record kRecord[] = {
#define ACTIVATION(Name, op) op,
#include "engine/ops/activations/activations.def"
#undef ACTIVATION
    };
    return kRecord[static_cast<size_t>(config_.activation)](tape_, name, x);
  }

  /// `shift` is FixUp's scalar shift, which starts at 0.
  ValueId shift(const std::string& name, const Inner& inner, ValueId x) {
    if (!inner.shifts) return x;
    return affine(tape_, name + twin_, x, 1.0f, kNone, parameter(name + ".b", {1}, {Init::Kind::Zeros, 0.0}));
  }

  /// `project` is x W + b with W named n.w<suffix>, started by the config's rule and scale times gain. Shifts replace the
  /// bias.
  ValueId project(const std::string& n, const std::string& suffix, ValueId x, int64_t out, double gain,
                  const Inner& inner, Init::Mirror mirror = Init::Mirror::None) {
    const int64_t in = tape_.shape(x).cols();
    Init init = matrix_init(in, out, gain * config_.init_scale);
    init.mirror = mirror;
    const ValueId w = matrix(n + ".w" + suffix, {in, out}, init);
    const bool biased = !inner.shifts && has_bias_of(suffix);
    const ValueId b = biased ? parameter(n + ".b" + suffix, {out}, {Init::Kind::Zeros, 0.0}) : kNone;
    return linear(tape_, n + "." + suffix + twin_, x, w, b);
  }

  /// `has_bias_of` says whether the matrix n.w<suffix> has a bias.
  bool has_bias_of(const std::string& suffix) const {
    const bool reads_stream = suffix == "q" || suffix == "k" || suffix == "v";
    switch (config_.biases) {
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
    return {Init::Kind::Normal, gain * (gains_.deviation > 0 ? gains_.deviation : xavier)};
  }

  /// `norm` normalises each head's part of a row by itself when heads > 1.
  ValueId norm(const std::string& name, const WiredNorm& wired, ValueId x, int32_t heads = 1) {
    const NormKind kind = wired;
    if (kind == NormKind::None) return x;
    const int64_t D = tape_.shape(x).cols() / heads;
    const double beyond = config_.gain_offset && has_gain(kind) ? 1 : 0;
    const ValueId gain =
        has_gain(kind) ? parameter(name + ".gain", {D}, {Init::Kind::Constant, 1 - beyond}) : kNone;
    const ValueId bias = has_bias(kind) ? parameter(name + ".bias", {D}, {Init::Kind::Zeros, 0.0}) : kNone;
    const NormExtras extras{
        .alpha = has_alpha(kind) ? parameter(name + ".alpha", {1}, {Init::Kind::Constant, config_.dyt_alpha})
                                 : kNone,
        .shift = has_shift(kind) ? parameter(name + ".shift", {1}, {Init::Kind::Zeros, 0.0}) : kNone,
        .scale = config_.adanorm_scale,
        .slope = config_.adanorm_slope,
        .gain_offset = static_cast<float>(beyond)};
    return layer_norm(tape_, name + twin_, kind, x, gain, bias, wired.eps > 0 ? wired.eps : config_.eps,
                      heads, extras);
  }

  bool left_out(const std::string& name) const {
    return std::find(options_.left_out.begin(), options_.left_out.end(), name) != options_.left_out.end();
  }

  ValueId drop(const std::string& name, DropoutKind kind, float probability, ValueId x) {
    return options_.training && probability > 0 ? dropout(tape_, name, x, kind) : x;
  }

  ResidualScale scale(const std::string& name, const Scale& s) {
    if (s.kind == Scale::Kind::One) return {};
    if (s.kind == Scale::Kind::Constant) return {s.value, kNone};
    const int64_t size = s.kind == Scale::Kind::LearnedScalar ? 1 : config_.d_model;
    return {1.0f, parameter(name, {size}, {Init::Kind::Constant, s.value})};
  }

  ValueId parameter(const std::string& name, Shape shape, Init init, bool trainable = true) {
    store_.declare(name, shape, init, trainable, layer_);
    return tape_.parameter(name);
  }

  /// `matrix` is a parameter from hidden states to hidden states.
  ValueId matrix(const std::string& name, Shape shape, Init init) {
    const ValueId value = parameter(name, shape, init);
    store_.mark_hidden(name);
    return value;
  }

  Tape& tape_;
  Store& store_;
  const ModelConfig& config_;
  const RecordOptions& options_;
  int32_t layer_ = 0;
  InitGains gains_;  ///< of the stack that is recorded
  /// The end of the nodes' names while the memory takes the way of the stream. The parameters are the same.
  static constexpr const char* kOfMemory = ".memory";
  std::string twin_;
};

}  // namespace normscope
