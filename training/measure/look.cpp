#include "training/measure/look.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "engine/tape/seal.h"

namespace normscope {
namespace {

bool has_input(const Program& program, std::string_view name) {
  return std::ranges::any_of(program.data().values, [&](const ValueInfo& v) { return v.name == name; });
}

std::span<int32_t> input_if_there(Program& program, std::string_view name) {
  return has_input(program, name) ? program.tokens(name) : std::span<int32_t>();
}

constexpr const char* kSquare = ".gradient.mean_square";

/// The last product that was recorded with a matrix of the sub-layer.
const Node* last_product_of(std::span<const Node> nodes, std::span<const ValueInfo> values,
                            const std::string& sublayer) {
  const Node* last = nullptr;
  for (const Node& node : nodes)
    if (node.op == LinearSpec::kOp &&
        values[static_cast<size_t>(node.in[1])].name.starts_with(sublayer + "."))
      last = &node;
  return last;
}

bool is_trained_matrix(const Store& store, const ValueInfo& value) {
  return value.role == Role::Parameter && value.shape.rank == 2 &&
         store.parameters()[static_cast<size_t>(value.parameter)].trainable;
}

}  // namespace

RecordOptions record_options(const BatchShape& shape, bool training, int32_t memory) {
  return {.batch = shape.rows,
          .sequence = shape.length,
          .source_sequence = shape.source_length,
          .key_lengths = shape.padded,
          .memory = memory,
          .training = training,
          .probes = training};
}

BatchShape shape_of(const Batch& batch) {
  const int32_t source = batch.B > 0 ? static_cast<int32_t>(batch.source.size()) / batch.B : 0;
  const bool one_target = batch.targets.size() < batch.tokens.size();
  return {batch.B, batch.T, source, !batch.key_lengths.empty(), one_target, !batch.types.empty()};
}

BatchView inputs_of(Program& program, const BatchShape& shape) {
  BatchView view;
  view.tokens = input_if_there(program, "tokens");  // images have none
  view.targets = program.tokens("targets");
  if (shape.source_length > 0) view.source = program.tokens("source");
  if (shape.padded) view.key_lengths = program.tokens("key_lengths");
  if (shape.typed) view.types = input_if_there(program, "types");   // an edit may have taken the table away
  view.target_lengths = input_if_there(program, "target_lengths");  // without probes it is not recorded
  return view;
}

void put(const Batch& batch, Program& program) {
  const BatchView to = inputs_of(program, shape_of(batch));
  if (!to.tokens.empty()) std::ranges::copy(batch.tokens, to.tokens.begin());
  std::ranges::copy(batch.targets, to.targets.begin());
  std::ranges::copy(batch.source, to.source.begin());
  std::ranges::copy(batch.key_lengths, to.key_lengths.begin());
  if (!to.target_lengths.empty()) std::ranges::copy(batch.target_lengths, to.target_lengths.begin());
  if (!to.types.empty()) std::ranges::copy(batch.types, to.types.begin());
  if (!batch.x.empty()) std::ranges::copy(batch.x, program.floats("x").begin());
}

Look::Look(Store& store, const ModelConfig& model, const BatchShape& shape, Gradients gradients,
           bool probabilities)
    : model_(model), rows_(shape.rows), program_(record(store, shape, gradients, probabilities)) {}

Look::Look(Store& store, const ModelConfig& model, const Batch& batch) : Look(store, model, shape_of(batch)) {
  put(batch);
}

Program Look::record(Store& store, const BatchShape& shape, Gradients gradients, bool probabilities) {
  Tape tape(store);
  RecordOptions options = record_options(shape, false);
  options.probes = true;  // they bring the length of a padded target row
  values_ = record_model(tape, model_, options);
  if (!probabilities)
    for (SublayerValues& s : values_.sublayers) s.probabilities = kNone;
  std::vector<ValueId> states{values_.embedding};
  for (const SublayerValues& s : values_.sublayers) {
    states.push_back(s.output);
    const Node* product = last_product_of(tape.nodes(), tape.values(), s.name);
    if (gradients == Gradients::Products && product) states.push_back(product->out);
  }
  const bool backward = gradients != Gradients::None, norms = backward && gradients != Gradients::Kept;
  for (size_t v = 0; v < tape.values().size() && norms; ++v)
    if (const ValueInfo& value = tape.values()[v]; is_trained_matrix(store, value))
      tape.probe({value.name + kSquare, ProbeSpec{ProbeKind::MeanSquare}, static_cast<ValueId>(v), true});
  return seal(tape, {.loss = values_.loss,
                     .backward = backward,
                     .update = kNoOp,
                     .reuse_bytes = backward,
                     .kept_gradients = states,
                     .keep_parameter_gradients = gradients == Gradients::Kept,
                     .keep_probabilities = probabilities});
}

double Look::gradient_norm(const std::string& matrix) const {
  const double square = program_.stat(matrix + kSquare);  // throws for another name
  const Store& store = *program_.data().store;
  const auto numbers = store.parameters()[static_cast<size_t>(store.find(matrix))].shape.size();
  return std::sqrt(square * static_cast<double>(numbers));
}

LiveMeasurements& Look::live() {
  if (!live_) live_.emplace(program_, values_, model_, rows_);
  return *live_;
}

const Shape& Look::shape(ValueId value) const {
  return program_.data().values[static_cast<size_t>(value)].shape;
}

const Node* Look::last_product(const SublayerValues& sublayer) const {
  return last_product_of(program_.data().nodes, program_.data().values, sublayer.name);
}

std::vector<float> Look::read(ValueId value) const {
  std::vector<float> host(static_cast<size_t>(shape(value).size()));
  program_.read_part(value, host);
  return host;
}

std::vector<float> Look::read_gradient(ValueId value) const {
  return program_.read(program_.data().values[static_cast<size_t>(value)].name, true);
}

void Look::measure(std::span<double> out) {
  replay();
  live().measure(out);
}

std::vector<double> Look::measure() {
  replay();
  return numbers();
}

std::vector<double> Look::numbers() {
  std::vector<double> numbers(layout().size());
  live().measure(numbers);
  return numbers;
}

}  // namespace normscope
