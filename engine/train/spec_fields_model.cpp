// Field table, first part: what the network is. All of it is structural: a change restarts or forks a run.
#include <algorithm>

#include "train/spec_fields.h"

namespace normscope {
namespace {

constexpr std::string_view kActivations[] = {"relu", "gelu"};
constexpr std::string_view kInits[] = {"xavier", "theory", "normal002"};
constexpr std::string_view kPositions[] = {"learned", "sinusoidal", "none"};

// Enumerations whose values count up from zero in the order of their names.
template <typename Enum, size_t N>
Enum enum_from(const std::string_view (&names)[N], std::string_view name) {
  return static_cast<Enum>(std::find(names, names + N, name) - names);
}
template <size_t N>
std::vector<std::string_view> all(const std::string_view (&names)[N]) {
  return {names, names + N};
}

Placement placement_of(const ModelConfig& model) {
  return placement_of(model.stack(), context_of(model, model.architecture != Architecture::Encoder));
}

// A new depth keeps a preset a preset; a custom wiring is cut, or grows by copies of its last layer.
void set_layers(RunSpec& spec, int32_t layers) {
  const Placement placement = placement_of(spec.model);
  spec.model.layers = layers;
  if (placement != Placement::Custom) return set_placement(spec.model, placement);
  auto& stack = spec.model.stack().layers;
  const LayerWiring last = stack.empty() ? LayerWiring{} : stack.back();
  stack.resize(static_cast<size_t>(layers), last);
}

void replace_norms(LayerWiring& layer, NormKind kind) {
  for (Wiring* wiring : {&layer.attention, &layer.cross, &layer.feed_forward})
    for (Slot which : {Slot::Before, Slot::After, Slot::Trunk})
      if (slot(*wiring, which) != NormKind::None) slot(*wiring, which) = kind;
}

// Every norm that stands somewhere becomes one of the new kind.
void set_norm(RunSpec& spec, NormKind kind) {
  const Placement placement = placement_of(spec.model);
  spec.model.norm = kind;
  if (placement != Placement::Custom) return set_placement(spec.model, placement);
  StackWiring& stack = spec.model.stack();
  for (LayerWiring& layer : stack.layers) replace_norms(layer, kind);
  for (NormKind* at : {&stack.embedding, &stack.final})
    if (*at != NormKind::None) *at = kind;
}

Field layers_field() {
  Field field = field_of(FieldType::Integer,
                         {"model.layers", "layers", "",
                          "How many layers are stacked; each is attention followed by a feed-forward network."},
                         1, 256);
  field.get = [](const RunSpec& spec) { return std::to_string(spec.model.layers); };
  field.set = [](RunSpec& spec, std::string_view text) {
    int64_t value = 0;
    if (parse_integer(text, value)) set_layers(spec, static_cast<int32_t>(value));
  };
  return field;
}

Field sequence_field() {
  Field field = field_of(FieldType::Integer,
                         {"model.sequence", "sequence", "symbols",
                          "How many symbols the model sees at once; attention can look back no further."},
                         2, 4096);
  field.get = [](const RunSpec& spec) { return std::to_string(spec.model.sequence); };
  field.set = [](RunSpec& spec, std::string_view text) {
    int64_t value = 0;
    if (!parse_integer(text, value)) return;
    spec.model.sequence = static_cast<int32_t>(value);
    spec.data.context = spec.model.sequence;
  };
  return field;
}

Field norm_field() {
  Field field = field_of(FieldType::Choice, {"model.norm", "norm", "",
                                             "Which normalization stands in the slots: ln centres, scales and has a "
                                             "learned gain and bias; rms only scales; simple is ln without gain and bias."});
  field.choices = {"ln", "simple", "rms"};
  field.get = [](const RunSpec& spec) { return std::string(short_name(spec.model.norm)); };
  field.set = [](RunSpec& spec, std::string_view name) { set_norm(spec, norm_from(trimmed(name))); };
  return field;
}

Field placement_field() {
  Field field = field_of(
      FieldType::Choice,
      {"model.placement", "placement", "",
       "Where the norms stand, for all layers at once. Post-LN puts them on the trunk, Pre-LN inside the branches."});
  for (Placement placement : kPresets) field.choices.push_back(to_string(placement));
  field.choices.push_back(to_string(Placement::Custom));
  field.get = [](const RunSpec& spec) { return std::string(to_string(placement_of(spec.model))); };
  field.set = [](RunSpec& spec, std::string_view name) {
    // "custom" keeps what stands: the wiring.* keys say what it is.
    if (trimmed(name) != to_string(Placement::Custom)) set_placement(spec.model, placement_from(trimmed(name)));
  };
  return field;
}

}  // namespace

void add_model_fields(std::vector<Field>& fields) {
  fields.push_back(layers_field());
  fields.push_back(integer<[](RunSpec& s) -> int32_t& { return s.model.width; }>(
      {"model.width", "width", "features",
       "How many numbers describe a symbol on its way through the model. Must be a multiple of the heads."},
      2, 8192));
  fields.push_back(integer<[](RunSpec& s) -> int32_t& { return s.model.heads; }>(
      {"model.heads", "heads", "", "Into how many parallel attentions the width is cut."}, 1, 128));
  fields.push_back(integer<[](RunSpec& s) -> int32_t& { return s.model.feed_forward; }>(
      {"model.feed_forward", "feed-forward", "features",
       "Width of the hidden layer of each feed-forward network; four times the width is usual."},
      1, 65536));
  fields.push_back(sequence_field());
  fields.push_back(norm_field());
  fields.push_back(placement_field());
  fields.push_back(choice<[](RunSpec& s) -> InitRule& { return s.model.init; },
                          [](InitRule rule) { return kInits[static_cast<size_t>(rule)]; },
                          [](std::string_view name) { return enum_from<InitRule>(kInits, name); }>(
      {"model.init", "init", "",
       "How the weights start. xavier fits each matrix's size; theory is the setting of Xiong et al. (2020) with silent "
       "attention; normal002 is a fixed spread of 0.02, as in BERT."},
      all(kInits)));
  fields.push_back(choice<[](RunSpec& s) -> Activation& { return s.model.activation; },
                          [](Activation a) { return kActivations[static_cast<size_t>(a)]; },
                          [](std::string_view name) { return enum_from<Activation>(kActivations, name); }>(
      {"model.activation", "activation", "", "The nonlinearity inside the feed-forward networks."}, all(kActivations)));
  fields.push_back(choice<[](RunSpec& s) -> Positions& { return s.model.positions; },
                          [](Positions p) { return kPositions[static_cast<size_t>(p)]; },
                          [](std::string_view name) { return enum_from<Positions>(kPositions, name); }>(
      {"model.positions", "positions", "", "How the model is told the place of a symbol in the sequence."},
      all(kPositions)));
  fields.push_back(flag<[](RunSpec& s) -> bool& { return s.model.tied_output; }>(
      {"model.tied", "tied output", "", "The output layer reuses the embedding table instead of a matrix of its own."}));
  fields.push_back(flag<[](RunSpec& s) -> bool& { return s.model.output_projection; }>(
      {"model.output_projection", "output projection", "",
       "Attention ends in a matrix that mixes its heads. The theory setting has none."}));
  fields.push_back(real<[](RunSpec& s) -> float& { return s.model.eps; }>(
      {"model.eps", "norm epsilon", "", "Added to the variance inside each norm, against division by zero."}, 0, 1));
  fields.push_back(real<[](RunSpec& s) -> float& { return s.model.dropout_residual; }>(
      {"model.dropout_residual", "dropout", "", "Share of each branch's output that is set to zero at random in training."},
      0, 0.99));
  fields.push_back(real<[](RunSpec& s) -> float& { return s.model.dropout_attention; }>(
      {"model.dropout_attention", "attention dropout", "", "Share of the attention weights that is set to zero at random."},
      0, 0.99));
  fields.push_back(real<[](RunSpec& s) -> float& { return s.model.dropout_activation; }>(
      {"model.dropout_activation", "activation dropout", "",
       "Share of the feed-forward hidden layer that is set to zero at random."},
      0, 0.99));
}

}  // namespace normscope
