// The chains of a convolutional network and of a parser.
#include <fmt/format.h>

#include "addons/systems/app/chain_parts.h"
#include "addons/systems/engine/convolutions.h"
#include "app/words/words.h"
#include "engine/ops/ops.h"

namespace normscope::view {
namespace {

ChainPart chain_box(std::string title, std::string note, int layer = 0) {
  return {.title = std::move(title), .note = std::move(note), .layer = layer};
}
ChainPart chain_slot(int layer, const char* name, NormKind norm, Placement placement) {
  return {.slot = fmt::format("layer{}/{}", layer, name), .norm = norm, .placement = placement};
}

/// "ReLU"
const char* activation_name(const ModelConfig& model) {
  return kActivationLabels[static_cast<size_t>(model.activation)];
}

std::string picture_size(int64_t height, int64_t width) {
  if (height <= 0 || width <= 0) return "";  // the data decide the size
  return tr("{height} × {width} pixels", {{"height", height}, {"width", width}});
}

void add_convolution(std::vector<ChainPart>& parts, const ModelConfig& model, const Wiring& wiring,
                     int layer) {
  const ImageConfig& images = model.of<ImageConfig>();
  const ImageWindow pooled = pooling_window(model, layer);
  if (layer > 1) parts.push_back(chain_slot(layer, "conv/before", wiring.before, Placement::Pre));
  parts.push_back(chain_box(tr("Convolution"),
                            tr("{window} × {window}, {channels} channels",
                               {{"window", images.window}, {"channels", pooled.channels}}),
                            layer));
  parts.push_back(chain_slot(layer, "conv/after", wiring.stream, Placement::Post));
  parts.push_back(chain_box(tr("{activation}, max {window} × {window}",
                               {{"activation", activation_name(model)}, {"window", kPooled}}),
                            images.height > 0 ? picture_size(pooled.rows(), pooled.columns()) : ""));
}

int convolutional_layers(const ModelConfig&) { return kConvolutions + 1; }
int parser_layers(const ModelConfig& model) { return static_cast<int>(model.layers) + 1; }

ChainPart last_box(const ModelConfig& model, const char* known, const char* some, int layers) {
  return chain_box(tr("Linear"), tr(model.classes > 0 ? known : some, {{"number", model.classes}}), layers);
}

std::vector<ChainPart> convolutional_parts(const ModelConfig& model, const StackWiring& stack) {
  const ImageConfig& images = model.of<ImageConfig>();
  const Wiring wiring = stack.layers.empty() ? Wiring{} : stack.layers.front().attention;
  const int layers = convolutional_layers(model);
  std::vector<ChainPart> parts{chain_box(tr("Image"), picture_size(images.height, images.width))};
  for (int layer = 1; layer < layers; ++layer) add_convolution(parts, model, wiring, layer);
  parts.push_back(chain_slot(layers, "class/before", wiring.before, Placement::Pre));
  parts.push_back(last_box(model, "{number} classes", "classes", layers));
  return parts;
}

std::vector<ChainPart> parser_parts(const ModelConfig& model, const StackWiring& stack) {
  const int layers = parser_layers(model);
  std::vector<ChainPart> parts{
      chain_box(tr("State"), tr("{number} words, tags, labels", {{"number", model.sequence}})),
      chain_box(tr("Embeddings, joined"), fmt::format("{} × {}", model.sequence, model.d_model))};
  for (int layer = 1; layer < layers; ++layer) {
    const auto at = static_cast<size_t>(layer) - 1;
    const WiredNorm norm = at < stack.layers.size() ? stack.layers[at].feed_forward.before : WiredNorm();
    parts.push_back(
        chain_box(tr("Linear"), tr("{number} features", {{"number", model.feed_forward}}), layer));
    parts.push_back(chain_slot(layer, "hidden/after", norm, Placement::Pre));
    parts.push_back(chain_box(activation_name(model), ""));
  }
  parts.push_back(last_box(model, "{number} transitions", "transitions", layers));
  return parts;
}

std::string convolutional_refusal(Placement placement) {
  return placement == Placement::Post
             ? ""
             : tr("A convolutional network has no residual branches: its norms stand after the "
                  "convolutions (Post), before the layers (Pre) or nowhere.");
}
std::string parser_refusal(Placement) {
  return tr(
      "A parser has no residual stream: its norms stand before the activations (Pre) or "
      "nowhere.");
}

std::string before_activation(const ModelConfig& model, Placement) {
  return tr("before {activation}", {{"activation", activation_name(model)}});
}
std::string convolutional_caption(const ModelConfig& model, Placement placement) {
  return placement == Placement::Pre ? tr("before layer") : before_activation(model, placement);
}

}  // namespace

std::vector<ChainPart> chain_parts(const ModelConfig& model, const StackWiring& stack) {
  return model.architecture == Architecture::Parser ? parser_parts(model, stack)
                                                    : convolutional_parts(model, stack);
}

constinit const Chain convolutional_chain{convolutional_layers, convolutional_refusal, convolutional_caption,
                                          diagram::draw_chain};
constinit const Chain parser_chain{parser_layers, parser_refusal, before_activation, diagram::draw_chain,
                                   false};

}  // namespace normscope::view
