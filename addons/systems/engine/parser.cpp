#include "addons/systems/engine/parser.h"

#include "engine/core/error.h"
#include "engine/model/recorder.h"

namespace normscope {
namespace {

constexpr int32_t kUsualRelations =
    37;  // of Universal Dependencies, each with an arc to the left and to the right

/// Each function is one line of the formulas at the head of parser.h.
class ParserRecorder : Recorder {
 public:
  using Recorder::Recorder;

  ModelValues up_to_logits() {
    ModelValues values;
    values.tokens = tape.input("tokens", {options.batch, config.sequence}, DType::I32);
    ValueId x = values.embedding = joined_features(values.tokens);
    for (int32_t l = 1; l <= config.layers; ++l) x = hidden_layer(l, x);
    values.hidden = x;
    values.logits = product("class", "logits", x, config.classes);
    return values;
  }

  ModelValues record() {
    const int64_t B = options.batch;
    ModelValues values = up_to_logits();
    values.targets = tape.input("targets", {B}, DType::I32);
    const ValueId weights = options.row_weights ? tape.input("weights", {B}, DType::F32) : kNone;
    values.loss = softmax_xent(tape, "loss", values.logits, values.targets, weights);
    return values;
  }

 private:
  /// The features' rows, of unit variance at the start like a transformer's tokens, joined.
  ValueId joined_features(ValueId tokens) {
    const double root = std::sqrt(static_cast<double>(config.d_model));
    const ValueId table =
        parameter("emb.tokens", {config.vocabulary, config.d_model}, {Init::Kind::Normal, 1.0 / root});
    return embedding(tape, "emb", tokens, table, kNone, static_cast<float>(root), true);
  }

  ValueId hidden_layer(int32_t l, ValueId x) {
    const std::string name = fmt::format("L{:02}.hidden", l);
    begin(l);
    const Wiring& wiring = config.stack().layers[static_cast<size_t>(l - 1)].feed_forward;
    x = product(name, name + ".1", x, config.feed_forward);
    store.mark_hidden(name + ".w");
    x = norm(name + ".norm", wiring.before, x);
    x = activated(name + ".act", x);
    x = drop(name + ".drop", DropoutKind::Activation, config.dropout_activation, x);
    if (options.probes)
      tape.probe({name + ".out.mean_square", ProbeSpec{ProbeKind::MeanSquare}, x, false, l, kNone});
    begin(0);
    return x;
  }

  ValueId product(const std::string& name, const std::string& node, ValueId x, int64_t out) {
    const int64_t in = tape.shape(x).cols();
    const ValueId w = parameter(name + ".w", {in, out}, matrix_init(in, out, 1));
    const ValueId b = parameter(name + ".b", {out}, {Init::Kind::Zeros, 0.0});
    return linear(tape, node, x, w, b);
  }
};

/// A hidden layer has the first matrix, the norm before and the activation of a feed-forward network; everything else
/// in a wiring is refused.
void validate_parser(const ModelConfig& c) {
  check_sizes(c);
  check_stack("decoder", c, c.stack(), c.layers);
  for (const LayerWiring& layer : c.stack().layers) {
    Wiring plain;
    plain.before = layer.feed_forward.before;
    if (!(layer.feed_forward == plain))
      fail("model.placement",
           "a parser has no residual stream, only norms before activations: expected pre or none");
  }
}

/// The number of weights without table, norms and biases.
int64_t parser_products(const ModelConfig& c) {
  const int64_t f = c.feed_forward;
  return int64_t{c.sequence} * c.d_model * f + (c.layers - 1) * f * f + f * c.classes;
}

/// Activations of a row: its features, and product, norm and activation of each layer.
int64_t parser_bytes(const ModelConfig& c, int32_t batch) {
  const int64_t features = int64_t{c.sequence} * c.d_model, table = int64_t{c.vocabulary} * c.d_model,
                hidden = 3 * int64_t{c.layers} * c.feed_forward;
  return 4 * (4 * (table + parser_products(c)) + 2 * batch * (features + hidden + c.classes));
}

/// 6 B (T d f + (L-1) f^2 + f classes)
double parser_flop(const ModelConfig& c, int32_t batch) {
  return 6.0 * batch * static_cast<double>(parser_products(c));
}

void check(const ModelConfig& config) {
  validate(config);
  if (config.classes < 1) fail("model", "a parser without transitions: expected the classes of its data");
}

/// For training and evaluation: inputs "tokens" (B,T) and "targets" (B; -1 ignored); logits and loss. There are no
/// sub-layers to measure; probes are the mean squares of the hidden layers' outputs. Called by record_model.
ModelValues record_parser(Tape& tape, const ModelConfig& config, const RecordOptions& options) {
  check(config);
  if (options.sequence != config.sequence)
    fail("model", "rows of {} features for a parser that reads {}: expected as many", options.sequence,
         config.sequence);
  return ParserRecorder(tape, config, options).record();
}

}  // namespace

ValueId record_transition_logits(Tape& tape, const ModelConfig& config, int32_t rows) {
  check(config);
  const RecordOptions options{.batch = rows, .training = false, .probes = false};
  return ParserRecorder(tape, config, options).up_to_logits().logits;
}

constinit const ArchitectureRow parser_architecture{
    .name = "parser",
    .learner = "a parser",
    .record = record_parser,
    .validate = validate_parser,
    .bytes = parser_bytes,
    .flop = parser_flop,
    .part = "hidden",
    .one_target = true,
    .fit_usual_data = [](ModelConfig& config) { config.classes = 2 * kUsualRelations + 1; }};

}  // namespace normscope
