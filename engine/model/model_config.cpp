#include "model/model_config.h"

#include "core/error.h"

namespace normscope {
namespace {

void check_positive(std::string_view what, int64_t value) {
  if (value < 1) fail("model", "{} is {}: expected at least 1", what, value);
}

void check_probability(std::string_view what, float p) {
  if (!(p >= 0 && p < 1)) fail("model", "{} is {}: expected 0 <= p < 1", what, p);
}

void check_stack(const char* what, const StackWiring& stack, int32_t layers) {
  if (static_cast<int64_t>(stack.layers.size()) != layers)
    fail("model", "the {}'s wiring has {} layers and the model {}: expected as many", what, stack.layers.size(), layers);
}

/// Floats of one sub-layer's attention and feed-forward parameters, norms left out: they are under one percent.
int64_t layer_parameters(const ModelConfig& c) {
  const int64_t d = c.width, f = c.feed_forward;
  return (c.output_projection ? 4 : 3) * (d * d + d) + 2 * d * f + d + f + 4 * d;
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
  check_positive("layers", c.layers);
  check_positive("width", c.width);
  check_positive("heads", c.heads);
  check_positive("feed_forward", c.feed_forward);
  check_positive("sequence", c.sequence);
  check_positive("vocabulary", c.vocabulary);
  if (c.width % c.heads != 0)
    fail("model", "width {} is not a multiple of {} heads: expected width = heads x head width", c.width, c.heads);
  if (c.norm == NormKind::None) fail("model", "norm is none: choose placement none for a model without norms");
  check_probability("dropout_residual", c.dropout_residual);
  check_probability("dropout_attention", c.dropout_attention);
  check_probability("dropout_activation", c.dropout_activation);
  if (c.architecture != Architecture::Encoder) check_stack("decoder", c.decoder, c.layers);
  if (c.architecture != Architecture::Decoder) check_stack("encoder", c.encoder, context_of(c, false).layers);
  if (c.classes > 0 && c.architecture != Architecture::Encoder)
    fail("model", "only an encoder classifies: expected architecture encoder, or no classes");
  if (c.gaussian_input && c.architecture == Architecture::EncoderDecoder)
    fail("model", "a Gaussian input is for a single stack: expected architecture decoder or encoder");
  if (c.gaussian_input && c.tied_output)
    fail("model", "a Gaussian input has no embedding to tie the output to: expected tied = false");
}

int64_t estimated_bytes(const ModelConfig& c, int32_t batch) {
  const int64_t rows = int64_t{batch} * c.sequence, d = c.width, f = c.feed_forward, v = c.vocabulary;
  const int64_t parameters = c.layers * layer_parameters(c) + v * d * (c.tied_output ? 1 : 2) + c.sequence * d;
  // Per layer: q k v heads out sum norm for attention, two of width F and three of width D for the feed-forward part,
  // each with its gradient, and the probabilities.
  const int64_t layer = 2 * rows * (9 * d + 2 * f + 3 * d) + rows * c.heads * c.sequence;
  return 4 * (4 * parameters + c.layers * layer + 2 * rows * (d + v));
}

double step_flop(const ModelConfig& c, int32_t batch) {
  const double l = c.layers, d = c.width, f = c.feed_forward, v = c.vocabulary, t = c.sequence, b = batch;
  return 6 * (l * (4 * d * d + 2 * d * f) + d * v) * b * t + 12 * l * b * t * t * d;
}

}  // namespace normscope
