#include "engine/model/model_config.h"

#include <vector>

#include "engine/core/error.h"
#include "engine/model/convolutions.h"

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
}

void check_stack(const char* what, const StackWiring& stack, int32_t layers) {
  if (static_cast<int64_t>(stack.layers.size()) != layers)
    fail("model", "the {}'s wiring has {} layers and the model {}: expected as many", what,
         stack.layers.size(), layers);
  for (const LayerWiring& layer : stack.layers) check_layer(what, layer);
}

void check_memory(const ModelConfig& c) {
  const bool relative = c.positions == Positions::Relative;
  if (relative && c.architecture != Architecture::Decoder)
    fail("model.positions", "relative looks back from each symbol: expected architecture decoder");
  if (c.memory < 0 || c.memory > kMostMemory)
    fail("model.memory", "{} positions: expected 0 to {}", c.memory, kMostMemory);
  if (c.memory > 0 && !relative)
    fail("model.memory",
         "places of another segment have no number of their own: expected positions relative");
}

/// `check_parser`: a hidden layer of the parser is the matrix, the norm and the activation of a feed-forward network
/// that begins with a norm. It has no place for anything else of a wiring.
void check_parser(const ModelConfig& c) {
  for (const LayerWiring& layer : c.stack().layers) {
    Wiring plain;
    plain.before = layer.feed_forward.before;
    if (!(layer.feed_forward == plain))
      fail("model.placement",
           "a parser has no residual stream, only norms before activations: expected pre or none");
  }
}

/// `parser_products` are the weights of a parser without table, norms and biases.
int64_t parser_products(const ModelConfig& c) {
  const int64_t f = c.feed_forward;
  return int64_t{c.sequence} * c.d_model * f + (c.layers - 1) * f * f + f * c.classes;
}

/// `Stack` is its layers, and the attentions of each.
struct Stack {
  int64_t layers, attentions;
};
std::vector<Stack> stacks_of(const ModelConfig& c) {
  if (c.architecture != Architecture::EncoderDecoder) return {{c.layers, 1}};
  return {{context_of(c, false).layers, 1}, {c.layers, 2}};  // the decoder has self- and cross-attention
}

/// These are the floats of the parameters of one attention and of one feed-forward network, without norms (under 1 %).
int64_t attention_parameters(const ModelConfig& c) {
  const int64_t d = c.d_model;
  return (c.output_projection ? 4 : 3) * (d * d + d) + 2 * d;
}
int64_t feed_forward_parameters(const ModelConfig& c) {
  const int64_t d = c.d_model, f = c.feed_forward;
  return 2 * d * f + d + f + 2 * d;
}

}  // namespace

StackContext context_of(const ModelConfig& config, bool decoder) {
  const bool both = config.architecture == Architecture::EncoderDecoder;
  const int encoder = config.encoder_layers > 0 && both ? config.encoder_layers : config.layers;
  if (!both) return {decoder, config.layers, 0};
  return decoder ? StackContext{true, config.layers, encoder} : StackContext{false, encoder, config.layers};
}

void set_placement(ModelConfig& config, Placement placement) {
  config.encoder = preset_stack(placement, config.norm, context_of(config, false));
  config.decoder = preset_stack(placement, config.norm, context_of(config, true));
}

void validate(const ModelConfig& c) {
  check_memory(c);
  if (c.architecture == Architecture::Convolutional) return validate_convolutions(c);
  check_positive("layers", c.layers);
  check_positive("d_model", c.d_model);
  check_positive("heads", c.heads);
  check_positive("feed_forward", c.feed_forward);
  check_positive("sequence", c.sequence);
  check_positive("vocabulary", c.vocabulary);
  const bool parser = c.architecture == Architecture::Parser;
  if (!parser && c.d_model % c.heads != 0)
    fail("model", "d_model {} is not a multiple of {} heads: expected d_model = heads x head width",
         c.d_model, c.heads);
  if (c.norm == NormKind::None)
    fail("model", "norm is none: choose placement none for a model without norms");
  check_probability("dropout_residual", c.dropout_residual);
  check_probability("dropout_attention", c.dropout_attention);
  check_probability("dropout_activation", c.dropout_activation);
  if (c.architecture != Architecture::Encoder) check_stack("decoder", c.decoder, c.layers);
  if (c.architecture != Architecture::Decoder && !parser)
    check_stack("encoder", c.encoder, context_of(c, false).layers);
  if (parser) check_parser(c);
  if (!parser && c.init == InitRule::LookLinear && c.feed_forward % 2 != 0)
    fail("model", "init looklinear mirrors half of the {} hidden features: expected an even feed_forward",
         c.feed_forward);
  if (c.classes > 0 && c.architecture != Architecture::Encoder && !parser)
    fail("model", "only an encoder classifies: expected architecture encoder, or no classes");
  if (c.gaussian_input && c.architecture == Architecture::EncoderDecoder)
    fail("model", "a Gaussian input is for a single stack: expected architecture decoder or encoder");
  if (c.gaussian_input && c.tied_output)
    fail("model", "a Gaussian input has no embedding to tie the output to: expected tied = false");
}

int64_t estimated_bytes(const ModelConfig& c, int32_t batch) {
  if (c.architecture == Architecture::Convolutional) return convolution_bytes(c, batch);
  const int64_t rows = int64_t{batch} * c.sequence, d = c.d_model, f = c.feed_forward, v = c.vocabulary;
  if (c.architecture == Architecture::Parser)  // a row: its features, and matrix, norm and activation a layer
    return 4 * (4 * (v * d + parser_products(c)) + 2 * (rows * d + batch * (3 * c.layers * f + c.classes)));
  const int64_t tables = c.architecture == Architecture::EncoderDecoder && !c.shared_embedding ? 2 : 1;
  int64_t parameters = v * d * (tables + (c.tied_output ? 0 : 1)) + tables * c.sequence * d,
          activations = 2 * rows * (d + v);
  // An attention has q k v heads out sum norm with its probabilities, a feed-forward network two of width F and three
  // of width D, each with its gradient.
  for (const Stack& t : stacks_of(c)) {
    parameters += t.layers * (t.attentions * attention_parameters(c) + feed_forward_parameters(c));
    activations += t.layers * (t.attentions * (2 * rows * 7 * d + rows * c.heads * c.sequence) +
                               2 * rows * (5 * d + 2 * f));
  }
  if (c.positions == Positions::Relative) {
    const int64_t memory = int64_t{batch} * c.memory, keys = c.sequence + c.memory;
    parameters += c.layers * (d * d + 2 * d) + keys * d;
    // both queries, keys and values of the memory and of all; the memory itself, its norm
    activations +=
        c.layers * (2 * rows * 4 * d + 2 * memory * 5 * d + rows * c.heads * c.memory + 2 * keys * d);
  }
  return 4 * (4 * parameters + activations);
}

double step_flop(const ModelConfig& c, int32_t batch) {
  if (c.architecture == Architecture::Convolutional) return convolution_flop(c, batch);
  const double d = c.d_model, f = c.feed_forward, v = c.vocabulary, t = c.sequence, rows = batch * t;
  if (c.architecture == Architecture::Parser) return 6.0 * batch * static_cast<double>(parser_products(c));
  double flop = 6 * d * v * rows;
  for (const Stack& stack_layout : stacks_of(c)) {
    const auto l = static_cast<double>(stack_layout.layers), a = static_cast<double>(stack_layout.attentions);
    flop += l * (6 * (a * 4 * d * d + 2 * d * f) * rows + 12 * a * rows * t * d);
  }
  if (c.positions == Positions::Relative) {
    const double l = c.layers, m = c.memory;
    flop += l * (rows * d * (18 * (t + m) - 12 * t) + 8 * batch * m * d * d);
  }
  return flop;
}

}  // namespace normscope
