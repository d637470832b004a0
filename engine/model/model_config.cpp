#include "engine/model/model_config.h"

#include <cmath>
#include <vector>

#include "engine/core/error.h"
#include "engine/model/part.h"
#include "engine/model/residual.h"
#include "engine/model/transformer.h"
#include "engine/ops/ops.h"

namespace normscope {
namespace {

void check_positive(std::string_view what, int64_t value) {
  if (value < 1) fail("model", "{} is {}: expected at least 1", what, value);
}

void check_probability(std::string_view what, float p) {
  if (!(p >= 0 && p < 1)) fail("model", "{} is {}: expected 0 <= p < 1", what, p);
}

void check_layer(const char* what, const LayerWiring& layer) {
  for (const Wiring* w : {&layer.attention, &layer.cross, &layer.feed_forward})
    if (w->skip.profile != Scale::Profile::None && w->skip.kind != Scale::Kind::LearnedVector)
      fail("model", "the {}'s wiring profiles a skip that is no learned vector", what);
  const Inner& inner = layer.feed_forward.inner;
  if (inner.query != NormKind::None || inner.key != NormKind::None || inner.value != NormKind::None ||
      inner.head_scale)
    fail("model", "the {}'s feed-forward network has no heads: expected q=, k=, v=, head-scale on attention",
         what);
  for (const Wiring* w : {&layer.attention, &layer.cross})
    if (w->inner.hidden != NormKind::None)
      fail("model", "the {}'s attention has no hidden layer: expected hidden= on the feed-forward network",
           what);
}

/// A branch of kind Toward sets its skip, to one minus the share: no other scale of the skip may be wired.
void check_shares(const ModelConfig& c, const StackWiring& stack, const LayerWiring& layer) {
  const bool other = !stack.slots.empty();  // another form of residual streams
  for (const Wiring* w : {&layer.attention, &layer.cross, &layer.feed_forward}) {
    if (w->branch.kind != Scale::Kind::Toward) continue;
    if (w->skip.kind != Scale::Kind::One || factor_of(*w) || other)
      fail(
          "model",
          "'{}' has a branch with a share, which sets its skip too: expected no skip=, no gpas and no second "
          "stream",
          to_string(*w));
    if (!(w->branch.value > 0 && w->branch.value <= 1))
      fail("model", "'{}' begins with a share outside of 0 to 1: expected for instance branch=toward:0.05",
           to_string(*w));
    if (c.transfer != Transfer::None)
      fail("model.transfer",
           "shares and unit vectors have steps of their own (toward, sphere): expected none");
  }
}

void check_attention(const ModelConfig& c) {
  const AttentionConfig& a = c.attention;
  if (a.head_width == 0 && c.d_model % c.heads != 0)
    fail(
        "model",
        "d_model {} is not a multiple of {} heads: expected d_model = heads x head width, or model.head_width",
        c.d_model, c.heads);
  if (a.kv_heads < 0 || c.heads % kv_heads(c) != 0)
    fail("model.kv_heads",
         "{} heads cannot share {} of keys and values evenly: expected a divisor of model.heads", c.heads,
         a.kv_heads);
  if (a.pattern.find_first_not_of("wf") != a.pattern.npos)
    fail("model.attention_pattern", "'{}' has other letters than w and f: expected for instance wf or wwwwwf",
         a.pattern);
  if (!(a.mixing >= 0 && a.mixing <= 1))
    fail("model.attention_mixing", "{} is no share: expected 0 to 1", a.mixing);
  if (!(a.start >= 0 && std::isfinite(a.start)))
    fail("model.attention_start", "{} is no factor: expected a number from 0", a.start);
  const double cap = static_cast<double>(a.cap);
  if (cap != 0 &&
      !std::isnormal(static_cast<float>(cap / AttentionSpec{.scale = a.scale}.scale_of(head_width(c)))))
    fail("model.attention_cap",
         "{} is no number that scores can be divided by: expected a larger one, or 0 for none", a.cap);
  if (row_of(c.positions).alibi && (c.architecture != Architecture::Decoder || cap != 0))
    fail("model.positions",
         "{} is a bias by how far back a key lies: expected architecture decoder, and no attention_cap",
         row_of(c.positions).name);
  if (!c.output_projection && c.heads * head_width(c) != c.d_model)
    fail("model.output_projection",
         "{} heads of width {} do not give the {} features of the stream: expected an output projection",
         c.heads, head_width(c), c.d_model);
}

/// BERT's head belongs to an encoder that fills in symbols.
void check_head(const ModelConfig& c) {
  if (c.masked_head && (c.architecture != Architecture::Encoder || c.classes > 0))
    fail("model.masked_head",
         "only an encoder fills in symbols: expected architecture encoder, and no classes");
  if (c.embedding_width < 0 || (c.embedding_width > 0 && c.architecture == Architecture::EncoderDecoder))
    fail("model.embedding_width",
         "two stacks share no such matrices: expected architecture decoder or encoder");
  if (c.token_types > 0 && c.architecture == Architecture::EncoderDecoder)
    fail("model.token_types", "two stacks have no such table: expected architecture decoder or encoder");
  if (c.gated && c.init == InitRule::LookLinear)
    fail("model.gated",
         "init looklinear makes a network linear, which a product of two is not: expected false");
}

void check_transfer(const ModelConfig& c) {
  if (c.transfer == Transfer::None) return;
  const std::string_view name = kTransfers[static_cast<size_t>(c.transfer)];
  if (!is_transformer(c.architecture))
    fail("model.transfer",
         "{} is for transformers: expected architecture decoder, encoder or encoder-decoder", name);
  if (c.embedding_width > 0)
    fail("model.transfer", "{} knows no table that is narrower than the model: expected embedding_width 0",
         name);
}

/// A stack: the number of its layers, and of the attentions of each.
struct StackSize {
  int64_t layers, attentions;
  const StackWiring& wiring;
};
std::vector<StackSize> stacks_of(const ModelConfig& c) {
  if (c.architecture != Architecture::EncoderDecoder) return {{c.layers, 1, c.stack()}};
  return {{context_of(c, false).layers, 1, c.encoder},
          {c.layers, 2, c.decoder}};  // the decoder has self- and cross-attention
}

/// The floats that other forms of residual streams take for each number of a state.
int64_t floats_of_streams(const StackSize& t) {
  int64_t floats = 0;
  for (const ResidualRow* row : residual_rows())
    if (row->floats) floats += row->floats(t.wiring, t.layers * (t.attentions + 1));
  return floats;
}

/// The widths of all heads of queries together, of keys, and the matrices of a feed-forward network.
struct Widths {
  int64_t queries, keys, matrices;
};
Widths widths_of(const ModelConfig& c) {
  return {int64_t{c.heads} * head_width(c), int64_t{kv_heads(c)} * head_width(c), c.gated ? 3 : 2};
}

/// The floats of the parameters of one attention and of one feed-forward network, without norms (under 1 %).
int64_t attention_parameters(const ModelConfig& c) {
  const int64_t d = c.d_model;
  const Widths w = widths_of(c);
  return (d + 1) * (w.queries + 2 * w.keys) + (c.output_projection ? w.queries * d + d : 0) + 2 * d;
}
int64_t feed_forward_parameters(const ModelConfig& c) {
  const int64_t d = c.d_model, f = c.feed_forward;
  return widths_of(c).matrices * d * f + d + f + 2 * d;
}

}  // namespace

int32_t head_width(const ModelConfig& config) {
  return config.attention.head_width > 0 ? config.attention.head_width : config.d_model / config.heads;
}

int32_t kv_heads(const ModelConfig& config) {
  return config.attention.kv_heads > 0 ? config.attention.kv_heads : config.heads;
}

bool same_wiring(const ModelConfig& a, const ModelConfig& b) {
  return a.architecture == b.architecture && a.stack() == b.stack() &&
         (!has_both(a) || a.encoder == b.encoder);
}

bool has_plain_embedding(const ModelConfig& config) {
  return config.embedding_scale == 0 && config.embedding_width == 0 && config.token_types == 0;
}

bool has_window(const ModelConfig& config, int32_t layer) {
  const AttentionConfig& a = config.attention;
  if (a.window == 0 || a.pattern.empty()) return a.window > 0;
  return a.pattern[static_cast<size_t>(layer - 1) % a.pattern.size()] == 'w';
}

StackContext context_of(const ModelConfig& config, bool decoder) {
  const bool both = config.architecture == Architecture::EncoderDecoder;
  const int encoder = config.encoder_layers > 0 && both ? config.encoder_layers : config.layers;
  if (!both) return {decoder, config.layers, 0};
  return decoder ? StackContext{true, config.layers, encoder} : StackContext{false, encoder, config.layers};
}

int64_t attentions_of(const ModelConfig& config) {
  int64_t attentions = 0;
  for (const StackSize& stack : stacks_of(config)) attentions += stack.layers * stack.attentions;
  return attentions;
}

Growth growth_of(const ModelConfig& config, bool decoder) {
  return growth_of(config.transfer, static_cast<double>(config.d_model) / config.base_width,
                   static_cast<double>(context_of(config, decoder).layers) / config.base_layers);
}

void set_placement(ModelConfig& config, Placement placement) {
  config.encoder = preset_stack(placement, config.norm, context_of(config, false));
  config.decoder = preset_stack(placement, config.norm, context_of(config, true));
}

void check_sizes(const ModelConfig& c) {
  check_positive("layers", c.layers);
  check_positive("d_model", c.d_model);
  check_positive("heads", c.heads);
  check_positive("feed_forward", c.feed_forward);
  check_positive("sequence", c.sequence);
  check_positive("vocabulary", c.vocabulary);
  if (c.norm == NormKind::None)
    fail("model", "norm is none: choose placement none for a model without norms");
  check_probability("dropout_residual", c.dropout_residual);
  check_probability("dropout_attention", c.dropout_attention);
  check_probability("dropout_activation", c.dropout_activation);
}

void check_stack(const char* what, const ModelConfig& c, const StackWiring& stack, int32_t layers) {
  if (static_cast<int64_t>(stack.layers.size()) != layers)
    fail("model", "the {}'s wiring has {} layers and the model {}: expected as many", what,
         stack.layers.size(), layers);
  for (const LayerWiring& layer : stack.layers) {
    check_layer(what, layer);
    check_shares(c, stack, layer);
  }
  for (const ResidualRow* row : residual_rows())
    if (row->check) row->check(what, stack);
}

void validate(const ModelConfig& config) {
  for (const PartRow* row : kParts)
    if (row->check) row->check(config);
  check_transfer(config);
  row_of(config.architecture).validate(config);
}

int64_t estimated_bytes(const ModelConfig& config, int32_t batch) {
  return row_of(config.architecture).bytes(config, batch);
}

double step_flop(const ModelConfig& config, int32_t batch) {
  return row_of(config.architecture).flop(config, batch);
}

namespace {

void validate_transformer(const ModelConfig& c) {
  check_sizes(c);
  check_attention(c);
  check_head(c);
  if (c.architecture != Architecture::Encoder) check_stack("decoder", c, c.decoder, c.layers);
  if (c.architecture != Architecture::Decoder)
    check_stack("encoder", c, c.encoder, context_of(c, false).layers);
  if (c.init == InitRule::LookLinear && c.feed_forward % 2 != 0)
    fail("model", "init looklinear mirrors half of the {} hidden features: expected an even feed_forward",
         c.feed_forward);
  if (c.classes > 0 && c.architecture != Architecture::Encoder)
    fail("model", "only an encoder classifies: expected architecture encoder, or no classes");
  if (c.gaussian_input && c.architecture == Architecture::EncoderDecoder)
    fail("model", "a Gaussian input is for a single stack: expected architecture decoder or encoder");
  if (c.gaussian_input && c.tied_output)
    fail("model", "a Gaussian input has no embedding to tie the output to: expected tied = false");
}

std::vector<PartCost> costs_of_parts(const ModelConfig& c, int32_t batch) {
  std::vector<PartCost> costs;
  for (const PartRow* row : kParts)
    if (row->cost) costs.push_back(row->cost(c, batch));
  return costs;
}

int64_t transformer_bytes(const ModelConfig& c, int32_t batch) {
  const int64_t rows = int64_t{batch} * c.sequence, d = c.d_model, f = c.feed_forward, v = c.vocabulary;
  const int64_t tables = c.architecture == Architecture::EncoderDecoder && !c.shared_embedding ? 2 : 1;
  const int64_t e = c.embedding_width > 0 ? c.embedding_width : d, between = e < d ? 2 * e * d : 0;
  int64_t parameters = v * e * (tables + (c.tied_output ? 0 : 1)) + tables * c.sequence * d + between,
          activations = 2 * rows * (d + v);
  const Widths w = widths_of(c);
  // An attention has q, k, v (repeated ones too), heads, out, sum, norm with its probabilities, a
  // feed-forward network two of width F, or four if it is gated, and three of width D, each with its gradient.
  const int64_t repeated = w.keys < w.queries ? 2 * w.queries : 0,
                own = c.attention.mixing != 1 ? 2 * w.queries : 0,
                attention = 2 * w.queries + 2 * w.keys + repeated + own + 3 * d;
  for (const StackSize& t : stacks_of(c)) {
    parameters += t.layers * (t.attentions * attention_parameters(c) + feed_forward_parameters(c));
    activations += t.layers * (t.attentions * (2 * rows * attention + rows * c.heads * c.sequence) +
                               2 * rows * (5 * d + (c.gated ? 4 : 2) * f));
    activations += 2 * rows * d * floats_of_streams(t);
  }
  for (const PartCost& cost : costs_of_parts(c, batch)) {
    parameters += cost.parameters;
    activations += cost.activations;
  }
  return 4 * (4 * parameters + activations);
}

double transformer_flop(const ModelConfig& c, int32_t batch) {
  const double d = c.d_model, f = c.feed_forward, v = c.vocabulary, t = c.sequence, rows = batch * t;
  const Widths w = widths_of(c);
  const auto q = static_cast<double>(w.queries), kv = static_cast<double>(w.keys),
             m = static_cast<double>(w.matrices);
  double flop = 6 * d * v * rows;
  for (const StackSize& stack_layout : stacks_of(c)) {
    const auto l = static_cast<double>(stack_layout.layers), a = static_cast<double>(stack_layout.attentions);
    flop += l * (6 * (a * 2 * d * (q + kv) + m * d * f) * rows + 12 * a * rows * t * q);
  }
  for (const PartCost& cost : costs_of_parts(c, batch)) flop += cost.flop;
  return flop;
}

constexpr ArchitectureRow transformer(std::string_view name, std::string_view learner) {
  return {name, learner, record_transformer, validate_transformer, transformer_bytes, transformer_flop};
}
const ArchitectureRow kDecoder = transformer("decoder", "a decoder"),
                      kEncoder = transformer("encoder", "an encoder"),
                      kEncoderDecoder = transformer("encoder-decoder", "an encoder-decoder");
const ArchitectureRow* const kArchitectures[] = {
    &kDecoder,
    &kEncoder,
    &kEncoderDecoder,
#define ARCHITECTURE(Name, name) &name##_architecture,
#include "chosen/architectures.def"
#undef ARCHITECTURE
};

}  // namespace

const ArchitectureRow& row_of(Architecture architecture) {
  return *kArchitectures[static_cast<size_t>(architecture)];
}

std::vector<Architecture> architectures() {
  std::vector<Architecture> all(std::size(kArchitectures));
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Architecture>(i);
  return all;
}

std::vector<std::string_view> architecture_names() {
  std::vector<std::string_view> names;
  for (const ArchitectureRow* row : kArchitectures) names.push_back(row->name);
  return names;
}

Architecture architecture_from(std::string_view name) {
  std::string known;
  for (const Architecture a : architectures()) {
    if (name == row_of(a).name) return a;
    known += (known.empty() ? "" : ", ") + std::string(row_of(a).name);
  }
  fail("model.architecture", "'{}' is unknown: expected one of {}", name, known);
}
namespace {

/// Counts the residual branches of the whole model: two a layer, three with cross-attention.
double branches_of(const StackContext& c) {
  if (c.other_layers == 0) return 2.0 * c.layers;
  return c.decoder ? 3.0 * c.layers + 2.0 * c.other_layers : 2.0 * c.layers + 3.0 * c.other_layers;
}

// Each row of init_rules.def has a function.

InitGains xavier(const StackContext&) { return {}; }

InitGains theory(const StackContext&) { return {.query = 0, .key = 0}; }

InitGains normal002(const StackContext&) { return {.deviation = 0.02}; }

InitGains fixup(const StackContext& c) {
  InitGains g;
  g.query = g.key = g.value = std::pow(branches_of(c), -1.0 / 6);
  g.first = std::pow(branches_of(c), -0.5);
  g.output = g.second = 0;
  return g;
}

/// Huang et al. 2020, section 3.2; the shared embeddings of an encoder-decoder follow the decoder.
InitGains t_fixup(const StackContext& c) {
  const auto decoder = [](double layers) { return std::pow(9 * layers, -0.25); };
  InitGains g;
  g.value = g.output = g.first = g.second = g.embedding =
      c.decoder ? decoder(c.layers) : 0.67 * std::pow(c.layers, -0.25);
  if (!c.decoder && c.other_layers > 0) g.embedding = decoder(c.other_layers);
  return g;
}

InitGains looklinear(const StackContext&) { return {.mirrored = true}; }

InitGains b2t(const StackContext& c) {
  InitGains g;
  g.query = g.key = g.value = g.output = g.first = g.second = std::pow(c.layers, -0.5);
  return g;
}

}  // namespace

Growth growth_of(Transfer transfer, double width, double depth) {
  if (transfer == Transfer::None) return {};
  Growth g{.width = width, .depth = transfer == Transfer::Mup ? 1 : depth};
  const double alpha = transfer == Transfer::DepthMup ? 0.5 : 1;  // of Dey et al. 2025
  g.branch = std::pow(g.depth, -alpha);
  g.rate = std::pow(g.depth, alpha - 1);
  g.eps = g.branch / width;
  return g;
}

InitGains init_gains(InitRule rule, const StackContext& context) {
  static constexpr InitGains (*kGains[])(const StackContext&) = {
#define INIT_RULE(Name, text, gains) gains,
#include "engine/model/init_rules.def"
#undef INIT_RULE
  };
  return kGains[static_cast<size_t>(rule)](context);
}

}  // namespace normscope
