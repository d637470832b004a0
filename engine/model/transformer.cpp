#include "engine/model/transformer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/core/error.h"
#include "engine/core/philox.h"
#include "engine/model/part.h"
#include "engine/model/recorder.h"
#include "engine/ops/ops.h"

namespace normscope {
namespace {

/// One stack of layers. The decoder of an encoder-decoder reads `encoded`, the encoder's output.
struct Stack {
  std::string prefix = {};
  const StackWiring& wiring;
  bool causal = false;
  ValueId key_lengths = kNone;
  ValueId encoded = kNone, encoded_lengths = kNone;
  ValueId probe_lengths = kNone;  ///< positions of a row that probes count
};

// Each function is a box of the architecture's diagram, in the order of the computation.
ValueId stack(Recorder&, const Stack&, ValueId tokens, int64_t T);
ValueId embedded(Recorder&, const Stack&, ValueId tokens, int64_t T);
ValueId layer(Recorder&, const Stack&, int32_t number, ValueId x);
template <typename F>
ValueId sublayer(Recorder&, const std::string& name, const Wiring&, ValueId x, F f);
ValueId attended(Recorder&, AttentionInputs, ValueId x, ValueId source);
ValueId fed_forward(Recorder&, const std::string& name, const Wiring&, ValueId x);
void join(Recorder&, SublayerValues&, const Wiring&);
ValueId end_of_stack(Recorder&, const Stack&, ValueId x);
ValueId logits(Recorder&, ValueId hidden);

/// The inputs of a batch that several parts of a model share.
ValueId lengths_input(Recorder& r, const char* name, bool wanted) {
  return wanted ? r.tape.input(name, {r.options.batch}, DType::I32) : kNone;
}
ValueId symbols_input(Recorder& r, const char* name, int64_t positions) {
  return r.tape.input(name, {r.options.batch, positions}, DType::I32);
}

/// The two stacks of an encoder-decoder.
void encode(Recorder& r, ValueId lengths) {
  const int64_t T = r.options.source_sequence;
  r.values.source = symbols_input(r, "source", T);
  const Stack encoder{
      .prefix = "enc.", .wiring = r.config.encoder, .key_lengths = lengths, .probe_lengths = lengths};
  r.values.encoded = stack(r, encoder, r.values.source, T);
}
void decode(Recorder& r, ValueId lengths, ValueId target_lengths) {
  const Stack decoder{.prefix = "dec.",
                      .wiring = r.config.decoder,
                      .causal = true,
                      .encoded = r.values.encoded,
                      .encoded_lengths = lengths,
                      .probe_lengths = target_lengths};
  r.values.hidden = stack(r, decoder, r.values.tokens, r.options.sequence);
}

/// Logits and loss.
ModelValues finish(Recorder& r, ValueId lengths) {
  const RecordOptions& o = r.options;
  if (r.config.classes > 0 && r.config.pooling == Pooling::Mean)
    r.values.hidden = mean_pool(r.tape, "pool", r.values.hidden, lengths);
  r.values.logits = logits(r, r.values.hidden);
  const ValueId weights = o.row_weights ? r.tape.input("weights", {o.batch, o.sequence}, DType::F32) : kNone;
  r.values.loss = softmax_xent(r.tape, "loss", r.values.logits, r.values.targets, weights);
  for (const auto& part : r.parts) part->end();
  return r.values;
}

ModelValues whole(Recorder& r) {
  const int64_t T = r.options.sequence;
  if (!r.config.gaussian_input) r.values.tokens = symbols_input(r, "tokens", T);
  r.values.targets = symbols_input(r, "targets", T);
  const ValueId lengths = lengths_input(r, "key_lengths", r.options.key_lengths);
  if (has_both(r.config)) {
    encode(r, lengths);
    decode(r, lengths, lengths_input(r, "target_lengths", r.options.key_lengths && r.options.probes));
  } else if (r.config.architecture == Architecture::Decoder) {
    r.values.hidden = stack(r, {.wiring = r.config.decoder, .causal = true}, r.values.tokens, T);
  } else {
    const Stack encoder{.wiring = r.config.encoder, .key_lengths = lengths, .probe_lengths = lengths};
    r.values.hidden = stack(r, encoder, r.values.tokens, T);
  }
  return finish(r, lengths);
}

bool is_decoder(const ModelConfig& config, const Stack& s) {
  return has_both(config) ? s.encoded != kNone : config.architecture == Architecture::Decoder;
}

ValueId stack(Recorder& r, const Stack& s, ValueId tokens, int64_t T) {
  const bool decoder = is_decoder(r.config, s);
  ValueId x = embedded(r, s, tokens, T);
  r.values.embedding = x;
  r.probe_lengths = s.probe_lengths;
  r.gains = init_gains(r.config.init, context_of(r.config, decoder));
  r.growth = growth_of(r.config, decoder);
  r.residuals = residual_forms(r, s.wiring);
  for (const auto& form : r.residuals) form->begin(s.prefix, x);
  for (size_t l = 1; l <= s.wiring.layers.size(); ++l) x = layer(r, s, static_cast<int32_t>(l), x);
  return end_of_stack(r, s, x);
}

/// Whether an encoder's embedding is narrow as a whole, with its positions, types and norm (ALBERT); a decoder's is in
/// the rows of its symbols alone (OPT-350m).
bool is_narrow(const ModelConfig& c) {
  return c.embedding_width > 0 && c.architecture == Architecture::Encoder;
}

/// Adds the vector of each symbol's type. The input is zero where nobody fills it in: the first type.
ValueId with_types(Recorder& r, ValueId x) {
  const int64_t D = r.tape.shape(x).cols();
  const ValueId types = symbols_input(r, "types", r.options.sequence),
                table = r.parameter("emb.types", {r.config.token_types, D},
                                    {Init::Kind::Normal, 1 / std::sqrt(static_cast<double>(D))});
  return add(r.tape, "emb.typed", x, embedding(r.tape, "emb.kinds", types, table, kNone, 1.0f));
}

/// x_0 = s E[token] + P[t] with s = model.embedding_scale or sqrt(D), its norm and its dropout.
ValueId embedded(Recorder& r, const Stack& s, ValueId tokens, int64_t T) {
  const ModelConfig& c = r.config;
  const int64_t D = c.d_model, E = c.embedding_width > 0 ? c.embedding_width : D;
  if (c.gaussian_input) return r.tape.input("x", {r.options.batch, T, D}, DType::F32);
  const double root = std::sqrt(static_cast<double>(D));
  const std::string name = (c.shared_embedding ? "" : s.prefix) + "emb";
  const double size = init_gains(c.init, context_of(c, is_decoder(c, s))).embedding;
  // A matrix that is stored 1 / c as large, and multiplied by c, takes steps 1 / c as large, from gradients c times as
  // large.
  const double growth = r.table_growth();
  Init init{Init::Kind::Normal, size / root * std::sqrt(r.growth.width) / growth};
  r.start(name + ".tokens", s.wiring.layers.back().feed_forward, Init::Unit::Rows, init);
  ValueId table = r.parameter(name + ".tokens", {c.vocabulary, E}, init);
  r.scale_steps(name + ".tokens", 1 / growth, 1, growth);
  const ValueId widen = c.embedding_width > 0 ? r.parameter("emb.in", {E, D}, r.matrix_init(E, D, 1)) : kNone;
  // The rows of the whole table are made as wide as the model, and then looked up: the same states, and one op less.
  if (widen != kNone && !is_narrow(c)) table = linear(r.tape, "emb.rows", table, widen, kNone);
  const int64_t width = r.tape.shape(table).cols();
  ValueId positions = kNone;
  if (c.positions == Positions::Learned)
    positions = r.parameter(name + ".positions", {c.sequence, width}, {Init::Kind::Normal, size});
  if (c.positions == Positions::Sinusoidal)
    positions = r.parameter(name + ".positions", {c.sequence, width}, {Init::Kind::Sinusoid, 0.0}, false);
  for (const auto& part : r.parts) part->begin();
  const float scale = c.embedding_scale > 0 ? c.embedding_scale : static_cast<float>(root);
  ValueId x = embedding(r.tape, s.prefix + "emb", tokens, table, positions, scale);
  if (c.token_types > 0) x = with_types(r, x);
  x = r.norm(s.prefix + "emb.norm", s.wiring.embedding, x);
  x = r.drop(s.prefix + "emb.drop", DropoutKind::Residual, c.dropout_residual, x);
  if (!is_narrow(c)) return x;
  return linear(r.tape, "emb.wide", x, widen, r.parameter("emb.b", {D}, {Init::Kind::Zeros, 0.0}));
}

ValueId layer(Recorder& r, const Stack& s, int32_t number, ValueId x) {
  const std::string name = fmt::format("{}L{:02}", s.prefix, number);
  if (r.left_out(name)) return x;
  r.begin(number);
  r.layer_input = x;
  r.last_layer = static_cast<size_t>(number) == s.wiring.layers.size();
  const LayerWiring& w = s.wiring.layers[static_cast<size_t>(number - 1)];
  for (const auto& part : r.parts) part->begin_layer(name, w.attention, x);
  x = sublayer(r, name + ".attn", w.attention, x, [&](const std::string& n, ValueId h) {
    return attended(r, {.name = n, .wiring = w.attention, .causal = s.causal, .key_lengths = s.key_lengths},
                    h, h);
  });
  if (s.encoded != kNone)
    x = sublayer(r, name + ".cross", w.cross, x, [&](const std::string& n, ValueId h) {
      return attended(r, {.name = n, .wiring = w.cross, .key_lengths = s.encoded_lengths}, h, s.encoded);
    });
  x = sublayer(r, name + ".ffn", w.feed_forward, x,
               [&](const std::string& n, ValueId h) { return fed_forward(r, n, w.feed_forward, h); });
  r.begin(0);
  return x;
}

/// `sublayer`: h = N_enter(x),  y = N_stream( skip h + branch N_after( f( pre_scale N_before(h) ) ) + [bottom] x_0 )
template <typename F>
ValueId sublayer(Recorder& r, const std::string& name, const Wiring& wiring, ValueId x, F f) {
  if (r.left_out(name)) return x;
  SublayerValues s{.name = name, .layer = r.layer, .input = x};
  s.entered = r.norm(name + ".enter", wiring.enter, x);
  ValueId h = wiring.parallel ? r.layer_input : s.entered;
  for (const auto& form : r.residuals) h = form->read(name, h);
  h = f(name, branch_input(r, name, wiring, h));
  s.probabilities = r.tape.find(name + ".heads.probabilities");  // kNone for feed-forward
  h = r.drop(name + ".drop", DropoutKind::Residual, r.config.dropout_residual, h);
  s.branch = r.norm(name + ".after", wiring.after, h);
  if (r.growth.branch != 1)
    s.branch =
        affine(r.tape, name + ".by_depth", s.branch, static_cast<float>(r.growth.branch), kNone, kNone);
  const bool last = r.last_layer && name.ends_with(".ffn");
  if (std::ranges::none_of(r.residuals, [&](const auto& form) { return form->sum(s, last); }))
    join(r, s, wiring);
  if (r.options.probes) {
    constexpr ProbeSpec kMeanSquare{ProbeKind::MeanSquare};
    r.tape.probe({name + ".out.mean_square", kMeanSquare, s.output, false, r.layer, r.probe_lengths});
    r.tape.probe({name + ".sum.mean_square", kMeanSquare, s.sum, false, r.layer, r.probe_lengths});
    for (const auto& form : r.residuals) form->probe(s, r.probe_lengths);
  }
  r.values.sublayers.push_back(s);
  return s.output;
}

ValueId heads_of(Recorder& r, const AttentionInputs& in) {
  const std::string name = in.name + ".heads";
  const uint32_t site = r.options.training && r.config.dropout_attention > 0 ? site_of(name) : uint32_t{0};
  for (const auto& part : r.parts)
    if (const ValueId heads = part->heads(in, site); heads != kNone) return heads;
  AttentionSpec spec = attention_spec(r, in.causal);
  spec.dropout_site = site;
  return attention(r.tape, name, in.queries, in.keys, in.values, in.key_lengths, spec);
}

/// Gives a part of what the heads mix for each token's own values: a window of one symbol, in which no score counts.
ValueId mixed(Recorder& r, const AttentionInputs& in, ValueId heads) {
  const float share = r.config.attention.mixing;
  if (share == 1) return heads;
  const ValueId own = attention(r.tape, in.name + ".own", in.queries, in.keys, in.values, in.key_lengths,
                                {.heads = r.config.heads, .causal = in.causal, .window = 1});
  return add(r.tape, in.name + ".mixed", heads, own, {share, kNone}, {1 - share, kNone});
}

/// Takes queries from x, and keys and values from `source`, which is x in self-attention.
ValueId attended(Recorder& r, AttentionInputs in, ValueId x, ValueId source) {
  const std::string& n = in.name;
  const Inner& inner = in.wiring.inner;
  const bool self = source == x;
  x = r.shift(n + ".shift_in", inner, x);
  if (self) source = x;
  const auto placed = [&](const char* name, ValueId of, int32_t heads) {
    for (const auto& part : r.parts)
      if (self) of = part->placed(n + name, of, heads);
    return of;
  };
  in.queries = placed(".q_turned", queries_of(r, n, in.wiring, x), r.config.heads);
  in.keys = placed(".k_turned", keys_of(r, n, in.wiring, source), kv_heads(r.config));
  in.values = values_of(r, n, in.wiring, source);
  for (const auto& part : r.parts) part->prepare(in);
  ValueId heads = heads_of(r, in);
  if (self) heads = mixed(r, in, heads);
  for (const auto& part : r.parts) heads = part->attended(in, x, heads);
  if (inner.head_scale)
    heads = affine(r.tape, n + ".scaled", heads, 1.0f,
                   r.parameter(n + ".head_scale", {r.config.heads}, {Init::Kind::Constant, 1.0}), kNone);
  heads = r.norm(n + ".output", inner.output, heads);
  if (!r.config.output_projection) return heads;
  const double start = self ? static_cast<double>(r.config.attention.start) : 1;
  return r.project(n, "o", r.shift(n + ".shift_out", inner, heads), r.config.d_model,
                   r.gains.output * in.wiring.init_gain * start, in.wiring);
}

ValueId fed_forward(Recorder& r, const std::string& n, const Wiring& wiring, ValueId x) {
  using Mirror = Init::Mirror;
  const Inner& inner = wiring.inner;
  x = r.shift(n + ".shift_in", inner, x);
  const auto first = [&](const char* suffix) {
    return r.project(n, suffix, x, r.config.feed_forward, r.gains.first * wiring.init_gain, wiring,
                     r.gains.mirrored ? Mirror::Columns : Mirror::None);
  };
  const auto hidden = [&](const char* suffix, const std::string& name) {
    ValueId h = r.norm(n + name + "_norm", inner.hidden, first(suffix));
    for (const auto& part : r.parts) h = part->hidden(n + name, wiring, h);
    return h;
  };
  const auto active = [&](const char* name, ValueId h) {
    return r.activated(n + name, r.shift(n + ".shift_hidden", inner, h));
  };
  ValueId h = kNone;
  if (r.config.gated) {
    const ValueId gate = active(".gate", hidden("g", ".gate"));
    h = multiply(r.tape, n + ".hidden", gate, hidden("1", ".hidden"));
  } else {
    h = active(".hidden", hidden("1", ".hidden"));
  }
  h = r.drop(n + ".hidden.drop", DropoutKind::Activation, r.config.dropout_activation, h);
  h = r.norm(n + ".output", inner.output, h);
  return r.project(n, "2", r.shift(n + ".shift_out", inner, h), r.config.d_model,
                   r.gains.second * wiring.init_gain, wiring, r.gains.mirrored ? Mirror::Rows : Mirror::None);
}

/// The sum of a single stream, and its norm.
void join(Recorder& r, SublayerValues& s, const Wiring& wiring) {
  const ResidualScale branch = r.scale(s.name + ".branch", wiring.branch);
  ValueId carried = s.entered;
  for (const auto& form : r.residuals) carried = form->carry(s, wiring, carried);
  s.sum = s.joined =
      add(r.tape, s.name + ".sum", carried, s.branch, r.skip_scale(s.name, wiring, branch), branch);
  if (wiring.bottom) {
    s.bottom = r.layer_input;
    s.sum = add(r.tape, s.name + ".bottom", s.joined, s.bottom);
  }
  for (const auto& form : r.residuals) form->write(s, branch);
  s.output = r.norm(s.name + ".stream", wiring.stream, s.sum);
  for (const auto& form : r.residuals) s.output = form->pass(s, wiring, s.output);
}

/// The norm after the last layer, FixUp's scale and shift, and the ends of residual forms.
ValueId end_of_stack(Recorder& r, const Stack& s, ValueId x) {
  x = r.norm(s.prefix + "final", s.wiring.final, x);
  if (s.wiring.layers.back().feed_forward.inner.shifts)  // FixUp: a scalar scale and shift
    x = affine(r.tape, s.prefix + "end", x, 1.0f,
               r.parameter(s.prefix + "end.scale", {1}, {Init::Kind::Constant, 1.0}),
               r.parameter(s.prefix + "end.shift", {1}, {Init::Kind::Zeros, 0.0}));
  for (const auto& form : r.residuals) x = form->end(s.prefix, x);
  return x;
}

/// A matrix (D,V) from states to logits.
ValueId output_matrix(Recorder& r, const std::string& name, Shape shape) {
  Init init{Init::Kind::Normal, r.read_out_deviation()};
  r.start(name, r.config.stack().layers.back().feed_forward, Init::Unit::Columns, init);
  return r.parameter(name, shape, init);
}

ValueId outputs(Recorder& r, const std::string& name, const OutputInputs& in) {
  for (const auto& part : r.parts)
    if (const ValueId logits = part->outputs(name, in); logits != kNone) return logits;
  return linear(r.tape, name, in.hidden, in.matrix, in.bias, in.transposed);
}

ValueId values_of_classes(Recorder& r, ValueId hidden) {
  const ValueId w = output_matrix(r, "class.w", {r.config.d_model, r.config.classes});
  return outputs(r, "logits",
                 {r.read_out(hidden, 1), w,
                  r.parameter("class.b", {r.config.classes}, {Init::Kind::Zeros, 0.0}), false});
}

/// BERT's head: transforms a state before its product with the table of symbols.
ValueId transformed(Recorder& r, ValueId hidden, int64_t width) {
  const int64_t D = r.config.d_model;
  const ValueId w = r.parameter("head.w", {D, width}, r.matrix_init(D, width, 1));
  r.scale_steps("head.w", 1 / r.growth.width, r.growth.width);
  const ValueId b = r.parameter("head.b", {width}, {Init::Kind::Zeros, 0.0});
  return r.norm("head.norm", r.config.norm, r.activated("head.hidden", linear(r.tape, "head", hidden, w, b)));
}

ValueId values_of_symbols(Recorder& r, ValueId hidden) {
  const ModelConfig& c = r.config;
  const int64_t D = c.d_model, V = c.vocabulary, E = c.embedding_width > 0 ? c.embedding_width : D;
  if (c.masked_head)
    hidden = transformed(r, hidden, E);
  else if (is_narrow(c))  // without a head the states become as narrow by the matrix that widened them
    hidden = linear(r.tape, "narrow", hidden, r.tape.parameter("emb.in"), kNone, true);
  else if (c.embedding_width > 0)
    hidden = linear(r.tape, "narrow", hidden, r.parameter("emb.out", {D, E}, r.matrix_init(D, E, 1)), kNone);
  const bool biased = c.masked_head || c.output_bias;
  const ValueId bias = biased ? r.parameter("out.b", {V}, {Init::Kind::Zeros, 0.0}) : kNone;
  const ValueId w = c.tied_output ? r.tape.parameter(output_table(c)) : output_matrix(r, "out.w", {E, V});
  hidden = r.read_out(hidden, (c.tied_output ? r.table_growth() : 1) * static_cast<double>(c.logit_scale));
  const std::string name = c.logit_cap > 0 ? "logits.uncapped" : "logits";
  const ValueId logits = outputs(r, name, {hidden, w, bias, c.tied_output});
  return c.logit_cap > 0 ? soft_cap(r.tape, "logits", logits, c.logit_cap) : logits;
}

ValueId logits(Recorder& r, ValueId hidden) {
  return r.config.classes > 0 ? values_of_classes(r, hidden) : values_of_symbols(r, hidden);
}

void check(const ModelConfig& config, const RecordOptions& options) {
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

/// Options for one of the two stacks of an encoder-decoder, without dropout and probes.
RecordOptions options_of_stack(const ModelConfig& config, RecordOptions options) {
  check(config, options);
  if (!has_both(config)) fail("model", "a part is asked of a single stack: expected an encoder-decoder");
  options.training = options.probes = false;
  return options;
}

}  // namespace

ValueId branch_input(Recorder& r, const std::string& name, const Wiring& wiring, ValueId entered) {
  const std::string owner = wiring.shared_norm ? name.substr(0, name.rfind('.')) + ".attn" : name;
  ValueId h = r.norm(name + ".before", owner + ".before", wiring.before, entered);
  for (const auto& form : r.residuals) h = form->normed(name, wiring, h);
  if (wiring.pre_scale == 1.0f) return h;
  return affine(r.tape, name + ".depth" + r.twin, h, wiring.pre_scale, kNone, kNone);
}

ValueId queries_of(Recorder& r, const std::string& n, const Wiring& wiring, ValueId x) {
  const int32_t heads = r.config.heads;
  return r.norm(n + ".q_norm", wiring.inner.query,
                r.project(n, "q", x, heads * head_width(r.config), r.gains.query, wiring),
                wiring.inner.across_heads ? 1 : heads);
}

ValueId keys_of(Recorder& r, const std::string& n, const Wiring& wiring, ValueId x) {
  const int32_t heads = kv_heads(r.config);
  return r.norm(n + ".k_norm", wiring.inner.key,
                r.project(n, "k", x, heads * head_width(r.config), r.gains.key, wiring),
                wiring.inner.across_heads ? 1 : heads);
}

ValueId values_of(Recorder& r, const std::string& n, const Wiring& wiring, ValueId x) {
  const int32_t heads = kv_heads(r.config);
  return r.norm(n + ".v_norm", wiring.inner.value,
                r.project(n, "v", x, heads * head_width(r.config), r.gains.value * wiring.init_gain, wiring),
                wiring.inner.values_across_heads ? 1 : heads);
}

AttentionSpec attention_spec(const Recorder& r, bool causal) {
  const AttentionConfig& a = r.config.attention;
  const bool looks = causal || r.config.architecture == Architecture::Encoder;
  return {.heads = r.config.heads,
          .causal = causal,
          .alibi = row_of(r.config.positions).alibi,
          .window = looks && has_window(r.config, r.layer) ? a.window : 0,
          .cap = a.cap,
          .scale = a.scale};
}

std::string output_table(const ModelConfig& config) {
  if (!config.tied_output) return "out.w";
  return has_both(config) && !config.shared_embedding ? "dec.emb.tokens" : "emb.tokens";
}

ModelValues record_transformer(Tape& tape, const ModelConfig& config, const RecordOptions& options) {
  check(config, options);
  Recorder r(tape, config, options);
  return whole(r);
}

ModelValues record_end(Tape& tape, const ModelConfig& config, const RecordOptions& options) {
  check(config, options);
  Recorder r(tape, config, options);
  const Shape states{options.batch, options.sequence, config.d_model};
  r.values.targets = symbols_input(r, "targets", options.sequence);
  r.residuals = residual_forms(r, config.stack());
  for (const auto& form : r.residuals) form->begin_at_end(states);
  r.values.hidden = end_of_stack(r, {.wiring = config.stack()}, tape.input("state", states, DType::F32));
  return finish(r, lengths_input(r, "key_lengths", options.key_lengths));
}

ValueId record_logits(Tape& tape, const ModelConfig& config, ValueId hidden) {
  const RecordOptions options;
  Recorder r(tape, config, options);
  return logits(r, hidden);
}

ModelValues record_encoder(Tape& tape, const ModelConfig& config, const RecordOptions& options) {
  const RecordOptions quiet = options_of_stack(config, options);
  Recorder r(tape, config, quiet);
  encode(r, lengths_input(r, "key_lengths", quiet.key_lengths));
  return r.values;
}

ModelValues record_decoder(Tape& tape, const ModelConfig& config, const RecordOptions& options) {
  const RecordOptions quiet = options_of_stack(config, options);
  Recorder r(tape, config, quiet);
  const ValueId lengths = lengths_input(r, "key_lengths", quiet.key_lengths);
  r.values.tokens = symbols_input(r, "tokens", quiet.sequence);
  r.values.encoded = tape.input("encoded", {quiet.batch, quiet.source_sequence, config.d_model}, DType::F32);
  decode(r, lengths, kNone);
  return r.values;
}

}  // namespace normscope
