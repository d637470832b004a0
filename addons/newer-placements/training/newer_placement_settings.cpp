// The settings of several streams, of ProRes and of GatedNorm.
#include "addons/newer-placements/engine/config.h"
#include "engine/model/residual.h"
#include "training/spec/spec_fields.h"

namespace normscope {
namespace {

template <ResidualForm kForm>
bool reads(const RunSpec& s) {
  return is_transformer(s.model.architecture) &&
         (any_has_word(s.model.stack(), kForm) ||
          (has_both(s.model) && any_has_word(s.model.encoder, kForm)));
}

bool carries_streams(const StackWiring& stack) {
  const Streams streams = streams_of(stack);
  return !streams.one() && !streams.of_depth();
}

bool reads_streams(const RunSpec& s) {
  return is_transformer(s.model.architecture) &&
         (carries_streams(s.model.stack()) || (has_both(s.model) && carries_streams(s.model.encoder)));
}

}  // namespace

void add_newer_placement_settings(std::vector<Field>& fields) {
  insert_behind(fields, "model.dyt_alpha",
                {read_if(reads_streams, "model.placement",
                         real<member<&StreamsConfig::mixed>>(
                             {"model.streams_mixed", "streams mixed at the start", "",
                              "Share that each residual stream takes from the others at the start; 0: the "
                              "placement's own start."},
                             0, 0.99),
                         "hyper, mhc or mhc-lite, or a wiring with several streams"),
                 read_if(reads<ResidualForm::prores>, "model.placement",
                         integer<member<&ProResConfig::steps>>(
                             {"model.prores_steps", "ProRes", "steps a layer",
                              "The branches of layer l come in over this many steps times l."},
                             1, 100000),
                         "prores, or a wiring with the word prores"),
                 read_if(reads<ResidualForm::gated_norms>, "model.placement",
                         integer<member<&GatedNormConfig::rank>>(
                             {"model.norm_gate_rank", "norm gate rank", "",
                              "Width of the hidden layer of the gate that a norm's output is multiplied by."},
                             1, 4096),
                         "gated-norm, or a wiring with the word gated-norms")});
}

}  // namespace normscope
