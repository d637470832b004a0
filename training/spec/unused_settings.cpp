// See spec.h: one row for each field that some runs do not read.
#include "training/spec/spec.h"

#include <algorithm>

#include "engine/model/residual.h"
#include "training/data/task.h"
#include "training/spec/spec_fields.h"
#include "training/spec/spec_text.h"
#include "training/spec/update_rule.h"

namespace normscope {
namespace {

/// Whether the model has a norm of a kind that `wanted` accepts.
template <typename Wanted>
bool any_norm(const ModelConfig& model, Wanted wanted) {
  const auto in = [&](const StackWiring& stack) {
    const auto accepted = [&](NormKind kind) { return kind != NormKind::None && wanted(kind); };
    for (const LayerWiring& layer : stack.layers)
      for (const Wiring* w : {&layer.attention, &layer.cross, &layer.feed_forward})
        for (NormKind kind : norms_of(*w))
          if (accepted(kind)) return true;
    return std::ranges::any_of(norms_of(stack), accepted);
  };
  return in(model.stack()) || (has_both(model) && in(model.encoder));
}

bool has_both(const RunSpec& s) { return has_both(s.model); }

/// Whether `wanted` accepts a layer of the model.
template <typename Wanted>
bool any_layer(const RunSpec& s, Wanted wanted) {
  return std::ranges::any_of(s.model.stack().layers, wanted) ||
         (has_both(s) && std::ranges::any_of(s.model.encoder.layers, wanted));
}

/// Whether a matrix keeps the size that it starts with, which unit vectors do not.
bool any_keeps_size(const RunSpec& s) {
  return any_layer(s, [](const LayerWiring& layer) {
    return !has_unit_vectors(layer.attention) || !has_unit_vectors(layer.feed_forward);
  });
}

bool has_norm(const RunSpec& s) {
  return any_norm(s.model, [](NormKind) { return true; });
}
bool has_epsilon(const RunSpec& s) {
  return any_norm(s.model, [](NormKind kind) { return traits_of(kind).has_statistics; });
}
bool has_adanorm(const RunSpec& s) {
  return any_norm(s.model, [](NormKind kind) { return traits_of(kind).has_factor; });
}
bool has_curve(const RunSpec& s) {
  return any_norm(s.model, [](NormKind kind) { return has_alpha(kind); });
}
bool minds_width(const RunSpec& s) { return s.model.transfer != Transfer::None; }
bool minds_depth(const RunSpec& s) { return minds_width(s) && s.model.transfer != Transfer::Mup; }
bool has_moments(const RunSpec& s) { return keeps_second_moment(s.train.optimizer); }
bool may_leave_out_correction(const RunSpec& s) {
  return has_moments(s) && rule_of(s.train.optimizer).rectified == Rectified::No;
}
bool has_momentum(const RunSpec& s) { return rule_of(s.train.optimizer).reads_momentum; }
bool warms_by_steps(const RunSpec& s) { return s.train.schedule.target <= 0; }
bool falls_from_reference(const RunSpec& s) { return row_of(s.train.schedule.kind).reads_reference; }
bool ends(const RunSpec& s) { return row_of(s.train.schedule.kind).has_end; }
bool has_steps(const RunSpec& s) { return row_of(s.train.schedule.kind).reads_milestones; }
bool transforms(const RunSpec& s) { return is_transformer(s.model.architecture); }
bool has_one_stack(const RunSpec& s) { return transforms(s) && !has_both(s); }
bool has_window(const RunSpec& s) { return transforms(s) && s.model.attention.window > 0; }
bool has_gain_of_norms(const RunSpec& s) {
  return any_norm(s.model, [](NormKind kind) { return has_gain(kind); });
}
bool fills_in(const RunSpec& s) {
  return s.model.architecture == Architecture::Encoder && !is_labelled(s.data.name);
}
bool has_hidden_layers(const RunSpec& s) {
  const ArchitectureRuns* added = added_runs(s.model.architecture);
  return !added || added->sized;
}
bool starts_by_rule(const RunSpec& s) {
  const ArchitectureRuns* added = added_runs(s.model.architecture);
  return !added || added->started;
}
bool classifies(const RunSpec& s) { return is_labelled(s.data.name); }
bool predicts_symbols(const RunSpec& s) { return transforms(s) && !classifies(s); }
bool has_plain_head(const RunSpec& s) { return predicts_symbols(s) && !(fills_in(s) && s.model.masked_head); }
/// The kind of the data; kinds that nobody knows are refused before.
const TaskKind& kind_of(const RunSpec& s) {
  const TaskKind* const kind = find_kind(s.data.name);
  return kind ? *kind : kCorpusKind;
}
bool goes_on(const RunSpec& s) { return kind_of(s).goes_on; }
bool cuts_text(const RunSpec& s) { return kind_of(s).takes_tokenizer; }
bool reads_valid(const RunSpec& s) {
  const TaskKind& kind = kind_of(s);
  return kind.takes_validation && (kind.made_up.empty() || !path_of(s.data).empty());
}
bool is_seeded(const RunSpec& s) { return kind_of(s).seeded && path_of(s.data).empty(); }

struct Condition {
  std::string_view key;
  bool (*read)(const RunSpec&);
  std::string_view because;        ///< the field that decides
  std::string_view expected = "";  ///< empty: the choices under which the setting is read
};
constexpr std::string_view kTransformer = "a transformer", kOneStack = "decoder or encoder";
constexpr Condition kConditions[] = {
    {"model.layers", has_hidden_layers, "model.architecture"},
    {"model.d_model", has_hidden_layers, "model.architecture"},
    {"model.feed_forward", has_hidden_layers, "model.architecture"},
    {"model.dropout_activation", has_hidden_layers, "model.architecture"},
    {"model.heads", transforms, "model.architecture", kTransformer},
    {"model.sequence", transforms, "model.architecture", kTransformer},
    {"model.positions", transforms, "model.architecture", kTransformer},
    {"model.head_width", transforms, "model.architecture", kTransformer},
    {"model.kv_heads", transforms, "model.architecture", kTransformer},
    {"model.attention_scale", transforms, "model.architecture", kTransformer},
    {"model.attention_cap", transforms, "model.architecture", kTransformer},
    {"model.gated", transforms, "model.architecture", kTransformer},
    {"model.biases", transforms, "model.architecture", kTransformer},
    {"model.embedding_scale", transforms, "model.architecture", kTransformer},
    {"model.embedding_width", has_one_stack, "model.architecture", kOneStack},
    {"model.token_types", has_one_stack, "model.architecture", kOneStack},
    {"model.output_bias", has_plain_head, "model.masked_head", "a head without a bias of its own"},
    {"model.logit_scale", predicts_symbols, "data.name", "symbols to predict"},
    {"model.logit_cap", predicts_symbols, "data.name", "symbols to predict"},
    {"model.attention_window", transforms, "model.architecture", kTransformer},
    {"model.attention_pattern", has_window, "model.attention_window", "a window"},
    {"model.masked_head", fills_in, "model.architecture", "encoder, with symbols to predict"},
    {"model.gain_offset", has_gain_of_norms, "model.norm", "ln, rms, dyt or derf"},
    {"model.output_projection", transforms, "model.architecture", kTransformer},
    {"model.dropout_residual", transforms, "model.architecture", kTransformer},
    {"model.dropout_attention", transforms, "model.architecture", kTransformer},
    {"model.init", starts_by_rule, "model.architecture"},
    {"model.init_scale", transforms, "model.architecture", kTransformer},
    {"model.init_scale", any_keeps_size, "model.placement", "one without unit vectors"},
    {"model.transfer", transforms, "model.architecture", kTransformer},
    {"model.base_width", minds_width, "model.transfer"},
    {"model.base_layers", minds_depth, "model.transfer"},
    {"model.encoder_layers", has_both, "model.architecture", "encoder-decoder"},
    {"model.encoder_placement", has_both, "model.architecture", "encoder-decoder"},
    {"model.shared_embedding", has_both, "model.architecture", "encoder-decoder"},
    {"model.norm", has_norm, "model.placement", "one with norms"},
    {"model.eps", has_epsilon, "model.norm", "a norm that divides"},
    {"model.adanorm_scale", has_adanorm, "model.norm", "adanorm"},
    {"model.adanorm_slope", has_adanorm, "model.norm", "adanorm"},
    {"model.dyt_alpha", has_curve, "model.norm", "dyt or derf"},
    {"model.pooling", classifies, "data.name", "labels, word-order or mood"},
    {"model.tied", predicts_symbols, "data.name", "symbols to predict"},
    {"train.warmup", warms_by_steps, "train.warmup_target", "0"},
    {"train.reference", falls_from_reference, "train.schedule"},
    {"train.decay_end", ends, "train.schedule"},
    {"train.decay_factor", has_steps, "train.schedule"},
    {"train.milestones", has_steps, "train.schedule"},
    {"train.beta1", has_moments, "train.optimizer"},
    {"train.beta2", has_moments, "train.optimizer"},
    {"train.eps", has_moments, "train.optimizer"},
    {"train.bias_correction", may_leave_out_correction, "train.optimizer"},
    {"train.momentum", has_momentum, "train.optimizer"},
    {"data.valid", reads_valid, "data.name", "answers from a file"},
    {"data.tokenizer", cuts_text, "data.name"},
    {"data.consecutive", goes_on, "data.name"},
    {"data.seed", is_seeded, "data.name", "data that are made up"},
};

/// The choices of the deciding field under which the setting is read: "linear or cosine".
Message choices_that_read(const Condition& row) {
  RunSpec spec;
  std::vector<std::string_view> names;
  for (const std::string_view choice : find_field(row.because)->choices) {
    set_field(spec, row.because, choice);
    if (row.read(spec)) names.push_back(choice);
  }
  return one_of(names);
}

}  // namespace

Message unused_reason(const RunSpec& spec, std::string_view key) {
  static const std::vector<Condition> conditions = [] {
    std::vector<Condition> all(std::begin(kConditions), std::end(kConditions));
    for (const Field& field : spec_fields())
      for (const Field::Condition& condition : field.conditions)
        all.push_back({field.key, condition.read, condition.because, condition.expected});
    return all;
  }();
  const auto row =
      std::ranges::find_if(conditions, [&](const Condition& r) { return r.key == key && !r.read(spec); });
  if (row == conditions.end()) return "";
  // Tried out once, because every frame that shows the settings asks, for every run.
  static const std::vector<Message> expected = [] {
    std::vector<Message> all;
    for (const Condition& r : conditions)
      all.push_back(r.expected.empty() ? choices_that_read(r) : Message(r.expected));
    return all;
  }();
  return Message("{} is {}: expected {}", row->because, get_field(spec, row->because),
                 expected[static_cast<size_t>(row - conditions.begin())]);
}

}  // namespace normscope
