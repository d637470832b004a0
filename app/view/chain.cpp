#include "app/view/chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "app/view/diagram_model.h"
#include "engine/model/convolutions.h"

namespace normscope::lab {
namespace {

bool convolves(const ModelConfig& model) { return model.architecture == Architecture::Convolutional; }

std::string activation_name(const ModelConfig& model) {
  std::string name(kActivations[static_cast<size_t>(model.activation)]);
  if (name == "relu") return "ReLU";
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
  return name;
}

ChainPart box(std::string title, std::string note, int layer = 0) {
  return {.title = std::move(title), .note = std::move(note), .layer = layer};
}

ChainPart slot_of(int layer, const char* name, NormKind norm, Placement placement) {
  return {.slot = fmt::format("layer{}/{}", layer, name), .norm = norm, .placement = placement};
}

std::string picture_size(int64_t height, int64_t width) {
  return height > 0 && width > 0 ? fmt::format("{} × {} pixels", height, width) : "";  // of the data
}

void add_convolution(std::vector<ChainPart>& parts, const ModelConfig& model, const Wiring& wiring,
                     int layer) {
  const ImageWindow pooled = pooling_window(model, layer);
  if (layer > 1) parts.push_back(slot_of(layer, "conv/before", wiring.before, Placement::Pre));
  parts.push_back(box("Convolution",
                      fmt::format("{0} × {0}, {1} channels", model.images.window, pooled.channels), layer));
  parts.push_back(slot_of(layer, "conv/after", wiring.stream, Placement::Post));
  parts.push_back(box(fmt::format("{}, max {} × {}", activation_name(model), kPooled, kPooled),
                      model.images.height > 0 ? picture_size(pooled.rows(), pooled.columns()) : ""));
}

}  // namespace

std::vector<ChainPart> chain_of(const ModelConfig& model, const StackWiring& stack) {
  std::vector<ChainPart> parts;
  const int layers = chain_layers(model);
  if (convolves(model)) {
    const Wiring wiring = stack.layers.empty() ? Wiring{} : stack.layers.front().attention;
    parts.push_back(box("Image", picture_size(model.images.height, model.images.width)));
    for (int layer = 1; layer < layers; ++layer) add_convolution(parts, model, wiring, layer);
    parts.push_back(slot_of(layers, "class/before", wiring.before, Placement::Pre));
  } else {
    parts.push_back(box("State", fmt::format("{} words, tags, labels", model.sequence)));
    parts.push_back(box("Embeddings, joined", fmt::format("{} × {}", model.sequence, model.d_model)));
    for (int layer = 1; layer < layers; ++layer) {
      const auto at = static_cast<size_t>(layer) - 1;
      const NormKind norm = at < stack.layers.size() ? stack.layers[at].feed_forward.before : NormKind::None;
      parts.push_back(box("Linear", fmt::format("{} features", model.feed_forward), layer));
      parts.push_back(slot_of(layer, "hidden/after", norm, Placement::Pre));
      parts.push_back(box(activation_name(model), ""));
    }
  }
  const char* of = convolves(model) ? "classes" : "transitions";
  parts.push_back(box("Linear", model.classes > 0 ? fmt::format("{} {}", model.classes, of) : of, layers));
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
  if (!convolves(model))
    return "A parser has no residual stream: its norms stand before the activations (Pre) or nowhere.";
  if (placement == Placement::Post) return "";
  return "A convolutional network has no residual branches: its norms stand after the convolutions (Post), "
         "before the layers (Pre) or nowhere.";
}

std::string chain_caption(const ModelConfig& model) {
  const Placement placement = chain_placement(model, model.stack());
  if (placement == Placement::None) return "no norm";
  if (convolves(model) && placement == Placement::Pre) return "before layer";
  return "before " + activation_name(model);
}

const char* first_move(const ModelConfig& model) {
  if (is_transformer(model.architecture)) {
    const Stacks stacks = stacks_of(model);
    const int norms =
        count_norms(stacks.of(Side::Main)) + (stacks.both ? count_norms(stacks.of(Side::Encoder)) : 0);
    return norms > 0 ? "Drag a norm" : "Choose a preset";
  }
  if (chain_placement(model, model.stack()) == Placement::None) return "Click a free slot";
  return convolves(model) ? "Drag a norm" : "Click a norm";  // a parser has no other slots
}

}  // namespace normscope::lab
