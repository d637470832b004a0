// What a hand changes of a function: a click on attention opens how far it mixes the tokens and how large W_O starts, and
// an arrow dragged from the embedding lets a layer read the embedding once more. In Instant a choice under the mouse
// answers at once.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "app/diagram/diagram.h"
#include "app/ui/widgets.h"
#include "app/view/glossary.h"
#include "app/words/words.h"
#include "engine/model/residual.h"

namespace normscope::diagram {
namespace {

using namespace view;
using namespace ui;

constexpr float kMenuWidth = 372, kTitleRow = 20, kChoiceRow = 28, kPause = 8;

// A value that a segment gives to a number of attention; the segment's control is diagram/attention/FIELD/NAME.
struct Choice {
  std::string_view name;
  float value;
};
constexpr std::array<Choice, 5> kMixing{
    {{"mixes", 1}, {"0.75", 0.75f}, {"0.5", 0.5f}, {"0.25", 0.25f}, {"to itself", 0}}};
constexpr std::array<Choice, 4> kStarts{{{"1", 1}, {"0.3", 0.3f}, {"0.1", 0.1f}, {"0", 0}}};

std::vector<words::Label> labels(std::span<const Choice> choices) {
  std::vector<std::string> names;
  for (const Choice& choice : choices) names.emplace_back(choice.name);
  return labels_of(names);
}

int place_of(std::span<const Choice> choices, float value) {
  const auto at = std::ranges::find(choices, value, &Choice::value);
  return at == choices.end() ? -1 : static_cast<int>(at - choices.begin());
}

void let_read(StackWiring& stack, int layer, bool reads) {
  LayerWiring& wiring = stack.layers[static_cast<size_t>(layer)];
  for (Wiring* sub : {&wiring.attention, &wiring.feed_forward}) {
    if (reads)
      sub->added |= words_reading_start();
    else
      sub->added &= ~words_reading_start();
  }
}

struct Hands {
  Ui& ui;
  DiagramState& state;
  const DiagramInput& input;
  std::vector<session::Command>& commands;
  const ModelConfig& model;

  void commit(const ModelConfig& next, const std::string& note, bool from_start) const {
    WiringChange change{next.stack()};
    change.note = note;
    commit_change(state, input, &next, change, from_start, commands);
  }

  // The model in which this layer begins to read the embedding, or ceases to.
  ModelConfig turned(Side side, int layer) const {
    ModelConfig next = model;
    let_read(stack_of(next, side), layer, !reads_embedding(stack_of(next, side), layer));
    return next;
  }
  void turn(Side side, int layer, bool from_start) const {
    ModelConfig next = turned(side, layer);
    commit(next, reading_words(reads_embedding(stack_of(next, side), layer), layer), from_start);
  }

  void attention_box(SlotId at, const Rect& box) const {
    const std::string name = fmt::format("diagram/{}layer{}/attn/mixing", side_prefix(at.side), at.layer + 1);
    const Hit hit = ui.hit(name, box, fmt::format("{:g}", model.attention.mixing),
                           first_sentence("attention") + "\n" +
                               tr("Click: how far it mixes the tokens, and how large W_O starts."));
    if (hit.hovered) ui.paint().outline(box.inset(-2), ui.theme().control, 1, 8);
    if (!hit.clicked) return;
    state.attention = at;
    ui.open_popup("diagram/attention");
  }

  // Segments for one number of attention: commits what is chosen, and notes what is under the mouse.
  void number(Rect& rows, const char* field, const std::string& caption, const std::string& help,
              std::span<const Choice> choices, float AttentionConfig::*number, bool from_start) const {
    const std::string name = fmt::format("diagram/attention/{}", field);
    ui.paint().text_in(rows.take_top(kTitleRow), {Face::Sans, type::body}, ui.theme().ink, caption);
    const auto with = [&](const Choice& choice) {
      ModelConfig next = model;
      next.attention.*number = choice.value;
      return next;
    };
    int selected = place_of(choices, model.attention.*number);
    if (segmented(ui, name, rows.take_top(kChoiceRow, kPause), labels(choices), selected, help)) {
      const ModelConfig next = with(choices[static_cast<size_t>(selected)]);
      const std::vector<std::string> said = attention_words(next);
      commit(next, said.empty() ? tr("attention as usual") : fmt::format("{}", fmt::join(said, ", ")),
             from_start);
    }
    if (!input.view.instant) return;
    for (const Choice& choice : choices)
      if (ui.under_mouse() == fmt::format("{}/{}", name, choice.name)) state.model_hovered = with(choice);
  }

  void reads_row(Rect& rows, SlotId at) const {
    if (words_reading_start() == 0) return;
    const bool reads = reads_embedding(view::stacks_of(model).wiring(at.side), at.layer);
    if (button(
            ui, "diagram/attention/reads", rows.take_top(kChoiceRow),
            tr(reads ? "Let layer {layer} read its input alone" : "Let layer {layer} read the embedding too",
               {{"layer", at.layer + 1}}),
            tr("Its branches read the tokens once more, beside their own input, and give them no "
               "gradient. Dragging the embedding to the layer does the same."),
            {.left = true, .style = {Face::Sans, type::body}}))
      turn(at.side, at.layer, ui.shift());
    if (input.view.instant && ui.under_mouse() == "diagram/attention/reads")
      state.model_hovered = turned(at.side, at.layer);
  }

  void menu(const Rect& anchor) const {
    const float reads = words_reading_start() == 0 ? 0 : kChoiceRow;
    Rect box{std::min(anchor.x, ui.size().x - kMenuWidth - 4), anchor.bottom() + 6, kMenuWidth,
             3 * kTitleRow + 2 * (kChoiceRow + kPause) + reads + 16};
    box.y = std::clamp(box.y, 4.f, std::max(4.f, ui.size().y - box.h - 4));
    if (!ui.begin_popup("diagram/attention", box)) return;
    Rect rows = box.inset(10, 8);
    ui.paint().text_in(rows.take_top(kTitleRow), {Face::Bold, type::body}, ui.theme().ink,
                       tr("Attention, in all layers"));
    number(rows, "mixing", tr("How far it mixes the tokens"),
           tr("What W_O reads is so much of attention's mean, and for the rest each token's own values. "
              "Weights and norms stay."),
           kMixing, &AttentionConfig::mixing, ui.shift());
    number(rows, "start", tr("How large W_O starts: from step 1 on"),
           tr("A factor on the first values of W_O, the matrix in which attention ends. It concerns the "
              "start, so the variant begins at step 1."),
           kStarts, &AttentionConfig::start, true);
    reads_row(rows, *state.attention);
    ui.end_popup();
  }

  std::optional<int> layer_under_mouse(const StackLayout& stack) const {
    for (const RowLayout& row : stack.rows)
      if (row.box.inset(-4, 0).contains(ui.mouse())) return row.layer_at(ui.mouse().y);
    return {};
  }

  // The embedding, from which an arrow is dragged to the layer that is to read it.
  void arrow(const StackLayout& stack) const {
    const Hit hit =
        ui.hit(fmt::format("diagram/{}arrow", side_prefix(stack.side)), stack.embedding, "",
               first_sentence("embedding") + "\n" +
                   tr("Drag it to a layer, which then reads the embedding beside its own input. A "
                      "click gives it to the top layer."));
    if (hit.held && hit.dragging && !state.cancelled) {
      state.arrow = stack.side;
      state.arrow_layer = layer_under_mouse(stack);
      if (state.arrow_layer && input.view.instant)
        state.model_hovered = turned(stack.side, *state.arrow_layer);
      state.cancelled = ui.shortcut("Escape");
    }
    if (hit.released && state.arrow && state.arrow_layer && !state.cancelled)
      turn(stack.side, *state.arrow_layer, hit.shift);
    else if (hit.clicked && !hit.dragging)
      turn(stack.side, layers_of(model, stack.side) - 1, hit.shift);
    if (state.arrow == stack.side && (hit.released || state.cancelled)) {
      state.arrow.reset();
      state.arrow_layer.reset();
    }
    if (hit.released) state.cancelled = false;
  }
};

const Rect* box_of(const DiagramLayout& layout, SlotId at) {
  const StackLayout* const stack = layout.stack_layout(at.side);
  if (!stack) return nullptr;
  for (const RowLayout& row : stack->rows)
    for (const SublayerLayout& sub : row.subs)
      if (row.row.first == at.layer && sub.sub == at.sub) return &sub.box;
  return nullptr;
}

}  // namespace

bool reads_embedding(const StackWiring& stack, int layer) {
  const LayerWiring& wiring = stack.layers[static_cast<size_t>(layer)];
  return ((wiring.attention.added | wiring.feed_forward.added) & words_reading_start()) != 0;
}

std::string reading_words(bool reads, int layer) {
  return tr(reads ? "layer {layer} reads the embedding too" : "layer {layer} reads its input alone",
            {{"layer", layer + 1}});
}

std::vector<std::string> attention_words(const ModelConfig& model) {
  std::vector<std::string> words;
  const float mixing = model.attention.mixing, start = model.attention.start;
  if (mixing == 0) words.push_back(tr("each to itself"));
  if (mixing > 0 && mixing < 1)
    words.push_back(tr("mixing {share}", {{"share", fmt::format("{:g}", mixing)}}));
  if (start != 1) words.push_back(tr("W_O × {factor}", {{"factor", fmt::format("{:g}", start)}}));
  return words;
}

void function_controls(Ui& ui, DiagramState& state, const DiagramInput& input, const DiagramLayout& layout,
                       const Rect& clip, std::vector<session::Command>& commands) {
  state.model_hovered.reset();
  if (state.pending) return;
  const Hands hands{ui, state, input, commands,
                    input.view.runs[static_cast<size_t>(shown_run(state, input.view))].spec->model};
  for (const StackLayout& stack : layout.stack_layouts) {
    for (const RowLayout& row : stack.rows)
      for (const SublayerLayout& sub : row.subs)
        if (sub.sub == Sub::Attention && clip.contains(sub.box.centre()))
          hands.attention_box({row.row.first, sub.sub, Slot::Stream, stack.side}, sub.box);
    if (words_reading_start() != 0 && clip.contains(stack.embedding.centre())) hands.arrow(stack);
  }
  if (!state.attention) return;
  if (const Rect* const box = box_of(layout, *state.attention)) hands.menu(*box);
  if (!ui.popup_open("diagram/attention")) state.attention.reset();
}

}  // namespace normscope::diagram
