// The setting of QK-clip, and the help texts of the newer optimizers.
#include "addons/newer-optimizers/engine/qk_clip.h"
#include "training/spec/spec_fields.h"

namespace normscope {
namespace {

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
      "of each of these matrices.");
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

}  // namespace normscope
