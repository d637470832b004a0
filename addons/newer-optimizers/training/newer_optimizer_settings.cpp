// The settings of QK-clip, of the bounded AdamW and of the decay of gains, and the help texts of the newer optimizers.
#include <algorithm>

#include "addons/newer-optimizers/engine/gain_decay.h"
#include "addons/newer-optimizers/engine/qk_clip.h"
#include "training/measure/numbers.h"
#include "training/spec/spec_fields.h"
#include "training/spec/update_rule.h"

namespace normscope {
namespace {

bool bounds(const RunSpec& s) { return rule_of(s.train.optimizer).reads_bound; }
bool decays_apart(const RunSpec& s) { return !rule_of(s.train.optimizer).decays_in_gradient; }
bool decays(const RunSpec& s) { return s.train.weight_decay > 0; }
bool attends(const RunSpec& s) { return is_transformer(s.model.architecture); }
bool has_plain_scores(const RunSpec& s) { return !row_of(s.model.positions).own_scores; }
/// Whether QK-clip applies to an attention of the model.
bool clips_any(const RunSpec& s) {
  const auto in = [&](const StackWiring& stack) {
    return std::ranges::any_of(stack.layers,
                               [&](const LayerWiring& layer) { return clips(s.model, layer.attention); });
  };
  return in(s.model.stack()) || (has_both(s.model) && in(s.model.encoder));
}

}  // namespace

void add_newer_optimizer_settings(std::vector<Field>& fields) {
  add_help(
      fields, "train.optimizer",
      "muon makes the momentum of each matrix of the layers orthogonal, so that no direction is left behind, and "
      "treats everything else as adamw does. adam-less-leading takes the strongest direction out of adamw's step "
      "of each of these matrices. adamw2 shortens adamw's step of such a matrix where the step's largest "
      "singular value is too large a share of the matrix's.");
  insert_behind(
      fields, "train.momentum",
      {read_if(
          bounds, "train.optimizer",
          real<member<&TrainConfig::update_bound>>(
              {"train.update_bound", "update bound", "",
               "AdamW, bounded: the largest singular value of a step may be so many times as large as the "
               "matrix's. A longer step is shortened, which holds the first steps back without a warm-up. "
               "0 is off.",
               true},
              0, 100))});
  Field gains = choice_of<of_train<&GainDecayConfig::gains>, kDecayedGains>(
      {"train.decayed_gains", "decayed gains", "",
       "Which gains of norms weight decay draws to zero: all, none, or those before a matrix, which nothing else "
       "reads."});
  gains = read_if(attends, "model.architecture", gains, "a transformer");
  gains = read_if(decays_apart, "train.optimizer", gains, "one that decays apart from the gradient");
  insert_behind(fields, "train.weight_decay", {read_if(decays, "train.weight_decay", gains, "more than 0")});
  Field field = real<of_train<&QkClipConfig::largest>>(
      {"train.qk_clip", "QK-clip", "",
       "After each step the queries and keys of a head whose largest logit of the batch was above this are scaled "
       "down to it. 0 is off."},
      0, 1e9);
  field = read_if(attends, "model.architecture", field, "a transformer");
  field = read_if(has_plain_scores, "model.positions", field, "another than relative");
  insert_behind(fields, "train.clip",
                {read_if(clips_any, "model.placement", field,
                         "one without a norm of queries or keys, which undoes it")});
}

extern const Number kBatchLogit;
constinit const Number kBatchLogit{
    {"batch_logit", Number::Of::Attention, Number::By::Step, Number::Kept::AtTheEnd,
     "largest logit of the batch",
     "The largest score of an attention in the batch of the step, over all heads: QK-clip reads it."}};

}  // namespace normscope
