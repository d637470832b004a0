#include "engine/model/transformer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/core/error.h"
#include "engine/model/stream_parts.h"
#include "engine/ops/add/add.h"
#include "engine/ops/affine/affine.h"
#include "engine/ops/embedding/embedding.h"
#include "engine/ops/layer_norm/layer_norm.h"
#include "engine/ops/linear/linear.h"
#include "engine/ops/mean_pool/mean_pool.h"
#include "engine/ops/multiply/multiply.h"
#include "engine/ops/probe/probe.h"
#include "engine/ops/softmax_xent/softmax_xent.h"

namespace normscope {
namespace {

/// Records one model. Each function is one box of the architecture diagram.
class Recorder : StreamParts {
 public:
  using StreamParts::StreamParts;

  ModelValues record() {
    const int64_t B = options_.batch, T = options_.sequence;
    if (!config_.gaussian_input) values_.tokens = tape_.input("tokens", {B, T}, DType::I32);
    values_.targets = tape_.input("targets", {B, T}, DType::I32);
    const ValueId lengths = options_.key_lengths ? tape_.input("key_lengths", {B}, DType::I32) : kNone;
    if (options_.memory > 0) memory_lengths_ = tape_.input("memory_lengths", {B}, DType::I32);
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
      default:  // refused before
        break;
    }
    return finish(lengths);
  }

  /// Records what comes after the last layer, from a state that is an input.
  ModelValues record_end() {
    const Shape states{options_.batch, options_.sequence, config_.d_model};
    values_.targets = tape_.input("targets", {states[0], states[1]}, DType::I32);
    if (config_.stack().second != NormKind::None) second_ = tape_.input("state.second", states, DType::F32);
    values_.hidden = end_of_stack({.wiring = config_.stack()}, tape_.input("state", states, DType::F32));
    return finish(options_.key_lengths ? tape_.input("key_lengths", {states[0]}, DType::I32) : kNone);
  }

  ValueId logits(ValueId hidden) {
    return config_.classes > 0 ? values_of_classes(hidden) : values_of_symbols(hidden);
  }

  ModelValues record_part(bool encoder) {
    const int64_t B = options_.batch;
    const ValueId lengths = options_.key_lengths ? tape_.input("key_lengths", {B}, DType::I32) : kNone;
    if (encoder) {
      encode(lengths);
    } else {
      values_.tokens = tape_.input("tokens", {B, options_.sequence}, DType::I32);
      values_.encoded = tape_.input("encoded", {B, options_.source_sequence, config_.d_model}, DType::F32);
      decode(lengths, kNone);
    }
    return values_;
  }

 private:
  /// Records logits and loss.
  ModelValues finish(ValueId lengths) {
    if (config_.classes > 0 && config_.pooling == Pooling::Mean)
      values_.hidden = mean_pool(tape_, "pool", values_.hidden, lengths);
    values_.logits = logits(values_.hidden);
    const ValueId weights = options_.row_weights
                                ? tape_.input("weights", {options_.batch, options_.sequence}, DType::F32)
                                : kNone;
    values_.loss = softmax_xent(tape_, "loss", values_.logits, values_.targets, weights);
    return values_;
  }

  /// One stack of layers. The decoder of an encoder-decoder reads `encoded`, the encoder's output.
  struct Stack {
    std::string prefix = {};
    const StackWiring& wiring;
    bool causal = false;
    ValueId key_lengths = kNone;
    ValueId encoded = kNone, encoded_lengths = kNone;
    ValueId probe_lengths = kNone;  ///< positions of a row that probes count
  };

  /// `encode` and `decode` record the two stacks of an encoder-decoder.
  void encode(ValueId lengths) {
    values_.source = tape_.input("source", {options_.batch, options_.source_sequence}, DType::I32);
    values_.encoded =
        stack({.prefix = "enc.", .wiring = config_.encoder, .key_lengths = lengths, .probe_lengths = lengths},
              values_.source, options_.source_sequence);
  }
  void decode(ValueId lengths, ValueId target_lengths) {
    values_.hidden = stack({.prefix = "dec.",
                            .wiring = config_.decoder,
                            .causal = true,
                            .encoded = values_.encoded,
                            .encoded_lengths = lengths,
                            .probe_lengths = target_lengths},
                           values_.tokens, options_.sequence);
  }

  ValueId stack(const Stack& s, ValueId tokens, int64_t T) {
    ValueId x = embedding_block(s, tokens, T);
    values_.embedding = x;
    probe_lengths_ = s.probe_lengths;
    gains_ = init_gains(config_.init, context_of(config_, is_decoder(s)));
    growth_ = growth_of(config_, is_decoder(s));
    second_ = s.wiring.second == NormKind::None ? kNone : x;
    second_read_ = s.wiring.second_read;
    begin_streams(s.prefix, s.wiring.streams, x);
    for (size_t l = 0; l < s.wiring.layers.size(); ++l) x = layer(s, static_cast<int32_t>(l) + 1, x);
    return end_of_stack(s, x);
  }

  bool is_decoder(const Stack& s) const {
    return config_.architecture == Architecture::EncoderDecoder
               ? s.encoded != kNone
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
    x = add(tape_, s.prefix + "join", x, norm(s.prefix + "second", s.wiring.second, second_));
    return norm(s.prefix + "joined", s.wiring.joined, x);
  }

  /// Whose token table a stack reads: both share one unless the config says otherwise.
  std::string embedding_name(const std::string& prefix) const {
    return (config_.shared_embedding ? "" : prefix) + "emb";
  }

  /// Adds the vector of each symbol's type. Where nobody fills them in, all types are the first.
  ValueId with_types(ValueId x) {
    const int64_t D = config_.d_model;
    const ValueId types = tape_.input("types", {options_.batch, options_.sequence}, DType::I32),
                  table = parameter("emb.types", {config_.token_types, D},
                                    {Init::Kind::Normal, 1 / std::sqrt(static_cast<double>(D))});
    return add(tape_, "emb.typed", x, embedding(tape_, "emb.kinds", types, table, kNone, 1.0f));
  }

  /// X_0 = s E[token] + P[t] with s = model.embedding_scale or sqrt(D), its norm and its dropout.
  ValueId embedding_block(const Stack& s, ValueId tokens, int64_t T) {
    const int64_t B = options_.batch, D = config_.d_model;
    if (config_.gaussian_input) return tape_.input("x", {B, T, D}, DType::F32);
    const double root = std::sqrt(static_cast<double>(D));
    const std::string name = embedding_name(s.prefix);
    const double size = init_gains(config_.init, context_of(config_, is_decoder(s))).embedding;
    const int64_t E = config_.embedding_width > 0 ? config_.embedding_width : D;
    // What is stored 1 / c as large, and multiplied by c, takes steps 1 / c as large, from gradients c times as large.
    const double c = table_growth();
    Init init{Init::Kind::Normal, size / root * std::sqrt(growth_.width) / c};
    if (ends_on_sphere(s.wiring)) init.unit = Init::Unit::Rows;
    ValueId table = parameter(name + ".tokens", {config_.vocabulary, E}, init);
    scale_steps(name + ".tokens", 1 / c, 1, c);
    // The rows of the whole table are made as wide as the model, and then looked up: the same states, and one op less.
    if (config_.embedding_width > 0)
      table = linear(tape_, "emb.rows", table, parameter("emb.in", {E, D}, matrix_init(E, D, 1)), kNone);
    ValueId positions = kNone;
    if (config_.positions == Positions::Learned)
      positions = parameter(name + ".positions", {config_.sequence, D}, {Init::Kind::Normal, size});
    if (config_.positions == Positions::Sinusoidal)
      positions = parameter(name + ".positions", {config_.sequence, D}, {Init::Kind::Sinusoid, 0.0}, false);
    declare_places();
    const float scale = config_.embedding_scale > 0 ? config_.embedding_scale : static_cast<float>(root);
    ValueId x = embedding(tape_, s.prefix + "emb", tokens, table, positions, scale);
    if (config_.token_types > 0) x = with_types(x);
    x = norm(s.prefix + "emb.norm", s.wiring.embedding, x);
    return drop(s.prefix + "emb.drop", DropoutKind::Residual, config_.dropout_residual, x);
  }

  ValueId layer(const Stack& s, int32_t l, ValueId x) {
    const std::string name = fmt::format("{}L{:02}", s.prefix, l);
    if (left_out(name)) return x;
    begin(l);
    layer_input_ = x;
    last_layer_ = static_cast<size_t>(l) == s.wiring.layers.size();
    const LayerWiring& w = s.wiring.layers[static_cast<size_t>(l - 1)];
    const ValueId past = memory_of(name, w.attention, x);
    x = sublayer(name + ".attn", w.attention, x, [&](const std::string& n, ValueId h) {
      return attention_block(n, w.attention, h, h, s.key_lengths, s.causal, past);
    });
    if (s.encoded != kNone)
      x = sublayer(name + ".cross", w.cross, x, [&](const std::string& n, ValueId h) {
        return attention_block(n, w.cross, h, s.encoded, s.encoded_lengths, false);
      });
    x = sublayer(name + ".ffn", w.feed_forward, x,
                 [&](const std::string& n, ValueId h) { return feed_forward_block(n, w.feed_forward, h); });
    begin(0);
    return x;
  }

  /// Takes the memory of earlier segments through the norms that make attention's own input of the stream.
  ValueId memory_of(const std::string& layer, const Wiring& wiring, ValueId x) {
    const std::string name = layer + ".attn";
    if (options_.memory == 0 || left_out(name)) return kNone;
    const ValueId past =
        tape_.input(layer + ".memory", {options_.batch, options_.memory, config_.d_model}, DType::F32);
    values_.memories.push_back({layer + ".memory", past, x});
    twin_ = kOfMemory;
    const ValueId h = before(name, wiring, norm(name + ".enter", wiring.enter, past));
    twin_.clear();
    return h;
  }

  /// What a branch begins with.
  ValueId before(const std::string& name, const Wiring& wiring, ValueId entered) {
    const ValueId h = norm(name + ".before", wiring.before, entered);
    if (wiring.pre_scale == 1.0f) return h;
    return affine(tape_, name + ".depth" + twin_, h, wiring.pre_scale, kNone, kNone);
  }

  /// `sublayer`: h = N_enter(x),  y = N_stream( skip h + branch N_after( f( depth N_before(h) ) ) + [bottom] x_0 )
  template <typename F>
  ValueId sublayer(const std::string& name, const Wiring& wiring, ValueId x, F f) {
    if (left_out(name)) return x;
    SublayerValues s{.name = name, .layer = layer_, .input = x};
    s.entered = norm(name + ".enter", wiring.enter, x);
    ValueId h = f(name, before(name, wiring, with_second(name, wiring.parallel ? layer_input_ : s.entered)));
    s.probabilities = tape_.find(name + ".heads.probabilities");  // kNone for feed-forward
    h = drop(name + ".drop", DropoutKind::Residual, config_.dropout_residual, h);
    s.branch = norm(name + ".after", wiring.after, h);
    if (growth_.branch != 1)
      s.branch =
          affine(tape_, name + ".by_depth", s.branch, static_cast<float>(growth_.branch), kNone, kNone);
    if (wired_.one())
      join(s, wiring);
    else
      pass(s, last_layer_ && name.ends_with(".ffn"));
    if (options_.probes) {
      constexpr ProbeSpec kMeanSquare{ProbeKind::MeanSquare};
      tape_.probe({name + ".out.mean_square", kMeanSquare, s.output, false, layer_, probe_lengths_});
      tape_.probe({name + ".sum.mean_square", kMeanSquare, s.sum, false, layer_, probe_lengths_});
      probe_streams(s, probe_lengths_);
    }
    values_.sublayers.push_back(s);
    return s.output;
  }

  /// Records the sum of a single stream, and its norm.
  void join(SublayerValues& s, const Wiring& wiring) {
    const ResidualScale branch = scale(s.name + ".branch", wiring.branch);
    const bool normed = wiring.stream != NormKind::None;
    s.gpas = wiring.gpas ? gpas_factor(s.name) : kNone;
    const ValueId carried = wiring.gpas && normed ? shrunk(s, s.entered) : s.entered;
    s.sum = s.joined =
        add(tape_, s.name + ".sum", carried, s.branch, skip_scale(s.name, wiring, branch), branch);
    if (wiring.bottom) {
      s.bottom = layer_input_;
      s.sum = add(tape_, s.name + ".bottom", s.joined, s.bottom);
    }
    const bool unscaled = second_read_ != NormKind::None;
    if (second_ != kNone)
      s.second = second_ =
          add(tape_, s.name + ".second", second_, s.branch, {}, unscaled ? ResidualScale{} : branch);
    s.output = wiring.gpas && !normed ? shrunk(s, s.sum) : norm(s.name + ".trunk", wiring.stream, s.sum);
  }

  ValueId feed_forward_block(const std::string& n, const Wiring& wiring, ValueId x) {
    using Mirror = Init::Mirror;
    const Inner& inner = wiring.inner;
    x = shift(n + ".shift_in", inner, x);
    const auto first = [&](const char* suffix) {
      return project(n, suffix, x, config_.feed_forward, gains_.first * wiring.init_gain, inner,
                     gains_.mirrored ? Mirror::Columns : Mirror::None);
    };
    const auto hidden = [&](const char* suffix, const std::string& name) {
      return rescaled(n + name, inner, norm(n + name + "_norm", inner.hidden, first(suffix)));
    };
    const auto active = [&](const char* name, ValueId h) {
      return activated(n + name, shift(n + ".shift_hidden", inner, h));
    };
    ValueId h = kNone;
    if (config_.gated) {
      const ValueId gate = active(".gate", hidden("g", ".gate"));
      h = multiply(tape_, n + ".hidden", gate, hidden("1", ".hidden"));
    } else {
      h = active(".hidden", hidden("1", ".hidden"));
    }
    h = drop(n + ".hidden.drop", DropoutKind::Activation, config_.dropout_activation, h);
    h = norm(n + ".output", inner.output, h);
    return project(n, "2", shift(n + ".shift_out", inner, h), config_.d_model,
                   gains_.second * wiring.init_gain, inner, gains_.mirrored ? Mirror::Rows : Mirror::None);
  }

  ValueId values_of_classes(ValueId hidden) {
    const ValueId w = parameter("class.w", {config_.d_model, config_.classes}, output_init());
    return outputs("logits", read_out(hidden, 1), w,
                   parameter("class.b", {config_.classes}, {Init::Kind::Zeros, 0.0}));
  }

  /// What BERT's head does to a state before it is compared with the symbols.
  ValueId transformed(ValueId hidden) {
    const int64_t D = config_.d_model;
    const ValueId w = parameter("head.w", {D, D}, matrix_init(D, D, 1));
    scale_steps("head.w", 1 / growth_.width, growth_.width);
    const ValueId b = parameter("head.b", {D}, {Init::Kind::Zeros, 0.0});
    return norm("head.norm", config_.norm, activated("head.hidden", linear(tape_, "head", hidden, w, b)));
  }

  ValueId values_of_symbols(ValueId hidden) {
    const int64_t D = config_.d_model, V = config_.vocabulary,
                  E = config_.embedding_width > 0 ? config_.embedding_width : D;
    const std::string name = config_.logit_cap > 0 ? "logits.uncapped" : "logits";
    if (config_.masked_head) hidden = transformed(hidden);
    if (config_.embedding_width > 0)
      hidden = linear(tape_, "narrow", hidden, parameter("emb.out", {D, E}, matrix_init(D, E, 1)), kNone);
    const ValueId bias = config_.masked_head ? parameter("out.b", {V}, {Init::Kind::Zeros, 0.0}) : kNone;
    const ValueId w = config_.tied_output ? tape_.parameter(output_table(config_))
                                          : parameter("out.w", {E, V}, output_init());
    hidden = read_out(hidden, config_.tied_output ? table_growth() : 1);
    const ValueId logits = outputs(name, hidden, w, bias, config_.tied_output);
    return config_.logit_cap > 0 ? soft_cap(tape_, "logits", logits, config_.logit_cap) : logits;
  }

  ModelValues values_;
  ValueId probe_lengths_ = kNone;
  bool last_layer_ = false;
};

void check_length(const ModelConfig& config, const RecordOptions& options) {
  validate(config);
  if (!is_transformer(config.architecture))
    fail("model", "it is no transformer: expected a decoder, an encoder or both");
  const int32_t longest = std::max(options.sequence, options.source_sequence);
  if (longest > config.sequence)
    fail("model", "{} positions are asked of a model that has {}: expected at most as many", longest,
         config.sequence);
  if (options.memory > config.memory)
    fail("model", "a memory of {} is asked of a model that has {}: expected at most as many", options.memory,
         config.memory);
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
  return Recorder(tape, config, options).record();
}

ModelValues record_end(Tape& tape, const ModelConfig& config, const RecordOptions& options) {
  check_length(config, options);
  return Recorder(tape, config, options).record_end();
}

ValueId record_logits(Tape& tape, const ModelConfig& config, ValueId hidden) {
  const RecordOptions options;
  return Recorder(tape, config, options).logits(hidden);
}

ModelValues record_encoder(Tape& tape, const ModelConfig& config, const RecordOptions& options) {
  return record_part(tape, config, options, true);
}

ModelValues record_decoder(Tape& tape, const ModelConfig& config, const RecordOptions& options) {
  return record_part(tape, config, options, false);
}

}  // namespace normscope
