// See parser.h.
#include "engine/model/parser.h"

#include <fmt/format.h>

#include <cmath>

#include "engine/core/error.h"
#include "engine/model/blocks.h"
#include "engine/ops/ops.h"

namespace normscope {
namespace {

constexpr ProbeSpec kMeanSquare{ProbeKind::MeanSquare};

/// Xavier's, as the matrices of a transformer start (init_rule.h).
Init matrix_start(int64_t in, int64_t out) {
  return {Init::Kind::Normal, std::sqrt(2.0 / static_cast<double>(in + out))};
}

ValueId product(Tape& tape, const std::string& name, const std::string& node, ValueId x, int64_t out,
                int32_t layer) {
  const int64_t in = tape.shape(x).cols();
  const ValueId w = record_parameter(tape, name + ".w", {in, out}, matrix_start(in, out), layer);
  const ValueId b = record_parameter(tape, name + ".b", {out}, {Init::Kind::Zeros, 0.0}, layer);
  return linear(tape, node, x, w, b);
}

/// The rows of the features, of unit variance at the start like a transformer's tokens, side by side.
ValueId joined_features(Tape& tape, const ModelConfig& config, ValueId tokens) {
  const double root = std::sqrt(static_cast<double>(config.d_model));
  const ValueId table = record_parameter(tape, "emb.tokens", {config.vocabulary, config.d_model},
                                         {Init::Kind::Normal, 1.0 / root}, 0);
  return embedding(tape, "emb", tokens, table, kNone, static_cast<float>(root), true);
}

ValueId hidden_layer(Tape& tape, const ModelConfig& config, int32_t l, ValueId x, bool training) {
  const std::string name = fmt::format("L{:02}.hidden", l);
  tape.set_layer(l);
  const Wiring& wiring = config.stack().layers[static_cast<size_t>(l - 1)].feed_forward;
  x = product(tape, name, name + ".1", x, config.feed_forward, l);
  x = record_norm(tape, config, name + ".norm", wiring.before, x, l);
  x = record_activation(tape, config, name + ".act", x);
  if (training && config.dropout_activation > 0)
    x = dropout(tape, name + ".drop", x, DropoutKind::Activation);
  tape.set_layer(0);
  return x;
}

ModelValues record(Tape& tape, const ModelConfig& config, ValueId tokens, bool training, bool probes) {
  if (config.classes < 1) fail("model", "a parser without transitions: expected the classes of its data");
  ModelValues values;
  values.tokens = tokens;
  ValueId x = values.embedding = joined_features(tape, config, tokens);
  for (int32_t l = 1; l <= config.layers; ++l) {
    x = hidden_layer(tape, config, l, x, training);
    if (probes) tape.probe({fmt::format("L{:02}.hidden.out.mean_square", l), kMeanSquare, x, false, l});
  }
  values.hidden = x;
  values.logits = product(tape, "class", "logits", x, config.classes, 0);
  return values;
}

}  // namespace

ModelValues record_parser(Tape& tape, const ModelConfig& config, const RecordOptions& options) {
  if (options.sequence != config.sequence)
    fail("model", "rows of {} features for a parser that reads {}: expected as many", options.sequence,
         config.sequence);
  const ValueId tokens = tape.input("tokens", {options.batch, options.sequence}, DType::I32);
  const ValueId targets = tape.input("targets", {options.batch}, DType::I32);
  ModelValues values = record(tape, config, tokens, options.training, options.probes);
  values.targets = targets;
  const ValueId weights = options.row_weights ? tape.input("weights", {options.batch}, DType::F32) : kNone;
  values.loss = softmax_xent(tape, "loss", values.logits, targets, weights);
  return values;
}

ValueId record_transition_logits(Tape& tape, const ModelConfig& config, int32_t rows) {
  validate(config);
  const ValueId tokens = tape.input("tokens", {rows, config.sequence}, DType::I32);
  return record(tape, config, tokens, false, false).logits;
}

}  // namespace normscope
