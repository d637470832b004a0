#include "app/view/chain.h"

#include "app/view/diagram_model.h"
#include "app/words/words.h"

namespace normscope::view {
namespace {

constexpr const Chain* kChains[] = {
    nullptr,
#define ARCHITECTURE(Name, name) &name##_chain,
#include "chosen/architectures.def"
#undef ARCHITECTURE
};

}  // namespace

const Chain& chain_of(const ModelConfig& model) {
  return *kChains[static_cast<size_t>(model.architecture) -
                  static_cast<size_t>(Architecture::EncoderDecoder)];
}

Placement chain_placement(const ModelConfig& model, const StackWiring& stack) {
  return placement_of(stack, context_of(model, true));
}

std::string preset_refusal(const ModelConfig& model, Placement placement) {
  if (is_transformer(model.architecture) || placement == Placement::None || placement == Placement::Pre)
    return "";
  return chain_of(model).refusal(placement);
}

std::string chain_caption(const ModelConfig& model) {
  const Placement placement = chain_placement(model, model.stack());
  return placement == Placement::None ? tr("no norm") : chain_of(model).caption(model, placement);
}

const std::string& first_move(const ModelConfig& model) {
  if (is_transformer(model.architecture)) {
    const Stacks stacks = stacks_of(model);
    const int norms =
        count_norms(stacks.of(Side::Main)) + (stacks.both ? count_norms(stacks.of(Side::Encoder)) : 0);
    return tr(norms > 0 ? "Drag a norm" : "Choose a preset");
  }
  if (chain_placement(model, model.stack()) == Placement::None) return tr("Click a free slot");
  return tr(chain_of(model).dragged ? "Drag a norm" : "Click a norm");
}

}  // namespace normscope::view
