// The field table: what the network is, all of which is structural (a change restarts or forks a run), then how it is
// trained.
#include "training/spec/spec_fields.h"

#include <algorithm>
#include <map>

#include "engine/model/residual.h"
#include "training/data/task.h"
#include "training/spec/update_rule.h"

namespace normscope {
namespace {

/// Whether the model has a norm of a kind that `wanted` accepts.
template <auto wanted>
bool any_norm(const RunSpec& s) {
  const auto in = [](const StackWiring& stack) {
    const auto accepted = [](NormKind kind) { return kind != NormKind::None && wanted(kind); };
    for (const LayerWiring& layer : stack.layers)
      for (const Wiring* w : {&layer.attention, &layer.cross, &layer.feed_forward})
        for (NormKind kind : norms_of(*w))
          if (accepted(kind)) return true;
    return std::ranges::any_of(norms_of(stack), accepted);
  };
  return in(s.model.stack()) || (has_both(s.model) && in(s.model.encoder));
}

bool has_both(const RunSpec& s) { return has_both(s.model); }

/// Whether a matrix keeps the size that it starts with, which unit vectors do not.
bool any_keeps_size(const RunSpec& s) {
  const auto keeps = [](const LayerWiring& layer) {
    return !has_unit_vectors(layer.attention) || !has_unit_vectors(layer.feed_forward);
  };
  return std::ranges::any_of(s.model.stack().layers, keeps) ||
         (has_both(s) && std::ranges::any_of(s.model.encoder.layers, keeps));
}

/// Whether the architecture reads the fields of this kind, as each that is no add-on's does.
bool reads(const RunSpec& s, bool ArchitectureRuns::*fields) {
  const ArchitectureRuns* added = added_runs(s.model.architecture);
  return !added || added->*fields;
}

bool transforms(const RunSpec& s) { return is_transformer(s.model.architecture); }
bool classifies(const RunSpec& s) { return is_labelled(s.data.name); }
bool predicts_symbols(const RunSpec& s) { return transforms(s) && !classifies(s); }
bool fills_in(const RunSpec& s) { return s.model.architecture == Architecture::Encoder && !classifies(s); }
bool minds_width(const RunSpec& s) { return s.model.transfer != Transfer::None; }
bool has_moments(const RunSpec& s) { return keeps_second_moment(s.train.optimizer); }

/// The kind of the data; kinds that nobody knows are refused before.
const TaskKind& kind_of(const RunSpec& s) {
  const TaskKind* const kind = find_kind(s.data.name);
  return kind ? *kind : kCorpusKind;
}

bool reads_valid(const RunSpec& s) {
  const TaskKind& kind = kind_of(s);
  return kind.takes_validation && (kind.made_up.empty() || !path_of(s.data).empty());
}

using When = Field::Condition;
constexpr When kTransformer{transforms, "model.architecture", "a transformer"};
constexpr When kOneStack{[](const RunSpec& s) { return transforms(s) && !has_both(s); }, "model.architecture",
                         "decoder or encoder"};
constexpr When kTwoStacks{has_both, "model.architecture", "encoder-decoder"};
constexpr When kSized{[](const RunSpec& s) { return reads(s, &ArchitectureRuns::sized); },
                      "model.architecture"};
constexpr When kStarted{[](const RunSpec& s) { return reads(s, &ArchitectureRuns::started); },
                        "model.architecture"};
constexpr When kFillsIn{fills_in, "model.architecture", "encoder, with symbols to predict"};
constexpr When kPlainHead{
    [](const RunSpec& s) { return predicts_symbols(s) && !(fills_in(s) && s.model.masked_head); },
    "model.masked_head", "a head without a bias of its own"};
constexpr When kWindow{[](const RunSpec& s) { return transforms(s) && s.model.attention.window > 0; },
                       "model.attention_window", "a window"};
constexpr When kProjected{[](const RunSpec& s) { return transforms(s) && s.model.output_projection; },
                          "model.output_projection", "true"};
constexpr When kTransferred{minds_width, "model.transfer"};
constexpr When kDeepened{[](const RunSpec& s) { return minds_width(s) && s.model.transfer != Transfer::Mup; },
                         "model.transfer"};
constexpr When kNorms{any_norm<[](NormKind) { return true; }>, "model.placement", "one with norms"};
constexpr When kGain{any_norm<has_gain>, "model.norm", "ln, rms, dyt or derf"};
constexpr When kDivides{any_norm<[](NormKind kind) { return traits_of(kind).has_statistics; }>, "model.norm",
                        "a norm that divides"};
constexpr When kAdaNorm{any_norm<[](NormKind kind) { return traits_of(kind).has_factor; }>, "model.norm",
                        "adanorm"};
constexpr When kCurved{any_norm<has_alpha>, "model.norm", "dyt or derf"};
constexpr When kWarmsBySteps{[](const RunSpec& s) { return s.train.schedule.target <= 0; },
                             "train.warmup_target", "0"};
constexpr When kReference{[](const RunSpec& s) { return row_of(s.train.schedule.kind).reads_reference; },
                          "train.schedule"};
constexpr When kEnds{[](const RunSpec& s) { return row_of(s.train.schedule.kind).has_end; },
                     "train.schedule"};
constexpr When kMilestones{[](const RunSpec& s) { return row_of(s.train.schedule.kind).reads_milestones; },
                           "train.schedule"};
constexpr When kMoments{has_moments, "train.optimizer"};
constexpr When kCorrection{
    [](const RunSpec& s) { return has_moments(s) && rule_of(s.train.optimizer).rectified == Rectified::No; },
    "train.optimizer"};
constexpr When kMomentum{[](const RunSpec& s) { return rule_of(s.train.optimizer).reads_momentum; },
                         "train.optimizer"};
constexpr When kSymbols{predicts_symbols, "data.name", "symbols to predict"};
constexpr When kClasses{classifies, "data.name", "labels, word-order or mood"};
constexpr When kValidates{reads_valid, "data.name", "answers from a file"};
constexpr When kCutsText{[](const RunSpec& s) { return kind_of(s).takes_tokenizer; }, "data.name"};
constexpr When kGoesOn{[](const RunSpec& s) { return kind_of(s).goes_on; }, "data.name"};
constexpr When kSeeded{[](const RunSpec& s) { return kind_of(s).seeded && path_of(s.data).empty(); },
                       "data.name", "data that are made up"};

Positions positions_from(std::string_view name) {
  return static_cast<Positions>(std::ranges::find(kPositions, name, &PositionsRow::name) - kPositions);
}
std::vector<std::string_view> position_names() {
  std::vector<std::string_view> names;
  for (const PositionsRow& row : kPositions) names.push_back(row.name);
  return names;
}
constexpr std::string_view kPoolings[] = {"first", "mean"};
constexpr std::string_view kSame = "same";

// The placement of the decoder of an encoder-decoder, or of the only stack.
Placement placement_of(const ModelConfig& model) {
  return placement_of(model.stack(), context_of(model, model.architecture != Architecture::Encoder));
}
Placement encoder_placement_of(const ModelConfig& model) {
  return placement_of(model.encoder, context_of(model, false));
}

// Changes a stack's depth: a preset stays one; a custom wiring is cut, or grows by copies of its last layer.
void resize(StackWiring& stack, Placement placement, NormKind norm, const StackContext& context) {
  if (placement != Placement::Custom) {
    stack = preset_stack(placement, norm, context);
    return;
  }
  const LayerWiring last = stack.layers.empty() ? LayerWiring{} : stack.layers.back();
  stack.layers.resize(static_cast<size_t>(context.layers), last);
}

// Changes what the wirings depend on (depths, architecture) and fits them to it.
template <typename Change>
void reshape(RunSpec& spec, Change change) {
  ModelConfig& model = spec.model;
  const Placement own = placement_of(model), encoder = has_both(model) ? encoder_placement_of(model) : own;
  const Architecture before = model.architecture;
  change(model);
  if (before != model.architecture) {
    // The former stack serves for both kinds.
    const StackWiring from = before == Architecture::Encoder ? model.encoder : model.decoder;
    if (before != Architecture::EncoderDecoder) model.encoder = model.decoder = from;
  }
  resize(model.decoder, own, model.norm, context_of(model, true));
  resize(model.encoder, encoder, model.norm, context_of(model, false));
  complete(spec);
}

Field architecture_field() {
  Field field = field_of(
      FieldType::Choice,
      {"model.architecture", "architecture", "",
       "A decoder predicts the next symbol, an encoder sees the whole row and fills in what is hidden or "
       "names its class, an encoder-decoder writes one row after reading another."});
  field.choices = architecture_names();
  field.get = [](const RunSpec& spec) { return std::string(row_of(spec.model.architecture).name); };
  field.set = [](RunSpec& spec, std::string_view name) {
    reshape(spec, [&](ModelConfig& model) { model.architecture = architecture_from(trimmed(name)); });
  };
  return field;
}

Field encoder_layers_field() {
  static constexpr auto kLayers = member<&ModelConfig::encoder_layers>;
  Field field = integer<kLayers>(
      {"model.encoder_layers", "encoder layers", "",
       "Depth of the encoder of an encoder-decoder; 0 makes it as deep as the decoder.", false, kTwoStacks},
      0, 256);
  field.set = [](RunSpec& spec, std::string_view text) {
    reshape(spec, [&](ModelConfig&) { set_integer<kLayers>(spec, text); });
  };
  return field;
}

Field encoder_placement_field() {
  Field field = field_of(
      FieldType::Choice,
      {"model.encoder_placement", "encoder placement", "",
       "Where the norms of an encoder-decoder's encoder stand; same follows the decoder. Set apart they "
       "make the hybrids of Liu et al. (2020), Table 1.",
       false, kTwoStacks});
  field.choices = {kSame};
  for (Placement placement : kPresets) field.choices.push_back(to_string(placement));
  field.choices.push_back(to_string(Placement::Custom));
  field.get = [](const RunSpec& spec) {
    const Placement encoder = encoder_placement_of(spec.model);
    const bool same =
        !has_both(spec.model) || (encoder != Placement::Custom && encoder == placement_of(spec.model));
    return std::string(same ? kSame : to_string(encoder));
  };
  field.set = [](RunSpec& spec, std::string_view name) {
    ModelConfig& model = spec.model;
    if (!has_both(model) || trimmed(name) == to_string(Placement::Custom)) return;
    const Placement placement = trimmed(name) == kSame ? placement_of(model) : placement_from(trimmed(name));
    if (placement != Placement::Custom)
      model.encoder = preset_stack(placement, model.norm, context_of(model, false));
  };
  return field;
}

void replace_norms(LayerWiring& layer, NormKind kind) {
  for (Wiring* wiring : {&layer.attention, &layer.cross, &layer.feed_forward})
    for (WiredNorm* norm : norms_of(*wiring))
      if (*norm != NormKind::None) *norm = kind;
}

// Turns every norm that there is into one of the new kind.
void set_norm(RunSpec& spec, NormKind kind) {
  spec.model.norm = kind;
  for (StackWiring* stack : {&spec.model.encoder, &spec.model.decoder}) {
    for (LayerWiring& layer : stack->layers) replace_norms(layer, kind);
    for (WiredNorm* at : norms_of(*stack))
      if (*at != NormKind::None) *at = kind;
  }
}

Field layers_field() {
  static constexpr auto kLayers = member<&ModelConfig::layers>;
  Field field = integer<kLayers>(
      {"model.layers", "layers", "",
       "How many layers are stacked; each is attention followed by a feed-forward network.", false, kSized},
      1, 256);
  field.set = [](RunSpec& spec, std::string_view text) {
    reshape(spec, [&](ModelConfig&) { set_integer<kLayers>(spec, text); });
  };
  return field;
}

Field sequence_field() {
  static constexpr auto kSequence = member<&ModelConfig::sequence>;
  Field field =
      integer<kSequence>({"model.sequence", "sequence", "symbols",
                          "How many symbols the model sees at once; attention looks back no further, "
                          "unless there is a memory.",
                          false, kTransformer},
                         2, 4096);
  field.set = [](RunSpec& spec, std::string_view text) {
    set_integer<kSequence>(spec, text);
    spec.data.context = spec.model.sequence;
    complete(spec);
  };
  return field;
}

Field norm_field() {
  Field field = field_of(
      FieldType::Choice,
      {"model.norm", "norm", "",
       "Which normalization stands in the slots. ln centres, scales and has a learned gain and bias, rms only "
       "scales; the glossary explains every kind.",
       false, kNorms});
  for (NormKind kind : kNormKinds)
    if (kind != NormKind::None) field.choices.push_back(short_name(kind));
  field.get = [](const RunSpec& spec) { return std::string(short_name(spec.model.norm)); };
  field.set = [](RunSpec& spec, std::string_view name) { set_norm(spec, norm_from(trimmed(name))); };
  return field;
}

Field placement_field() {
  Field field = field_of(FieldType::Choice, {"model.placement", "placement", "",
                                             "Where the norms stand, for all layers at once. Post-LN puts "
                                             "them on the residual stream, Pre-LN inside the branches."});
  for (Placement placement : kPresets) field.choices.push_back(to_string(placement));
  field.choices.push_back(to_string(Placement::Custom));
  field.get = [](const RunSpec& spec) { return std::string(to_string(placement_of(spec.model))); };
  field.set = [](RunSpec& spec, std::string_view name) {
    // "custom" changes nothing: the wiring.* keys say what the wiring is.
    if (trimmed(name) != to_string(Placement::Custom))
      set_placement(spec.model, placement_from(trimmed(name)));
  };
  return field;
}

void add_shape_fields(std::vector<Field>& fields) {
  fields.push_back(architecture_field());
  fields.push_back(layers_field());
  fields.push_back(encoder_layers_field());
  fields.push_back(integer<member<&ModelConfig::d_model>>(
      {"model.d_model", "width", "features",
       "How many numbers describe a symbol on its way through the model: d_model. Must be a multiple of the heads.",
       false, kSized},
      2, 8192));
  fields.push_back(integer<member<&ModelConfig::heads>>(
      {"model.heads", "heads", "", "Into how many parallel attentions the width is cut.", false,
       kTransformer},
      1, 128));
  fields.push_back(integer<member<&ModelConfig::feed_forward>>(
      {"model.feed_forward", "feed-forward", "features",
       "Width of the hidden layer of each feed-forward network; four times the width is usual.", false,
       kSized},
      1, 65536));
  fields.push_back(sequence_field());
  fields.push_back(norm_field());
  fields.push_back(placement_field());
  fields.push_back(encoder_placement_field());
}

void add_part_fields(std::vector<Field>& fields) {
  fields.push_back(choice_of<member<&ModelConfig::init>, kInitRules>(
      {"model.init", "init", "",
       "How the weights start. xavier fits each matrix's size; theory is the setting of Xiong et al. (2020) with "
       "silent attention; normal002 is a fixed spread of 0.02, as in BERT; fixup and t-fixup shrink them with "
       "depth, for models without norms; looklinear makes each feed-forward network start as a linear map; b2t "
       "shrinks every matrix of the layers by the root of their number.",
       false, kStarted}));
  fields.push_back(choice_of<member<&ModelConfig::activation>, kActivations>(
      {"model.activation", "activation", "", "The nonlinearity inside the feed-forward networks."}));
  fields.push_back(flag<member<&ModelConfig::gated>>(
      {"model.gated", "gated feed-forward", "",
       "The hidden layer is a product of two: the activation of one matrix's output times that of another "
       "(SwiGLU with silu, GeGLU with gelu). It has half as many weights again; two thirds of the hidden width "
       "make up for them.",
       false, kTransformer}));
  fields.push_back(choice_of<member<&ModelConfig::biases>, kBiases>(
      {"model.biases", "biases", "",
       "Which matrices of the layers have a bias: every one, only those of queries, keys and values, only those "
       "of the feed-forward networks, none, only those of attention, or all but those of queries, keys and values.",
       false, kTransformer}));
  fields.push_back(
      choice<member<&ModelConfig::positions>, [](Positions p) { return row_of(p).name; }, positions_from>(
          {"model.positions", "positions", "", "How the model is told the place of a symbol in the sequence.",
           false, kTransformer},
          position_names()));
  fields.push_back(flag<member<&ModelConfig::tied_output>>(
      {"model.tied", "tied output", "",
       "The output layer reuses the embedding table instead of a matrix of its own.", false, kSymbols}));
  fields.push_back(flag<member<&ModelConfig::output_bias>>(
      {"model.output_bias", "output bias", "", "Every symbol has a bias in the output layer (GPT-J).", false,
       kPlainHead}));
  fields.push_back(flag<member<&ModelConfig::masked_head>>(
      {"model.masked_head", "masked symbol head", "",
       "Before an encoder's output layer come a matrix, the activation and a norm, and every symbol has a bias, "
       "as in BERT.",
       false, kFillsIn}));
  fields.push_back(choice_of<member<&ModelConfig::pooling>, kPoolings>(
      {"model.pooling", "pooling", "",
       "What a classifier reads the class off: the state of the first position, as BERT does, or the mean "
       "over all positions.",
       false, kClasses}));
  fields.push_back(flag<member<&ModelConfig::shared_embedding>>(
      {"model.shared_embedding", "shared embedding", "",
       "Encoder and decoder read one embedding table; off, each has its own.", false, kTwoStacks}));
  fields.push_back(flag<member<&ModelConfig::output_projection>>(
      {"model.output_projection", "output projection", "",
       "Attention ends in a matrix that mixes its heads. The theory setting has none.", false,
       kTransformer}));
}

void add_transfer_fields(std::vector<Field>& fields) {
  fields.push_back(choice_of<member<&ModelConfig::transfer>, kTransfers>(
      {"model.transfer", "transfer", "",
       "How start and steps follow the size of the model, so that a learning rate that was best for the base "
       "serves this one too. mup minds its width; depth-mup its layers too, with branches and rates divided by "
       "their root; completep divides branches by the layers and leaves the rate. The base is model.base_width and "
       "model.base_layers.",
       false, kTransformer}));
  fields.push_back(integer<member<&ModelConfig::base_width>>(
      {"model.base_width", "base width", "features",
       "The width of the model that model.transfer starts from: as wide as this, nothing changes.", false,
       kTransferred},
      1, 65536));
  fields.push_back(integer<member<&ModelConfig::base_layers>>(
      {"model.base_layers", "base layers", "",
       "The layers of the model that model.transfer starts from: as deep as this, nothing changes.", false,
       kDeepened},
      1, 1024));
}

void add_number_fields(std::vector<Field>& fields) {
  fields.push_back(read_if(
      any_keeps_size, "model.placement",
      real<member<&ModelConfig::init_scale>>(
          {"model.init_scale", "init scale", "",
           "The matrices of attention and feed-forward networks start so many times as large as the rule says.",
           false, kTransformer},
          0, 1000),
      "one without unit vectors"));
  fields.push_back(real<member<&ModelConfig::eps>>(
      {"model.eps", "norm epsilon", "", "Added to the variance inside each norm, against division by zero.",
       false, kDivides},
      0, 1));
  fields.push_back(flag<member<&ModelConfig::gain_offset>>(
      {"model.gain_offset", "gains from 1", "",
       "A norm's gain is stored as what it has beyond 1 (Gemma), so that weight decay draws it to 1 and not to 0.",
       false, kGain}));
  fields.push_back(real<member<&ModelConfig::embedding_scale>>(
      {"model.embedding_scale", "embedding scale", "",
       "What the rows of the embedding table are multiplied by. 0 is the root of the width.", false,
       kTransformer},
      0, 1000));
  fields.push_back(integer<member<&ModelConfig::embedding_width>>(
      {"model.embedding_width", "embedding width", "features",
       "How wide the rows of the embedding table are; a matrix makes them as wide as the model, and another the "
       "last states as wide as they (OPT-350m). In an encoder positions and norm are as narrow (ALBERT). "
       "0 is the width of the model, without the matrices.",
       false, kOneStack},
      0, 8192));
  fields.push_back(integer<member<&ModelConfig::token_types>>(
      {"model.token_types", "token types", "",
       "How many kinds of symbols have a learned vector of their kind added, as the two sentences of BERT. "
       "What follows the [SEP] of a published tokenizer is of the next kind; all else is of the first. 0 is none.",
       false, kOneStack},
      0, 16));
  fields.push_back(real<member<&ModelConfig::logit_scale>>(
      {"model.logit_scale", "logit scale", "",
       "The factor of the last states before they become logits (Granite).", false, kSymbols},
      0, 1000));
  fields.push_back(real<member<&ModelConfig::logit_cap>>(
      {"model.logit_cap", "logit cap", "",
       "Bends the logits with a tanh, so that none exceeds this (Gemma 2). 0 is no cap.", false, kSymbols},
      0, 1000));
  fields.push_back(real<member<&ModelConfig::adanorm_scale>>(
      {"model.adanorm_scale", "AdaNorm C", "", "adanorm multiplies its output by C (1 - k y).", false,
       kAdaNorm},
      0, 100));
  fields.push_back(real<member<&ModelConfig::adanorm_slope>>(
      {"model.adanorm_slope", "AdaNorm k", "", "adanorm: how much less it lets large values through.", false,
       kAdaNorm},
      0, 1));
  fields.push_back(real<member<&ModelConfig::dyt_alpha>>(
      {"model.dyt_alpha", "DyT alpha", "",
       "dyt and derf: where the learned slope inside the tanh or the erf starts.", false, kCurved},
      0, 100));
  fields.push_back(real<member<&ModelConfig::dropout_residual>>(
      {"model.dropout_residual", "dropout", "",
       "Share of each branch's output that is set to zero at random in training.", false, kTransformer},
      0, 0.99));
  fields.push_back(real<member<&ModelConfig::dropout_attention>>(
      {"model.dropout_attention", "attention dropout", "",
       "Share of the attention weights that is set to zero at random.", false, kTransformer},
      0, 0.99));
  fields.push_back(real<member<&ModelConfig::dropout_activation>>(
      {"model.dropout_activation", "activation dropout", "",
       "Share of the feed-forward hidden layer that is set to zero at random.", false, kSized},
      0, 0.99));
}

Field milestones_field() {
  Field field = field_of(FieldType::Text, {"train.milestones", "milestones", "steps",
                                           "Steps at which the step schedule cuts the rate, such as 100,200.",
                                           true, kMilestones});
  field.get = [](const RunSpec& spec) { return steps_text(spec.train.schedule.milestones); };
  field.set = [](RunSpec& spec, std::string_view text) { parse_steps(text, spec.train.schedule.milestones); };
  return field;
}

void add_schedule_fields(std::vector<Field>& fields) {
  fields.push_back(real<member<&Schedule::peak>>(
      {"train.lr", "learning rate", "", "Size of each update; with warm-up, the rate at its end.", true}, 0,
      100));
  fields.push_back(integer<member<&Schedule::warmup>>(
      {"train.warmup", "warm-up", "steps",
       "Over so many steps the learning rate grows evenly from zero to its peak. 0 starts at full rate.",
       true, kWarmsBySteps},
      0, 100000));
  fields.push_back(real<member<&Schedule::target>>(
      {"train.warmup_target", "warm-up to a loss", "nats",
       "Above 0 the warm-up has no fixed length: the learning rate grows as the loss falls towards this value, and is the "
       "whole one when the loss has come near it (Riabinin et al. 2026). 0 is off.",
       true},
      0, 1000));
  fields.push_back(choice<member<&Schedule::kind>, [](Schedule::Kind kind) { return to_string(kind); },
                          [](std::string_view name) { return schedule_from(name); }>(
      {"train.schedule", "schedule", "", "What the learning rate does after warm-up.", true},
      names_of(kSchedules)));
  fields.push_back(integer<member<&Schedule::reference>>(
      {"train.reference", "decay from", "step",
       "The inverse square root schedule starts to decay here, or at the end of warm-up if that is later.",
       true, kReference},
      1, kMaxSteps));
  fields.push_back(integer<member<&Schedule::end>>(
      {"train.decay_end", "decay to zero at", "step",
       "The linear and the cosine schedule reach zero at this step.", true, kEnds},
      1, kMaxSteps));
  fields.push_back(real<member<&Schedule::factor>>(
      {"train.decay_factor", "decay factor", "",
       "The step schedule multiplies the rate by it at each milestone.", true, kMilestones},
      0, 1));
  fields.push_back(milestones_field());
}

void add_optimizer_fields(std::vector<Field>& fields) {
  fields.push_back(
      choice<member<&TrainConfig::optimizer>, [](Optimizer optimizer) { return to_string(optimizer); },
             [](std::string_view name) { return optimizer_from(name); }>(
          {"train.optimizer", "optimizer", "",
           "sgd follows the gradient as it is, momentum its running sum. adam rescales each weight's update "
           "by the size of its recent gradients; adamw takes weight decay off the weights instead of adding "
           "it to the gradient. radam holds Adam back while its averages are young, by the paper's rule or "
           "that of its authors' code."},
          names_of(kOptimizers)));
  fields.push_back(real<member<&TrainConfig::beta1>>(
      {"train.beta1", "beta 1", "", "Adam: how much of the running mean of the gradient is kept each step.",
       true, kMoments},
      0, 0.999999));
  fields.push_back(real<member<&TrainConfig::beta2>>(
      {"train.beta2", "beta 2", "",
       "Adam: how much of the running mean of the squared gradient is kept each step.", true, kMoments},
      0, 0.999999));
  fields.push_back(real<member<&TrainConfig::eps>>(
      {"train.eps", "Adam epsilon", "",
       "Adam: added to the divisor; tiny gradients below it make no large updates.", true, kMoments},
      0, 1));
  fields.push_back(flag<member<&TrainConfig::bias_correction>>(
      {"train.bias_correction", "bias correction", "",
       "Adam and AdamW: the running means, which start at zero, are divided by what they have seen so far. "
       "Without it the first steps are too large when beta 2 is near 1.",
       true, kCorrection}));
  fields.push_back(real<member<&TrainConfig::momentum>>(
      {"train.momentum", "momentum", "", "Momentum: how much of the last update is carried into the next.",
       true, kMomentum},
      0, 0.999999));
  fields.push_back(real<member<&TrainConfig::weight_decay>>(
      {"train.weight_decay", "weight decay", "",
       "Share of every weight, times the rate, that is taken away each step; adam adds that share to the "
       "gradient instead.",
       true},
      0, 100));
  fields.push_back(real<member<&TrainConfig::clip>>(
      {"train.clip", "gradient clip", "", "A gradient longer than this is shortened to it. 0 is off.", true},
      0, 1e9));
  fields.push_back(real<member<&TrainConfig::label_smoothing>>(
      {"train.label_smoothing", "label smoothing", "",
       "Share of the target's probability that is spread evenly over all symbols.", true},
      0, 0.99));
}

constexpr char kText[] = "text", kLabels[] = "labels";

Field data_name_field() {
  Field field = field_of(
      FieldType::Choice,
      {"data.name", "data", "",
       "What is learned: built-in sentences, a text file, to copy, reverse or sort a row of symbols, a small made-up "
       "translation, or labels; whether two words of a made-up sentence are swapped, or its mood, in five classes."});
  for (const TaskKind* kind : task_kinds()) field.choices.push_back(kind->name);
  field.get = [](const RunSpec& spec) { return spec.data.name; };
  field.set = [](RunSpec& spec, std::string_view name) {
    spec.data.name = trimmed(name);
    complete(spec);
  };
  return field;
}

/// The choices of the deciding field under which the setting is read: "linear or cosine".
Message choices_that_read(const When& row) {
  RunSpec spec;
  std::vector<std::string_view> names;
  for (const std::string_view choice : find_field(row.because)->choices) {
    set_field(spec, row.because, choice);
    if (row.read(spec)) names.push_back(choice);
  }
  return one_of(names);
}

}  // namespace

void add_model_fields(std::vector<Field>& fields) {
  add_shape_fields(fields);
  add_part_fields(fields);
  add_attention_fields(fields);
  add_transfer_fields(fields);
  add_number_fields(fields);
}

void add_attention_fields(std::vector<Field>& fields) {
  fields.push_back(integer<member<&AttentionConfig::head_width>>(
      {"model.head_width", "head width", "features",
       "How many numbers a head's queries and keys have. 0 cuts the width evenly among the heads.", false,
       kTransformer},
      0, 1024));
  fields.push_back(integer<member<&AttentionConfig::kv_heads>>(
      {"model.kv_heads", "heads of keys", "",
       "How many heads of keys and values there are; the heads of queries share them evenly (grouped-query "
       "attention). 0 gives every head its own.",
       false, kTransformer},
      0, 128));
  fields.push_back(real<member<&AttentionConfig::scale>>(
      {"model.attention_scale", "attention scale", "",
       "What the scores of attention are multiplied by. 0 is one over the root of the head width.", false,
       kTransformer},
      0, 100));
  fields.push_back(real<member<&AttentionConfig::cap>>(
      {"model.attention_cap", "attention cap", "",
       "Bends the scores of attention with a tanh, so that none exceeds this (Gemma 2). 0 is no cap.", false,
       kTransformer},
      0, 1000));
  fields.push_back(integer<member<&AttentionConfig::window>>(
      {"model.attention_window", "attention window", "symbols",
       "A symbol attends to this many symbols, the last of which is itself; in an encoder also to as many that begin with it. "
       "0 is all.",
       false, kTransformer},
      0, 4096));
  fields.push_back(text<member<&AttentionConfig::pattern>>(
      {"model.attention_pattern", "window pattern", "",
       "Which layers have the window, a letter a layer and from the start again: w has it, f sees all. wf is "
       "Gemma 2's, wwwwwf Gemma 3's; nothing gives all of them the window.",
       false, kWindow}));
  fields.push_back(real<member<&AttentionConfig::mixing>>(
      {"model.attention_mixing", "mixing", "",
       "How much of what self-attention hands on it has mixed from all symbols that it sees; the rest is each "
       "symbol's own. 1 mixes as ever, 0 leaves each symbol to itself. Cross-attention always mixes.",
       false, kTransformer},
      0, 1));
  fields.push_back(read_if(
      any_keeps_size, "model.placement",
      real<member<&AttentionConfig::start>>(
          {"model.attention_start", "start of attention", "",
           "The matrix W_O behind self-attention starts so many times as large as the rule says, so that attention "
           "says less at first.",
           false, kProjected},
          0, 1000),
      "one without unit vectors"));
}

void add_train_fields(std::vector<Field>& fields) {
  fields.push_back(integer<member<&TrainConfig::batch>>(
      {"train.batch", "batch", "sequences", "How many sequences each step learns from."}, 1, 4096));
  fields.push_back(integer<member<&TrainConfig::steps>>(
      {"train.steps", "steps", "", "After so many updates training rests.", true}, 1, kMaxSteps));
  fields.push_back(file<member<&TrainConfig::init_from>>(
      {"train.init_from", "start from", "",
       "A saved run of the same sizes, whose weights this one starts with, by name: fine-tuning. Empty starts afresh."}));
  fields.push_back(flag<member<&TrainConfig::reuse_gradients>>(
      {"train.reuse_gradients", "reuse gradients", "",
       "Gradients of activations give their memory to later ones, and cannot be looked at after the step. "
       "The same numbers in less memory. Only on the CPU: a GPU computes gradients side by side."}));
  add_schedule_fields(fields);
  add_optimizer_fields(fields);
  fields.push_back(integer<member<&TrainConfig::critical_every>>(
      {"train.critical_every", "critical rate", "steps apart",
       "Measures the learning rate at which the step would no longer lower the loss of its own batch. Six "
       "forward passes on a copy each time, about two steps; every 10 steps, a fifth more time. 0 is off. No "
       "other number of the run changes.",
       true},
      0, 100000));
}

void add_data_fields(std::vector<Field>& fields) {
  fields.push_back(source<member<&DataSpec::text_path>, kText, true>(
      {"data.text", "text file", "",
       "A UTF-8 text file to learn from; leave empty for the built-in sentences."}));
  fields.push_back(source<member<&DataSpec::labels_path>, kLabels>(
      {"data.labels", "labelled texts", "",
       "A UTF-8 file of texts to classify, one label and text a line with a tab between, for an encoder."}));
  fields.push_back(file<member<&DataSpec::valid_path>>(
      {"data.valid", "validation file", "",
       "Pairs, labelled texts or trees to validate on; empty takes the end of the training file.", false,
       kValidates}));
  fields.push_back(file<member<&DataSpec::tokenizer_path>>(
      {"data.tokenizer", "tokenizer", "",
       "What cuts the data into tokens, where they are not its characters or words.", false, kCutsText}));
  fields.push_back(data_name_field());
  fields.push_back(flag<member<&DataSpec::consecutive>>(
      {"data.consecutive", "consecutive", "",
       "Each row of a batch goes on where it ended in the step before, instead of anywhere in the text; a memory "
       "needs it.",
       false, kGoesOn}));
  fields.push_back(integer<member<&DataSpec::data_seed>>(
      {"data.seed", "data seed", "",
       "Which of the endless built-in texts, made-up labels or treebanks, or sets of drawn digits is used.",
       false, kSeeded},
      0, 9007199254740992.0));
  fields.push_back(text<member<&RunSpec::name>>(
      {"run.name", "name", "", "What the run is called; empty names it after its settings.", true}));
  fields.push_back(integer<member<&RunSpec::seed>>(
      {"run.seed", "seed", "",
       "Decides all chance: initial weights, batches, dropout. Runs with one seed differ only by their "
       "settings."},
      0, 9007199254740992.0));
}

Message unused_reason(const RunSpec& spec, std::string_view key) {
  const Field* field = find_field(key);
  if (!field) return "";
  const auto row =
      std::ranges::find_if(field->conditions, [&](const When& when) { return !when.read(spec); });
  if (row == field->conditions.end()) return "";
  // Tried out once, because every frame that shows the settings asks, for every run.
  static const std::map<const When*, Message> expected = [] {
    std::map<const When*, Message> all;
    for (const Field& one : spec_fields())
      for (const When& when : one.conditions)
        all[&when] = when.expected.empty() ? choices_that_read(when) : Message(when.expected);
    return all;
  }();
  return Message("{} is {}: expected {}", row->because, get_field(spec, row->because), expected.at(&*row));
}

}  // namespace normscope
