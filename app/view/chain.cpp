#include "app/view/chain.h"

#include <fmt/format.h>

#include "app/view/diagram_model.h"
#include "app/words/words.h"
#include "engine/model/convolutions.h"

namespace normscope::view {
namespace {

bool convolves(const ModelConfig& model) { return model.architecture == Architecture::Convolutional; }

const char* activation_name(const ModelConfig& model) {
  switch (model.activation) {
    case Activation::Relu:
      return "ReLU";
    case Activation::Gelu:
      return "GELU";
    case Activation::GeluErf:
      return "GELU (erf)";
    case Activation::Silu:
      return "SiLU";
  }
  return "";
}

ChainPart box(std::string title, std::string note, int layer = 0) {
  return {.title = std::move(title), .note = std::move(note), .layer = layer};
}

ChainPart slot_of(int layer, const char* name, NormKind norm, Placement placement) {
  return {.slot = fmt::format("layer{}/{}", layer, name), .norm = norm, .placement = placement};
}

std::string picture_size(int64_t height, int64_t width) {
  if (height <= 0 || width <= 0) return "";  // the data decide the size
  return words::say("diagram.parts.pixels", {{"height", height}, {"width", width}});
}

void add_convolution(std::vector<ChainPart>& parts, const ModelConfig& model, const Wiring& wiring,
                     int layer) {
  const ImageWindow pooled = pooling_window(model, layer);
  if (layer > 1) parts.push_back(slot_of(layer, "conv/before", wiring.before, Placement::Pre));
  parts.push_back(box(
      words::say("diagram.parts.convolution"),
      words::say("diagram.parts.channels", {{"window", model.images.window}, {"channels", pooled.channels}}),
      layer));
  parts.push_back(slot_of(layer, "conv/after", wiring.stream, Placement::Post));
  parts.push_back(
      box(words::say("diagram.parts.pooled", {{"activation", activation_name(model)}, {"window", kPooled}}),
          model.images.height > 0 ? picture_size(pooled.rows(), pooled.columns()) : ""));
}

}  // namespace

std::vector<ChainPart> chain_of(const ModelConfig& model, const StackWiring& stack) {
  std::vector<ChainPart> parts;
  const int layers = chain_layers(model);
  if (convolves(model)) {
    const Wiring wiring = stack.layers.empty() ? Wiring{} : stack.layers.front().attention;
    parts.push_back(
        box(words::say("diagram.parts.image"), picture_size(model.images.height, model.images.width)));
    for (int layer = 1; layer < layers; ++layer) add_convolution(parts, model, wiring, layer);
    parts.push_back(slot_of(layers, "class/before", wiring.before, Placement::Pre));
  } else {
    parts.push_back(box(words::say("diagram.parts.state"),
                        words::say("diagram.parts.read", {{"number", model.sequence}})));
    parts.push_back(
        box(words::say("diagram.parts.embeddings"), fmt::format("{} × {}", model.sequence, model.d_model)));
    for (int layer = 1; layer < layers; ++layer) {
      const auto at = static_cast<size_t>(layer) - 1;
      const WiredNorm norm = at < stack.layers.size() ? stack.layers[at].feed_forward.before : WiredNorm();
      parts.push_back(box(words::say("diagram.parts.linear"),
                          words::say("diagram.parts.features", {{"number", model.feed_forward}}), layer));
      parts.push_back(slot_of(layer, "hidden/after", norm, Placement::Pre));
      parts.push_back(box(activation_name(model), ""));
    }
  }
  const bool known = model.classes > 0;
  const char* const of = convolves(model) ? known ? "diagram.parts.classes" : "diagram.parts.some_classes"
                         : known          ? "diagram.parts.transitions"
                                          : "diagram.parts.some_transitions";
  parts.push_back(
      box(words::say("diagram.parts.linear"), words::say(of, {{"number", model.classes}}), layers));
  return parts;
}

int chain_layers(const ModelConfig& model) {
  return (convolves(model) ? kConvolutions : static_cast<int>(model.layers)) + 1;
}

Placement chain_placement(const ModelConfig& model, const StackWiring& stack) {
  return placement_of(stack, context_of(model, true));
}

std::string preset_refusal(const ModelConfig& model, Placement placement) {
  if (is_transformer(model.architecture) || placement == Placement::None || placement == Placement::Pre)
    return "";
  if (!convolves(model)) return words::say("diagram.refusal.parser");
  if (placement == Placement::Post) return "";
  return words::say("diagram.refusal.convolutions");
}

std::string chain_caption(const ModelConfig& model) {
  const Placement placement = chain_placement(model, model.stack());
  if (placement == Placement::None) return words::say("diagram.caption.none");
  if (convolves(model) && placement == Placement::Pre) return words::say("diagram.caption.before_layer");
  return words::say("diagram.caption.before_activation", {{"activation", activation_name(model)}});
}

const std::string& first_move(const ModelConfig& model) {
  if (is_transformer(model.architecture)) {
    const Stacks stacks = stacks_of(model);
    const int norms =
        count_norms(stacks.of(Side::Main)) + (stacks.both ? count_norms(stacks.of(Side::Encoder)) : 0);
    return words::say(norms > 0 ? "diagram.move.drag" : "diagram.move.preset");
  }
  if (chain_placement(model, model.stack()) == Placement::None) return words::say("diagram.move.slot");
  return words::say(convolves(model) ? "diagram.move.drag"
                                     : "diagram.move.norm");  // a parser has no other slots
}

}  // namespace normscope::view
