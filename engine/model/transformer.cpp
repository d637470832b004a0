#include "engine/model/transformer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "engine/core/error.h"
#include "engine/core/philox.h"
#include "engine/model/recorder.h"
#include "engine/model/residual.h"
#include "engine/ops/add/add.h"
#include "engine/ops/affine/affine.h"
#include "engine/ops/attention/attention.h"
#include "engine/ops/attention/relative_attention.h"
#include "engine/ops/concat/concat.h"
#include "engine/ops/embedding/embedding.h"
#include "engine/ops/layer_norm/layer_norm.h"
#include "engine/ops/linear/linear.h"
#include "engine/ops/mean_pool/mean_pool.h"
#include "engine/ops/multiply/multiply.h"
#include "engine/ops/probe/probe.h"
#include "engine/ops/qk_clip/qk_clip.h"
#include "engine/ops/repeat_heads/repeat_heads.h"
#include "engine/ops/rotary/rotary.h"
#include "engine/ops/softmax_xent/softmax_xent.h"

namespace normscope {
namespace {

/// Records one model. Each function is one box of the architecture diagram.
class Transformer : Recorder {
 public:
  using Recorder::Recorder;

  ModelValues record() {
    const int64_t B = options.batch, T = options.sequence;
    if (!config.gaussian_input) values_.tokens = tape.input("tokens", {B, T}, DType::I32);
    values_.targets = tape.input("targets", {B, T}, DType::I32);
    const ValueId lengths = options.key_lengths ? tape.input("key_lengths", {B}, DType::I32) : kNone;
    if (options.memory > 0) memory_lengths_ = tape.input("memory_lengths", {B}, DType::I32);
    switch (config.architecture) {
      case Architecture::Decoder:
        values_.hidden = stack({.wiring = config.decoder, .causal = true}, values_.tokens, T);
        break;
      case Architecture::Encoder:
        values_.hidden = stack({.wiring = config.encoder, .key_lengths = lengths, .probe_lengths = lengths},
                               values_.tokens, T);
        break;
      case Architecture::EncoderDecoder:
        encode(lengths);
        decode(lengths,
               options.key_lengths && options.probes ? tape.input("target_lengths", {B}, DType::I32) : kNone);
        break;
      default:  // refused before
        break;
    }
    return finish(lengths);
  }

  /// Records what comes after the last layer, from a state that is an input.
  ModelValues record_end() {
    const Shape states{options.batch, options.sequence, config.d_model};
    values_.targets = tape.input("targets", {states[0], states[1]}, DType::I32);
    forms_ = residual_forms(*this, config.stack());
    for (const auto& form : forms_) form->begin_at_end(states);
    values_.hidden = end_of_stack({.wiring = config.stack()}, tape.input("state", states, DType::F32));
    return finish(options.key_lengths ? tape.input("key_lengths", {states[0]}, DType::I32) : kNone);
  }

  ValueId logits(ValueId hidden) {
    return config.classes > 0 ? values_of_classes(hidden) : values_of_symbols(hidden);
  }

  ModelValues record_part(bool encoder) {
    const int64_t B = options.batch;
    const ValueId lengths = options.key_lengths ? tape.input("key_lengths", {B}, DType::I32) : kNone;
    if (encoder) {
      encode(lengths);
    } else {
      values_.tokens = tape.input("tokens", {B, options.sequence}, DType::I32);
      values_.encoded = tape.input("encoded", {B, options.source_sequence, config.d_model}, DType::F32);
      decode(lengths, kNone);
    }
    return values_;
  }

 private:
  /// Records logits and loss.
  ModelValues finish(ValueId lengths) {
    if (config.classes > 0 && config.pooling == Pooling::Mean)
      values_.hidden = mean_pool(tape, "pool", values_.hidden, lengths);
    values_.logits = logits(values_.hidden);
    const ValueId weights =
        options.row_weights ? tape.input("weights", {options.batch, options.sequence}, DType::F32) : kNone;
    values_.loss = softmax_xent(tape, "loss", values_.logits, values_.targets, weights);
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
    values_.source = tape.input("source", {options.batch, options.source_sequence}, DType::I32);
    values_.encoded =
        stack({.prefix = "enc.", .wiring = config.encoder, .key_lengths = lengths, .probe_lengths = lengths},
              values_.source, options.source_sequence);
  }
  void decode(ValueId lengths, ValueId target_lengths) {
    values_.hidden = stack({.prefix = "dec.",
                            .wiring = config.decoder,
                            .causal = true,
                            .encoded = values_.encoded,
                            .encoded_lengths = lengths,
                            .probe_lengths = target_lengths},
                           values_.tokens, options.sequence);
  }

  ValueId stack(const Stack& s, ValueId tokens, int64_t T) {
    ValueId x = embedding_block(s, tokens, T);
    values_.embedding = x;
    probe_lengths_ = s.probe_lengths;
    gains = init_gains(config.init, context_of(config, is_decoder(s)));
    growth = growth_of(config, is_decoder(s));
    forms_ = residual_forms(*this, s.wiring);
    for (const auto& form : forms_) form->begin(s.prefix, x);
    for (size_t l = 0; l < s.wiring.layers.size(); ++l) x = layer_block(s, static_cast<int32_t>(l) + 1, x);
    return end_of_stack(s, x);
  }

  bool is_decoder(const Stack& s) const {
    return config.architecture == Architecture::EncoderDecoder ? s.encoded != kNone
                                                               : config.architecture == Architecture::Decoder;
  }

  /// The norm after the last layer, or what a placement has in its stead.
  ValueId end_of_stack(const Stack& s, ValueId x) {
    x = norm(s.prefix + "final", s.wiring.final, x);
    if (s.wiring.layers.back().feed_forward.inner.shifts)  // FixUp: a scalar scale and shift
      x = affine(tape, s.prefix + "end", x, 1.0f,
                 parameter(s.prefix + "end.scale", {1}, {Init::Kind::Constant, 1.0}),
                 parameter(s.prefix + "end.shift", {1}, {Init::Kind::Zeros, 0.0}));
    for (const auto& form : forms_) x = form->end(s.prefix, x);
    return x;
  }

  /// Whose token table a stack reads: both share one unless the config says otherwise.
  std::string embedding_name(const std::string& prefix) const {
    return (config.shared_embedding ? "" : prefix) + "emb";
  }

  /// Adds the vector of each symbol's type. Where nobody fills them in, all types are the first.
  ValueId with_types(ValueId x) {
    const int64_t D = config.d_model;
    const ValueId types = tape.input("types", {options.batch, options.sequence}, DType::I32),
                  table = parameter("emb.types", {config.token_types, D},
                                    {Init::Kind::Normal, 1 / std::sqrt(static_cast<double>(D))});
    return add(tape, "emb.typed", x, embedding(tape, "emb.kinds", types, table, kNone, 1.0f));
  }

  /// X_0 = s E[token] + P[t] with s = model.embedding_scale or sqrt(D), its norm and its dropout.
  ValueId embedding_block(const Stack& s, ValueId tokens, int64_t T) {
    const int64_t B = options.batch, D = config.d_model;
    if (config.gaussian_input) return tape.input("x", {B, T, D}, DType::F32);
    const double root = std::sqrt(static_cast<double>(D));
    const std::string name = embedding_name(s.prefix);
    const double size = init_gains(config.init, context_of(config, is_decoder(s))).embedding;
    const int64_t E = config.embedding_width > 0 ? config.embedding_width : D;
    // What is stored 1 / c as large, and multiplied by c, takes steps 1 / c as large, from gradients c times as large.
    const double c = table_growth();
    Init init{Init::Kind::Normal, size / root * std::sqrt(growth.width) / c};
    if (ends_on_sphere(s.wiring)) init.unit = Init::Unit::Rows;
    ValueId table = parameter(name + ".tokens", {config.vocabulary, E}, init);
    scale_steps(name + ".tokens", 1 / c, 1, c);
    // The rows of the whole table are made as wide as the model, and then looked up: the same states, and one op less.
    if (config.embedding_width > 0)
      table = linear(tape, "emb.rows", table, parameter("emb.in", {E, D}, matrix_init(E, D, 1)), kNone);
    ValueId positions = kNone;
    if (config.positions == Positions::Learned)
      positions = parameter(name + ".positions", {config.sequence, D}, {Init::Kind::Normal, size});
    if (config.positions == Positions::Sinusoidal)
      positions = parameter(name + ".positions", {config.sequence, D}, {Init::Kind::Sinusoid, 0.0}, false);
    declare_places();
    const float scale = config.embedding_scale > 0 ? config.embedding_scale : static_cast<float>(root);
    ValueId x = embedding(tape, s.prefix + "emb", tokens, table, positions, scale);
    if (config.token_types > 0) x = with_types(x);
    x = norm(s.prefix + "emb.norm", s.wiring.embedding, x);
    return drop(s.prefix + "emb.drop", DropoutKind::Residual, config.dropout_residual, x);
  }

  ValueId layer_block(const Stack& s, int32_t l, ValueId x) {
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
    if (options.memory == 0 || left_out(name)) return kNone;
    const ValueId past =
        tape.input(layer + ".memory", {options.batch, options.memory, config.d_model}, DType::F32);
    values_.memories.push_back({layer + ".memory", past, x});
    twin = kOfMemory;
    const ValueId h = before(name, wiring, norm(name + ".enter", wiring.enter, past));
    twin.clear();
    return h;
  }

  /// What a branch begins with.
  ValueId before(const std::string& name, const Wiring& wiring, ValueId entered) {
    const ValueId h = norm(name + ".before", wiring.before, entered);
    if (wiring.pre_scale == 1.0f) return h;
    return affine(tape, name + ".depth" + twin, h, wiring.pre_scale, kNone, kNone);
  }

  /// `sublayer`: h = N_enter(x),  y = N_stream( skip h + branch N_after( f( depth N_before(h) ) ) + [bottom] x_0 )
  template <typename F>
  ValueId sublayer(const std::string& name, const Wiring& wiring, ValueId x, F f) {
    if (left_out(name)) return x;
    SublayerValues s{.name = name, .layer = layer, .input = x};
    s.entered = norm(name + ".enter", wiring.enter, x);
    ValueId h = wiring.parallel ? layer_input_ : s.entered;
    for (const auto& form : forms_) h = form->read(name, h);
    h = f(name, before(name, wiring, h));
    s.probabilities = tape.find(name + ".heads.probabilities");  // kNone for feed-forward
    h = drop(name + ".drop", DropoutKind::Residual, config.dropout_residual, h);
    s.branch = norm(name + ".after", wiring.after, h);
    if (growth.branch != 1)
      s.branch = affine(tape, name + ".by_depth", s.branch, static_cast<float>(growth.branch), kNone, kNone);
    const bool last = last_layer_ && name.ends_with(".ffn");
    if (std::none_of(forms_.begin(), forms_.end(), [&](const auto& form) { return form->sum(s, last); }))
      join(s, wiring);
    if (options.probes) {
      constexpr ProbeSpec kMeanSquare{ProbeKind::MeanSquare};
      tape.probe({name + ".out.mean_square", kMeanSquare, s.output, false, layer, probe_lengths_});
      tape.probe({name + ".sum.mean_square", kMeanSquare, s.sum, false, layer, probe_lengths_});
      for (const auto& form : forms_) form->probe(s, probe_lengths_);
    }
    values_.sublayers.push_back(s);
    return s.output;
  }

  /// Records the sum of a single stream, and its norm.
  void join(SublayerValues& s, const Wiring& wiring) {
    const ResidualScale branch = scale(s.name + ".branch", wiring.branch);
    ValueId carried = s.entered;
    for (const auto& form : forms_) carried = form->carry(s, wiring, carried);
    s.sum = s.joined =
        add(tape, s.name + ".sum", carried, s.branch, skip_scale(s.name, wiring, branch), branch);
    if (wiring.bottom) {
      s.bottom = layer_input_;
      s.sum = add(tape, s.name + ".bottom", s.joined, s.bottom);
    }
    for (const auto& form : forms_) form->write(s, branch);
    s.output = norm(s.name + ".trunk", wiring.stream, s.sum);
    for (const auto& form : forms_) s.output = form->pass(s, wiring, s.output);
  }

  ValueId feed_forward_block(const std::string& n, const Wiring& wiring, ValueId x) {
    using Mirror = Init::Mirror;
    const Inner& inner = wiring.inner;
    x = shift(n + ".shift_in", inner, x);
    const auto first = [&](const char* suffix) {
      return project(n, suffix, x, config.feed_forward, gains.first * wiring.init_gain, inner,
                     gains.mirrored ? Mirror::Columns : Mirror::None);
    };
    const auto hidden = [&](const char* suffix, const std::string& name) {
      return rescaled(n + name, inner, norm(n + name + "_norm", inner.hidden, first(suffix)));
    };
    const auto active = [&](const char* name, ValueId h) {
      return activated(n + name, shift(n + ".shift_hidden", inner, h));
    };
    ValueId h = kNone;
    if (config.gated) {
      const ValueId gate = active(".gate", hidden("g", ".gate"));
      h = multiply(tape, n + ".hidden", gate, hidden("1", ".hidden"));
    } else {
      h = active(".hidden", hidden("1", ".hidden"));
    }
    h = drop(n + ".hidden.drop", DropoutKind::Activation, config.dropout_activation, h);
    h = norm(n + ".output", inner.output, h);
    return project(n, "2", shift(n + ".shift_out", inner, h), config.d_model, gains.second * wiring.init_gain,
                   inner, gains.mirrored ? Mirror::Rows : Mirror::None);
  }

  /// Declares the tables by which attention knows places.
  void declare_places() {
    if (config.positions == Positions::Relative)
      distances_ = parameter("distances", {config.sequence + config.memory, config.d_model},
                             {Init::Kind::Sinusoid, 0.0}, false);
    if (config.positions != Positions::Rotary) return;
    const int32_t T = config.sequence, dh = head_width(config);
    const auto table = [&](const char* name, bool local) {
      return parameter(name, {T, rotary_numbers(config.rotary, dh)},
                       rotary_table(config.rotary, dh, T, local), false);
    };
    turns_ = table("rotary", false);
    if (config.rotary.local_base > 0) turns_of_windows_ = table("rotary.local", true);
  }

  ValueId heads_of(const std::string& n, ValueId q, ValueId k, ValueId v, ValueId key_lengths, bool causal) {
    const uint32_t site =
        options.training && config.dropout_attention > 0 ? site_of(n + ".heads") : uint32_t{0};
    if (config.positions == Positions::Relative) return relative_heads(n, q, k, v, site);
    return attention(tape, n + ".heads", q, k, v, key_lengths,
                     {.heads = config.heads,
                      .causal = causal,
                      .dropout_site = site,
                      .window = causal && has_window(config, layer) ? config.attention.window : 0,
                      .cap = config.attention.cap,
                      .scale = config.attention.scale});
  }

  ValueId queries_of(const std::string& n, const Inner& inner, ValueId x) {
    const int32_t heads = config.heads;
    return norm(n + ".q_norm", inner.query,
                project(n, "q", x, heads * head_width(config), gains.query, inner),
                inner.across_heads ? 1 : heads);
  }
  ValueId keys_of(const std::string& n, const Inner& inner, ValueId x) {
    const int32_t heads = kv_heads(config);
    return norm(n + ".k_norm", inner.key, project(n, "k", x, heads * head_width(config), gains.key, inner),
                inner.across_heads ? 1 : heads);
  }
  ValueId values_of(const std::string& n, const Wiring& wiring, ValueId x) {
    const int32_t heads = kv_heads(config);
    return norm(n + ".v_norm", wiring.inner.value,
                project(n, "v", x, heads * head_width(config), gains.value * wiring.init_gain, wiring.inner),
                wiring.inner.values_across_heads ? 1 : heads);
  }

  /// Turns the heads of queries or keys by their places. Between two texts places mean nothing.
  ValueId turned(const std::string& name, ValueId x, int32_t heads, bool self) {
    if (config.positions != Positions::Rotary || !self) return x;
    const bool local = has_window(config, layer) && turns_of_windows_ != kNone;
    return rotary(tape, name, x, local ? turns_of_windows_ : turns_, {heads, config.rotary.pairing});
  }

  /// Gives every head of queries keys of its own, as each scales them for itself.
  ValueId for_all_heads(const std::string& name, ValueId x) {
    const int32_t heads = kv_heads(config), times = config.heads / heads;
    return times == 1 ? x : repeat_heads(tape, name, x, heads, times);
  }

  /// Has scores (q + u) k + (q + v) W_R R of the distance (Dai et al. 2019, section 3.3). u and v are
  /// each layer's own and start at zero.
  ValueId relative_heads(const std::string& n, ValueId q, ValueId k, ValueId v, uint32_t dropout_site) {
    const int64_t D = config.d_model;
    const auto plus = [&](const char* which, const char* bias) {
      return affine(tape, n + which, q, 1.0f, kNone, parameter(n + bias, {D}, {Init::Kind::Zeros, 0.0}));
    };
    const ValueId w = matrix(n + ".wr", {D, D}, matrix_init(D, D, gains.key));
    const RelativeAttentionInputs in{.content = plus(".content", ".content_bias"),
                                     .position = plus(".position", ".position_bias"),
                                     .keys = k,
                                     .values = v,
                                     .distances = linear(tape, n + ".r", distances_, w, kNone),
                                     .memory_lengths = memory_lengths_};
    return relative_attention(tape, n + ".heads", in, {config.heads, dropout_site});
  }

  /// Has the largest logit of each head measured, and its matrices scaled behind the update.
  void clip_heads(const std::string& n, const Inner& inner, ValueId q, ValueId k, ValueId key_lengths,
                  bool causal) {
    const ValueId largest =
        largest_logit(tape, n + ".batch_logit", q, k, key_lengths,
                      {.heads = config.heads,
                       .causal = causal,
                       .window = causal && has_window(config, layer) ? config.attention.window : 0,
                       .scale = config.attention.scale});
    const auto bias = [&](const char* suffix) {
      return !inner.shifts && has_bias_of(suffix) ? tape.parameter(n + ".b" + suffix) : kNone;
    };
    qk_clip(
        tape, n + ".qk_clip", largest,
        {.wq = tape.parameter(n + ".wq"), .wk = tape.parameter(n + ".wk"), .bq = bias("q"), .bk = bias("k")},
        {.heads = config.heads, .shared = kv_heads(config) < config.heads});
  }

  /// Takes queries from x, keys and values from `source` (x in self-attention), and earlier ones from
  /// `past`.
  ValueId attention_block(const std::string& n, const Wiring& wiring, ValueId x, ValueId source,
                          ValueId key_lengths, bool causal, ValueId past = kNone) {
    const Inner& inner = wiring.inner;
    const bool self = source == x;
    const ValueId in = shift(n + ".shift_in", inner, x), from = self ? in : source;
    ValueId q = turned(n + ".q_turned", queries_of(n, inner, in), config.heads, self);
    ValueId k = turned(n + ".k_turned", keys_of(n, inner, from), kv_heads(config), self);
    ValueId v = values_of(n, wiring, from);
    if (past != kNone) {
      twin = kOfMemory;
      const ValueId of = shift(n + ".shift_in", inner, past), past_k = keys_of(n, inner, of),
                    past_v = values_of(n, wiring, of);
      twin.clear();
      k = concat(tape, n + ".keys", past_k, k);
      v = concat(tape, n + ".values", past_v, v);
    }
    if (inner.sphere) {
      k = for_all_heads(n + ".k_repeated", k);
      v = for_all_heads(n + ".v_repeated", v);
      q = rescaled(n + ".qk", inner, q, root_of_width());
      k = affine(tape, n + ".k_scaled", k, 1.0f, tape.parameter(n + ".qk_scale"), kNone);
    }
    if (options.qk_clip && clips(config, inner)) clip_heads(n, inner, q, k, key_lengths, causal);
    ValueId heads = heads_of(n, q, k, v, key_lengths, causal);
    if (inner.head_scale)
      heads = affine(tape, n + ".scaled", heads, 1.0f,
                     parameter(n + ".head_scale", {config.heads}, {Init::Kind::Constant, 1.0}), kNone);
    heads = norm(n + ".output", inner.output, heads);
    if (!config.output_projection) return heads;
    return project(n, "o", shift(n + ".shift_out", inner, heads), config.d_model,
                   gains.output * wiring.init_gain, inner);
  }

  ValueId values_of_classes(ValueId hidden) {
    const ValueId w = parameter("class.w", {config.d_model, config.classes}, output_init());
    return outputs("logits", read_out(hidden, 1), w,
                   parameter("class.b", {config.classes}, {Init::Kind::Zeros, 0.0}));
  }

  /// What BERT's head does to a state before it is compared with the symbols.
  ValueId transformed(ValueId hidden) {
    const int64_t D = config.d_model;
    const ValueId w = parameter("head.w", {D, D}, matrix_init(D, D, 1));
    scale_steps("head.w", 1 / growth.width, growth.width);
    const ValueId b = parameter("head.b", {D}, {Init::Kind::Zeros, 0.0});
    return norm("head.norm", config.norm, activated("head.hidden", linear(tape, "head", hidden, w, b)));
  }

  ValueId values_of_symbols(ValueId hidden) {
    const int64_t D = config.d_model, V = config.vocabulary,
                  E = config.embedding_width > 0 ? config.embedding_width : D;
    const std::string name = config.logit_cap > 0 ? "logits.uncapped" : "logits";
    if (config.masked_head) hidden = transformed(hidden);
    if (config.embedding_width > 0)
      hidden = linear(tape, "narrow", hidden, parameter("emb.out", {D, E}, matrix_init(D, E, 1)), kNone);
    const ValueId bias = config.masked_head ? parameter("out.b", {V}, {Init::Kind::Zeros, 0.0}) : kNone;
    const ValueId w =
        config.tied_output ? tape.parameter(output_table(config)) : parameter("out.w", {E, V}, output_init());
    hidden = read_out(hidden, config.tied_output ? table_growth() : 1);
    const ValueId logits = outputs(name, hidden, w, bias, config.tied_output);
    return config.logit_cap > 0 ? soft_cap(tape, "logits", logits, config.logit_cap) : logits;
  }

  ModelValues values_;
  std::vector<std::unique_ptr<Residual>> forms_;  ///< of the stack's residual streams, beyond the one
  ValueId layer_input_ = kNone;                   ///< the input of the layer that is recorded
  ValueId probe_lengths_ = kNone;
  bool last_layer_ = false;
  ValueId memory_lengths_ = kNone;  ///< of relative positions: how much of the memory counts
  ValueId distances_ = kNone;       ///< the table of relative positions
  ValueId turns_ = kNone, turns_of_windows_ = kNone;  ///< the tables of rotary positions
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
  return Transformer(tape, config, options).record_part(encoder);
}

}  // namespace

std::string output_table(const ModelConfig& config) {
  if (!config.tied_output) return "out.w";
  return config.architecture == Architecture::EncoderDecoder && !config.shared_embedding ? "dec.emb.tokens"
                                                                                         : "emb.tokens";
}

ModelValues record_transformer(Tape& tape, const ModelConfig& config, const RecordOptions& options) {
  check_length(config, options);
  return Transformer(tape, config, options).record();
}

ModelValues record_end(Tape& tape, const ModelConfig& config, const RecordOptions& options) {
  check_length(config, options);
  return Transformer(tape, config, options).record_end();
}

ValueId record_logits(Tape& tape, const ModelConfig& config, ValueId hidden) {
  const RecordOptions options;
  return Transformer(tape, config, options).logits(hidden);
}

ModelValues record_encoder(Tape& tape, const ModelConfig& config, const RecordOptions& options) {
  return record_part(tape, config, options, true);
}

ModelValues record_decoder(Tape& tape, const ModelConfig& config, const RecordOptions& options) {
  return record_part(tape, config, options, false);
}

}  // namespace normscope
