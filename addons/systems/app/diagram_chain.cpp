// Draws a convolutional network or a parser in the diagram's place: its boxes from the bottom up, with the engine's
// slots as controls between them: diagram/layer1/conv/after, diagram/layer3/class/before.
// All norms of such a model follow one placement, so clicking a slot, or dropping a norm there, asks for its preset.
#include "addons/systems/app/diagram_chain.h"

#include <imgui.h>

#include <algorithm>

#include "addons/systems/engine/convolutions.h"
#include "app/diagram/diagram.h"
#include "app/ui/widgets.h"

namespace normscope::diagram {
namespace {

using namespace ui;

constexpr float kHead = 16, kBox = 24, kSlot = 18, kMinGap = 5, kMaxGap = 16;  // heights
constexpr float kToken = 46, kWidest = 300;                                    // widths

struct ChainPainter {
  Ui& ui;
  DiagramState& state;
  const DiagramInput& input;
  const RunView& run;
  const Rect& area;
  std::vector<session::Command>& commands;
  const std::vector<view::ChainPart> parts;
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const float key = input.compact ? 16.f : 34.f,
              bar = input.compact ? 34.f : 50.f;  // columns next to the boxes
  const int layers = view::layers_of(run);
  const std::vector<float> gradients{input.data.by_layer(run, "ffn.w2.grad_norm", input.step)};
  std::vector<Rect> places{};

  // True for whole boxes only, so that scrolling cuts no text.
  bool seen(const Rect& place) const {
    return area.inset(0, -1).contains(place) && place.y >= area.y + kHead - 1;
  }
  bool is_free(size_t i) const { return !parts[i].slot.empty() && parts[i].norm == NormKind::None; }
  float middle() const { return places.front().centre().x; }

  // Puts the input lowest, and scrolls where the chain does not fit.
  void lay_out() {
    float needed = kHead;
    for (const view::ChainPart& part : parts) needed += part.slot.empty() ? kBox : kSlot;
    const float gaps = static_cast<float>(parts.size() - 1);
    const float gap = std::clamp((area.h - needed) / gaps, kMinGap, kMaxGap);
    const float overflow = std::max(0.f, needed + gap * gaps - area.h);
    if (overflow > 0 && area.contains(ui.mouse())) state.scroll -= ImGui::GetIO().MouseWheel * 40;
    state.scroll = std::clamp(state.scroll, 0.f, overflow);
    const float width = std::min(kWidest, area.w - key - bar - 10);
    float y = area.y + kHead - state.scroll;
    for (size_t i = parts.size(); i-- > 0;) {
      const bool box = parts[i].slot.empty();
      const float h = box ? kBox : kSlot;
      places.push_back(centred({area.x + key + width / 2, y + h / 2}, box ? width : kToken, h));
      y += h + gap;
    }
    std::ranges::reverse(places);
  }

  void box(const view::ChainPart& part, const Rect& place) {
    p.fill(place, t.dark ? t.field : t.sunk, 5);
    p.outline(place, t.wire, line::box, 5);
    Rect inside = place.inset(12, 0);
    inside.take_left(p.text_in(inside, {Face::Bold, type::body}, t.ink, part.title) + 8);
    const TextStyle note{Face::Sans, type::body};
    if (p.text_width(note, part.note) <= inside.w) p.text_in(inside, note, t.ink3, part.note);
  }

  // Draws a layer's square in the colour of all plots by depth, and the gradient of its matrix.
  void layer_of(const view::ChainPart& part, const Rect& place) {
    const int layer = part.layer - 1;
    const float y = place.centre().y;
    if (Rect{area.x, place.y, area.w, place.h}.contains(ui.mouse())) state.hovered_layer = layer;
    const bool lit = input.hover_layer == layer;
    depth_square(ui, {area.x, y - 5, 10, 10}, layer, layers);
    if (lit) p.outline({area.x - 3, y - 8, 16, 16}, t.ink, 1.4f, 4);
    if (!input.compact)
      p.text({area.x + 14, y + 4}, {Face::Sans, type::body}, t.ink2, fmt::format("{}", part.layer));
    paint_gradient_bar(ui, {area.right() - bar, y - 4, bar, 8}, gradients[static_cast<size_t>(layer)], layer,
                       layers, lit);
  }

  void ask(Placement placement) {
    if (!preset_held(ui, placement)) state.preset_asked = placement;
  }

  void token(Painter& to, const Rect& place, NormKind kind) {
    to.accent_box(t, place, radius::token);
    to.text_in(place, {Face::Bold, type::tick}, t.on_accent, view::token_text(kind), Align::Centre);
  }

  // When a norm is dropped on a free slot, requests the preset of this slot.
  void drop() {
    for (size_t i = 0; i < parts.size(); ++i)
      if (is_free(i) && seen(places[i]) && places[i].inset(-40, -8).contains(ui.mouse()))
        return ask(parts[i].placement);
  }

  std::string help_of(const view::ChainPart& part) const {
    if (part.norm == NormKind::None)
      return tr(
          "A free slot. A click puts the norms there, in all layers: {placement}. Run D starts "
          "from there.",
          {{"placement", words::spoken(label(part.placement))}});
    bool room = false;
    for (size_t i = 0; i < parts.size(); ++i) room = room || is_free(i);
    return tr(room
                  ? "{kind}. All norms of this model stand alike: drag it to a free slot and they go to such "
                    "slots; a click chooses their kind, or takes them off. Run D starts from there."
                  : "{kind}. All norms of this model stand alike: a click chooses their kind, or takes them "
                    "off. Run D starts from there.",
              {{"kind", view::kind_words(part.norm).name}});
  }

  void slot(size_t i) {
    const view::ChainPart& part = parts[i];
    const Rect& place = places[i];
    const bool filled = part.norm != NormKind::None;
    const Hit hit = ui.hit("diagram/" + part.slot, place, short_name(part.norm), help_of(part),
                           {.radius = radius::token});
    p.fill(place.inset(-2), t.panel);
    if (filled) {
      token(p, place, part.norm);
    } else {
      p.dashed_outline(place, hit.hovered ? t.ink : t.control, line::outline, kSlotDash, radius::token);
      p.text({place.right() + 8, place.centre().y + 4}, {Face::Sans, type::tick}, t.ink3,
             shown_label(row_of(part.placement).short_label));
    }
    const bool dragged = filled && hit.dragging;
    if (dragged && hit.held) token(ui.paint_top(), centred(ui.mouse(), 37, 23), part.norm);
    if (dragged && hit.released) drop();
    if ((hit.clicked && !dragged) || hit.right_clicked) {
      if (!filled) return ask(part.placement);
      state.menu = view::SlotId{static_cast<int>(i)};
      ui.open_popup("diagram/kind");
    }
  }

  // Changes the kind of all norms.
  void choose(NormKind now, NormKind kind) {
    if (kind == NormKind::None) return ask(Placement::None);
    if (kind == now) return;
    RunSpec spec = *run.spec;
    set_field(spec, "model.norm", short_name(kind));
    view::WiringChange change{spec.model.stack()};
    change.note = tr("{kind} everywhere", {{"kind", view::kind_words(kind).name}});
    commit_change(state, input, &spec.model, change, ui.shift(), commands);
  }

  void menu() {
    if (!state.menu) return;
    const auto i = static_cast<size_t>(state.menu->layer);
    if (i < parts.size() && parts[i].norm != NormKind::None) {
      const KindChoice choice = kind_menu(ui, places[i], parts[i].norm, false, false);
      if (choice.kind) choose(parts[i].norm, *choice.kind);
    }
    if (!ui.popup_open("diagram/kind")) state.menu.reset();
  }

  void draw() {
    const Rect head{area.right() - bar, area.y, bar, kHead};
    p.text({head.right(), head.centre().y + 4}, {Face::Sans, type::tick}, t.ink3,
           tr(input.compact ? "grad." : "gradient"), Align::Right);
    ui.tell("diagram/gradient", head, "",
            tr("How large the loss's gradient is, ‖∂L/∂W‖ at each layer's matrix, on a logarithmic "
               "scale from a millionth to 3."));
    p.push_clip({area.x - 8, area.y + kHead - 2, area.w + 16, area.h - kHead + 4});
    const float top = places.back().centre().y, bottom = places.front().centre().y;
    p.fill({middle() - line::stream / 2, top, line::stream, bottom - top},
           t.runs[static_cast<size_t>(state.pending && state.selected == 'D' ? 3 : run.letter - 'A')].line);
    for (size_t i = 0; i < parts.size(); ++i) {
      if (!seen(places[i])) continue;
      if (!parts[i].slot.empty())
        slot(i);
      else
        box(parts[i], places[i]);
      if (parts[i].layer > 0) layer_of(parts[i], places[i]);
    }
    p.pop_clip();
  }
};

}  // namespace

void draw_chain(Ui& ui, DiagramState& state, const DiagramInput& input, int run, const view::Stacks& stacks,
                const Rect& area, std::vector<session::Command>& commands) {
  const RunView& view = input.view.runs[static_cast<size_t>(run)];
  const ModelConfig& model = view.spec->model;
  state.dragging.reset();  // left by a transformer that stood here
  state.preview.reset();
  state.hovered.reset();
  state.hovered_layer.reset();
  ui.mark("diagram", area, view::chain_caption(model),
          tr("The model as it is: flow goes up, and what has no residual stream has no branches. "
             "Yellow norms move."));
  ChainPainter chain{ui, state, input, view, area, commands, view::chain_parts(model, stacks.main)};
  chain.lay_out();
  chain.draw();
  chain.menu();
}

}  // namespace normscope::diagram

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
