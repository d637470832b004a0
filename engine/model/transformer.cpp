#include "engine/model/transformer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/core/error.h"
#include "engine/core/philox.h"
#include "engine/model/blocks.h"
#include "engine/model/parser.h"
#include "engine/ops/ops.h"

namespace normscope {
namespace {

/// Records one model. Each function is one box of the architecture diagram.
class Recorder {
 public:
  Recorder(Tape& tape, const ModelConfig& config, const RecordOptions& options)
      : tape_(tape), config_(config), options_(options) {}

  ModelValues record() {
    const int64_t B = options_.batch, T = options_.sequence;
    if (!config_.gaussian_input) values_.tokens = tape_.input("tokens", {B, T}, DType::I32);
    values_.targets = tape_.input("targets", {B, T}, DType::I32);
    const ValueId lengths = options_.key_lengths ? tape_.input("key_lengths", {B}, DType::I32) : kNone;
    switch (config_.architecture) {
      case Architecture::Decoder:
        values_.hidden = stack({.wiring = config_.decoder, .causal = true}, values_.tokens, T);
        break;
      case Architecture::Encoder:
        values_.hidden = stack({.wiring = config_.encoder, .key_lengths = lengths, .probe_lengths = lengths},
                               values_.tokens, T);
        break;
      case Architecture::EncoderDecoder:
        encode(lengths);
        decode(lengths, options_.key_lengths && options_.probes
                            ? tape_.input("target_lengths", {B}, DType::I32)
                            : kNone);
        break;
      case Architecture::Parser:  // model/parser.h
        break;
    }
    if (config_.classes > 0 && config_.pooling == Pooling::Mean)
      values_.hidden = mean_pool(tape_, "pool", values_.hidden, lengths);
    values_.logits = output(values_.hidden);
    const ValueId weights = options_.row_weights ? tape_.input("weights", {B, T}, DType::F32) : kNone;
    values_.loss = softmax_xent(tape_, "loss", values_.logits, values_.targets, weights);
    return values_;
  }

  ModelValues record_part(bool encoder) {
    const int64_t B = options_.batch;
    const ValueId lengths = options_.key_lengths ? tape_.input("key_lengths", {B}, DType::I32) : kNone;
    if (encoder) {
      encode(lengths);
    } else {
      values_.tokens = tape_.input("tokens", {B, options_.sequence}, DType::I32);
      values_.memory = tape_.input("memory", {B, options_.source_sequence, config_.d_model}, DType::F32);
      decode(lengths, kNone);
    }
    return values_;
  }

 private:
  /// One stack of layers. The decoder of an encoder-decoder reads `memory`, the encoder's output.
  struct Stack {
    std::string prefix = {};
    const StackWiring& wiring;
    bool causal = false;
    ValueId key_lengths = kNone;
    ValueId memory = kNone, memory_lengths = kNone;
    ValueId probe_lengths = kNone;  ///< positions of a row that probes count
  };

  /// The two stacks of an encoder-decoder.
  void encode(ValueId lengths) {
    values_.source = tape_.input("source", {options_.batch, options_.source_sequence}, DType::I32);
    values_.memory =
        stack({.prefix = "enc.", .wiring = config_.encoder, .key_lengths = lengths, .probe_lengths = lengths},
              values_.source, options_.source_sequence);
  }
  void decode(ValueId lengths, ValueId target_lengths) {
    values_.hidden = stack({.prefix = "dec.",
                            .wiring = config_.decoder,
                            .causal = true,
                            .memory = values_.memory,
                            .memory_lengths = lengths,
                            .probe_lengths = target_lengths},
                           values_.tokens, options_.sequence);
  }

  ValueId stack(const Stack& s, ValueId tokens, int64_t T) {
    ValueId x = embedding_block(s, tokens, T);
    values_.embedding = x;
    probe_lengths_ = s.probe_lengths;
    gains_ = init_gains(config_.init, context_of(config_, is_decoder(s)));
    second_ = s.wiring.second == NormKind::None ? kNone : x;
    for (size_t l = 0; l < s.wiring.layers.size(); ++l) x = layer(s, static_cast<int32_t>(l) + 1, x);
    return end_of_stack(s, x);
  }

  bool is_decoder(const Stack& s) const {
    return config_.architecture == Architecture::EncoderDecoder
               ? s.memory != kNone
               : config_.architecture == Architecture::Decoder;
  }

  /// The norm after the last layer, or what a placement has in its stead.
  ValueId end_of_stack(const Stack& s, ValueId x) {
    x = norm(s.prefix + "final", s.wiring.final, x);
    if (s.wiring.layers.back().feed_forward.inner.shifts)  // FixUp: a scalar scale and shift
      x = affine(tape_, s.prefix + "end", x, 1.0f,
                 parameter(s.prefix + "end.scale", {1}, {Init::Kind::Constant, 1.0}),
                 parameter(s.prefix + "end.shift", {1}, {Init::Kind::Zeros, 0.0}));
    if (second_ == kNone) return x;
    return add(tape_, s.prefix + "join", x, norm(s.prefix + "second", s.wiring.second, second_));
  }

  /// Whose token table a stack reads: both share one unless the config says otherwise.
  std::string embedding_name(const std::string& prefix) const {
    return (config_.shared_embedding ? "" : prefix) + "emb";
  }

  /// x_0 = sqrt(D) E[token] + P[t], its norm and its dropout.
  ValueId embedding_block(const Stack& s, ValueId tokens, int64_t T) {
    const int64_t B = options_.batch, D = config_.d_model;
    if (config_.gaussian_input) return tape_.input("x", {B, T, D}, DType::F32);
    const double root = std::sqrt(static_cast<double>(D));
    const std::string name = embedding_name(s.prefix);
    const double size = init_gains(config_.init, context_of(config_, is_decoder(s))).embedding;
    const ValueId table =
        parameter(name + ".tokens", {config_.vocabulary, D}, {Init::Kind::Normal, size / root});
    ValueId positions = kNone;
    if (config_.positions == Positions::Learned)
      positions = parameter(name + ".positions", {config_.sequence, D}, {Init::Kind::Normal, size});
    if (config_.positions == Positions::Sinusoidal)
      positions = parameter(name + ".positions", {config_.sequence, D}, {Init::Kind::Sinusoid, 0.0}, false);
    ValueId x = embedding(tape_, s.prefix + "emb", tokens, table, positions, static_cast<float>(root));
    x = norm(s.prefix + "emb.norm", s.wiring.embedding, x);
    return drop(s.prefix + "emb.drop", DropoutKind::Residual, config_.dropout_residual, x);
  }

  ValueId layer(const Stack& s, int32_t l, ValueId x) {
    const std::string name = fmt::format("{}L{:02}", s.prefix, l);
    if (left_out(name)) return x;
    layer_ = l;
    tape_.set_layer(l);
    layer_input_ = x;
    const LayerWiring& w = s.wiring.layers[static_cast<size_t>(l - 1)];
    x = sublayer(name + ".attn", w.attention, x, [&](const std::string& n, ValueId h) {
      return attention_block(n, w.attention, h, h, s.key_lengths, s.causal);
    });
    if (s.memory != kNone)
      x = sublayer(name + ".cross", w.cross, x, [&](const std::string& n, ValueId h) {
        return attention_block(n, w.cross, h, s.memory, s.memory_lengths, false);
      });
    x = sublayer(name + ".ffn", w.feed_forward, x,
                 [&](const std::string& n, ValueId h) { return feed_forward_block(n, w.feed_forward, h); });
    layer_ = 0;
    tape_.set_layer(0);
    return x;
  }

  /// h = N_enter(x),  y = N_stream( skip h + branch N_after( f( depth N_before(h) ) ) + [bottom] x_0 )
  template <typename F>
  ValueId sublayer(const std::string& name, const Wiring& wiring, ValueId x, F f) {
    if (left_out(name)) return x;
    SublayerValues s{.name = name, .layer = layer_, .input = x};
    s.entered = norm(name + ".enter", wiring.enter, x);
    ValueId h = norm(name + ".before", wiring.before, s.entered);
    if (wiring.pre_scale != 1.0f) h = affine(tape_, name + ".depth", h, wiring.pre_scale, kNone, kNone);
    h = f(name, h);
    s.probabilities = tape_.find(name + ".heads.probabilities");  // kNone for feed-forward
    h = drop(name + ".drop", DropoutKind::Residual, config_.dropout_residual, h);
    s.branch = norm(name + ".after", wiring.after, h);
    const ResidualScale branch = scale(name + ".branch", wiring.branch);
    s.sum = s.joined =
        add(tape_, name + ".sum", s.entered, s.branch, scale(name + ".skip", wiring.skip), branch);
    if (wiring.bottom) {
      s.bottom = layer_input_;
      s.sum = add(tape_, name + ".bottom", s.joined, s.bottom);
    }
    if (second_ != kNone) second_ = add(tape_, name + ".second", second_, s.branch, {}, branch);
    s.output = norm(name + ".trunk", wiring.stream, s.sum);
    if (options_.probes) {
      constexpr ProbeSpec kMeanSquare{ProbeKind::MeanSquare};
      tape_.probe({name + ".out.mean_square", kMeanSquare, s.output, false, layer_, probe_lengths_});
      tape_.probe({name + ".sum.mean_square", kMeanSquare, s.sum, false, layer_, probe_lengths_});
    }
    values_.sublayers.push_back(s);
    return s.output;
  }

  /// Queries from x, keys and values from `source` (x itself in self-attention).
  ValueId attention_block(const std::string& n, const Wiring& wiring, ValueId x, ValueId source,
                          ValueId key_lengths, bool causal) {
    const int64_t D = config_.d_model;
    const Inner& inner = wiring.inner;
    const ValueId in = shift(n + ".shift_in", inner, x), from = source == x ? in : source;
    const ValueId q =
        norm(n + ".q_norm", inner.query, project(n, "q", in, D, gains_.query, inner), config_.heads);
    const ValueId k =
        norm(n + ".k_norm", inner.key, project(n, "k", from, D, gains_.key, inner), config_.heads);
    const ValueId v = norm(n + ".v_norm", inner.value,
                           project(n, "v", from, D, gains_.value * wiring.init_gain, inner), config_.heads);
    AttentionSpec spec{.heads = config_.heads, .causal = causal};
    if (options_.training && config_.dropout_attention > 0) spec.dropout_site = site_of(n + ".heads");
    ValueId heads = attention(tape_, n + ".heads", q, k, v, key_lengths, spec);
    if (inner.head_scale)
      heads = affine(tape_, n + ".scaled", heads, 1.0f,
                     parameter(n + ".head_scale", {config_.heads}, {Init::Kind::Constant, 1.0}), kNone);
    heads = norm(n + ".output", inner.output, heads);
    if (!config_.output_projection) return heads;
    return project(n, "o", shift(n + ".shift_out", inner, heads), D, gains_.output * wiring.init_gain, inner);
  }

  ValueId feed_forward_block(const std::string& n, const Wiring& wiring, ValueId x) {
    using Mirror = Init::Mirror;
    const Inner& inner = wiring.inner;
    ValueId h =
        project(n, "1", shift(n + ".shift_in", inner, x), config_.feed_forward,
                gains_.first * wiring.init_gain, inner, gains_.mirrored ? Mirror::Columns : Mirror::None);
    h = shift(n + ".shift_hidden", inner, h);
    h = activated(n + ".hidden", h);
    h = drop(n + ".hidden.drop", DropoutKind::Activation, config_.dropout_activation, h);
    h = norm(n + ".output", inner.output, h);
    return project(n, "2", shift(n + ".shift_out", inner, h), config_.d_model,
                   gains_.second * wiring.init_gain, inner, gains_.mirrored ? Mirror::Rows : Mirror::None);
  }

  ValueId activated(const std::string& name, ValueId x) { return record_activation(tape_, config_, name, x); }

  /// FixUp's scalar shift, from 0.
  ValueId shift(const std::string& name, const Inner& inner, ValueId x) {
    if (!inner.shifts) return x;
    return affine(tape_, name, x, 1.0f, kNone, parameter(name + ".b", {1}, {Init::Kind::Zeros, 0.0}));
  }

  /// x W + b with W named n.w<suffix>, started by the config's rule times gain. Shifts stand for the bias.
  ValueId project(const std::string& n, const std::string& suffix, ValueId x, int64_t out, double gain,
                  const Inner& inner, Init::Mirror mirror = Init::Mirror::None) {
    const int64_t in = tape_.shape(x).cols();
    Init init = matrix_init(in, out, gain);
    init.mirror = mirror;
    const ValueId w = parameter(n + ".w" + suffix, {in, out}, init);
    const ValueId b = inner.shifts ? kNone : parameter(n + ".b" + suffix, {out}, {Init::Kind::Zeros, 0.0});
    return linear(tape_, n + "." + suffix, x, w, b);
  }

  Init matrix_init(int64_t in, int64_t out, double gain) const {
    if (gain == 0) return {Init::Kind::Zeros, 0.0};
    const double xavier = std::sqrt(2.0 / static_cast<double>(in + out));
    return {Init::Kind::Normal, gain * (gains_.deviation > 0 ? gains_.deviation : xavier)};
  }

  ValueId output(ValueId hidden) {
    if (config_.classes > 0) {
      const double deviation = 1.0 / std::sqrt(static_cast<double>(config_.d_model));
      const ValueId w =
          parameter("class.w", {config_.d_model, config_.classes}, {Init::Kind::Normal, deviation});
      return linear(tape_, "logits", hidden, w,
                    parameter("class.b", {config_.classes}, {Init::Kind::Zeros, 0.0}));
    }
    if (config_.tied_output)
      return linear(tape_, "logits", hidden, tape_.parameter(output_table(config_)), kNone, true);
    const int64_t D = config_.d_model, V = config_.vocabulary;
    const ValueId w =
        parameter("out.w", {D, V}, {Init::Kind::Normal, 1.0 / std::sqrt(static_cast<double>(D))});
    return linear(tape_, "logits", hidden, w, kNone);
  }

  /// With heads > 1 each head's part of a row is normalised by itself.
  ValueId norm(const std::string& name, NormKind kind, ValueId x, int32_t heads = 1) {
    return record_norm(tape_, config_, name, kind, x, layer_, heads);
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
    return record_parameter(tape_, name, shape, init, layer_, trainable);
  }

  Tape& tape_;
  const ModelConfig& config_;
  const RecordOptions& options_;
  ModelValues values_;
  int32_t layer_ = 0;
  ValueId probe_lengths_ = kNone;
  InitGains gains_;              ///< of the stack that is recorded
  ValueId layer_input_ = kNone;  ///< of the layer that is recorded
  ValueId second_ = kNone;       ///< ResiDual's second stream so far
};

void check_length(const ModelConfig& config, const RecordOptions& options) {
  validate(config);
  const int32_t longest = std::max(options.sequence, options.source_sequence);
  if (longest > config.sequence)
    fail("model", "{} positions are asked of a model that has {}: expected at most as many", longest,
         config.sequence);
}

ModelValues record_part(Tape& tape, const ModelConfig& config, RecordOptions options, bool encoder) {
  check_length(config, options);
  if (config.architecture != Architecture::EncoderDecoder)
    fail("model", "a part is asked of a single stack: expected an encoder-decoder");
  options.training = options.probes = false;
  return Recorder(tape, config, options).record_part(encoder);
}

}  // namespace

std::string output_table(const ModelConfig& config) {
  if (!config.tied_output) return "out.w";
  return config.architecture == Architecture::EncoderDecoder && !config.shared_embedding ? "dec.emb.tokens"
                                                                                         : "emb.tokens";
}

ModelValues record_transformer(Tape& tape, const ModelConfig& config, const RecordOptions& options) {
  check_length(config, options);
  if (config.architecture == Architecture::Parser) return record_parser(tape, config, options);
  return Recorder(tape, config, options).record();
}

ModelValues record_encoder(Tape& tape, const ModelConfig& config, const RecordOptions& options) {
  return record_part(tape, config, options, true);
}

ModelValues record_decoder(Tape& tape, const ModelConfig& config, const RecordOptions& options) {
  return record_part(tape, config, options, false);
}

}  // namespace normscope
