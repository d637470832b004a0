// See unused_settings.h: one row a field that not every run reads.
#include "engine/spec/unused_settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/spec/update_rule.h"

namespace normscope {
namespace {

/// Whether a norm of a kind that `wanted` accepts stands anywhere in the model.
template <typename Wanted>
bool any_norm(const ModelConfig& model, Wanted wanted) {
  const auto in = [&](const StackWiring& stack) {
    const auto accepted = [&](NormKind kind) { return kind != NormKind::None && wanted(kind); };
    for (const LayerWiring& layer : stack.layers)
      for (const Wiring* w : {&layer.attention, &layer.cross, &layer.feed_forward})
        for (NormKind kind : norms_of(*w))
          if (accepted(kind)) return true;
    return accepted(stack.embedding) || accepted(stack.final) || accepted(stack.second);
  };
  const bool both = model.architecture == Architecture::EncoderDecoder;
  return in(model.stack()) || (both && in(model.encoder));
}

bool has_both(const RunSpec& s) { return s.model.architecture == Architecture::EncoderDecoder; }
bool has_norm(const RunSpec& s) {
  return any_norm(s.model, [](NormKind) { return true; });
}
bool has_epsilon(const RunSpec& s) {
  return any_norm(s.model, [](NormKind kind) { return kind != NormKind::DyT; });
}
bool has_adanorm(const RunSpec& s) {
  return any_norm(s.model, [](NormKind kind) { return kind == NormKind::AdaNorm; });
}
bool has_dyt(const RunSpec& s) {
  return any_norm(s.model, [](NormKind kind) { return kind == NormKind::DyT; });
}
bool has_moments(const RunSpec& s) { return is_adaptive(s.train.optimizer); }
bool may_leave_out_correction(const RunSpec& s) {
  return s.train.optimizer == Optimizer::Adam || s.train.optimizer == Optimizer::AdamW;
}
bool has_momentum(const RunSpec& s) { return s.train.optimizer == Optimizer::Momentum; }
bool falls_from_reference(const RunSpec& s) { return s.train.schedule.kind == Schedule::Kind::InverseSqrt; }
bool ends(const RunSpec& s) { return has_end(s.train.schedule.kind); }
bool has_steps(const RunSpec& s) { return s.train.schedule.kind == Schedule::Kind::StepDecay; }
bool classifies(const RunSpec& s) { return s.data.name == "labels"; }
bool predicts_symbols(const RunSpec& s) { return !classifies(s); }
bool reads_pairs(const RunSpec& s) { return s.data.name == "pairs"; }
bool reads_lines(const RunSpec& s) { return reads_pairs(s) || classifies(s); }
bool reads_corpus(const RunSpec& s) { return s.data.name == "corpus"; }

struct Row {
  std::string_view key;
  bool (*read)(const RunSpec&);
  std::string_view because;  ///< the field that decides
  std::string_view expected;
};
constexpr Row kRows[] = {
    {"model.encoder_layers", has_both, "model.architecture", "encoder-decoder"},
    {"model.encoder_placement", has_both, "model.architecture", "encoder-decoder"},
    {"model.shared_embedding", has_both, "model.architecture", "encoder-decoder"},
    {"model.norm", has_norm, "model.placement", "one with norms"},
    {"model.eps", has_epsilon, "model.norm", "a norm that divides"},
    {"model.adanorm_scale", has_adanorm, "model.norm", "adanorm"},
    {"model.adanorm_slope", has_adanorm, "model.norm", "adanorm"},
    {"model.dyt_alpha", has_dyt, "model.norm", "dyt"},
    {"model.pooling", classifies, "data.name", "labels"},
    {"model.tied", predicts_symbols, "data.name", "another than labels"},
    {"train.reference", falls_from_reference, "train.schedule", "inverse-sqrt"},
    {"train.decay_end", ends, "train.schedule", "linear or cosine"},
    {"train.decay_factor", has_steps, "train.schedule", "step"},
    {"train.milestones", has_steps, "train.schedule", "step"},
    {"train.beta1", has_moments, "train.optimizer", "adam, adamw, radam or radam-code"},
    {"train.beta2", has_moments, "train.optimizer", "adam, adamw, radam or radam-code"},
    {"train.eps", has_moments, "train.optimizer", "adam, adamw, radam or radam-code"},
    {"train.bias_correction", may_leave_out_correction, "train.optimizer", "adam or adamw"},
    {"train.momentum", has_momentum, "train.optimizer", "momentum"},
    {"data.valid", reads_lines, "data.name", "pairs or labels"},
    {"data.tokenizer", reads_pairs, "data.name", "pairs"},
    {"data.vocabulary", reads_pairs, "data.name", "pairs"},
    {"data.seed", reads_corpus, "data.name", "corpus"},
};

}  // namespace

std::string unused_reason(const RunSpec& spec, std::string_view key) {
  const auto row =
      std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return r.key == key; });
  if (row == std::end(kRows) || row->read(spec)) return "";
  return fmt::format("{} is {}: expected {}", row->because, get_field(spec, row->because), row->expected);
}

}  // namespace normscope
