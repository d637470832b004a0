#include "app/view/chain.h"

#include <fmt/format.h>

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

const Chain& row_of(const ModelConfig& model) {
  return *kChains[static_cast<size_t>(model.architecture) -
                  static_cast<size_t>(Architecture::EncoderDecoder)];
}

}  // namespace

const char* activation_name(const ModelConfig& model) {
  return kActivationLabels[static_cast<size_t>(model.activation)];
}

ChainPart chain_box(std::string title, std::string note, int layer) {
  return {.title = std::move(title), .note = std::move(note), .layer = layer};
}

ChainPart chain_slot(int layer, const char* name, NormKind norm, Placement placement) {
  return {.slot = fmt::format("layer{}/{}", layer, name), .norm = norm, .placement = placement};
}

std::vector<ChainPart> chain_of(const ModelConfig& model, const StackWiring& stack) {
  return row_of(model).parts(model, stack);
}

int chain_layers(const ModelConfig& model) { return row_of(model).layers(model); }

Placement chain_placement(const ModelConfig& model, const StackWiring& stack) {
  return placement_of(stack, context_of(model, true));
}

std::string preset_refusal(const ModelConfig& model, Placement placement) {
  if (is_transformer(model.architecture) || placement == Placement::None || placement == Placement::Pre)
    return "";
  return row_of(model).refusal(placement);
}

std::string chain_caption(const ModelConfig& model) {
  const Placement placement = chain_placement(model, model.stack());
  return placement == Placement::None ? tr("no norm") : row_of(model).caption(model, placement);
}

const std::string& first_move(const ModelConfig& model) {
  if (is_transformer(model.architecture)) {
    const Stacks stacks = stacks_of(model);
    const int norms =
        count_norms(stacks.of(Side::Main)) + (stacks.both ? count_norms(stacks.of(Side::Encoder)) : 0);
    return tr(norms > 0 ? "Drag a norm" : "Choose a preset");
  }
  if (chain_placement(model, model.stack()) == Placement::None) return tr("Click a free slot");
  return tr(chain_is_dragged(model) ? "Drag a norm" : "Click a norm");
}

bool chain_is_dragged(const ModelConfig& model) { return row_of(model).dragged; }

}  // namespace normscope::view
