// A layer or a sub-layer is clicked away by its micro-bars (or by the square of the open layer), and the footer tells
// the loss with and without it. Nothing of the run changes. See diagram.h.
#include <fmt/format.h>

#include <algorithm>

#include "app/diagram/diagram.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"
#include "training/session/analysis.h"

namespace normscope::diagram {
namespace {

using namespace ui;

// Says "layer 3", "the encoder's layer 3", "attention of layer 2".
std::string place_words(const std::string& name) {
  const int layer = std::atoi(name.c_str() + name.find('L') + 1);
  const std::string where = tr(name.starts_with("enc.")   ? "the encoder's layer {layer}"
                               : name.starts_with("dec.") ? "the decoder's layer {layer}"
                                                          : "layer {layer}",
                               {{"layer", layer}});
  const size_t sub = name.rfind('.');
  return sub == name.npos || sub < name.find('L')
             ? where
             : tr(name.ends_with("attn")    ? "attention of {where}"
                  : name.ends_with("cross") ? "cross-attention of {where}"
                                            : "feed-forward of {where}",
                  {{"where", where}});
}

std::string places_words(const std::vector<std::string>& names) {
  if (names.size() == 1) return place_words(names.front());
  if (names.size() == 2)
    return tr("{first} and {second}", {{"first", place_words(names[0])}, {"second", place_words(names[1])}});
  return tr("{number} places", {{"number", names.size()}});
}

struct Controls {
  Ui& ui;
  DiagramState& state;
  const DiagramInput& input;
  int run;
  const StackLayout& stack_layout;
  std::vector<session::Command>& commands;

  const ModelConfig& model() const { return input.view.runs[static_cast<size_t>(run)].spec->model; }
  std::string help(const std::string& name) const {
    return tr("Left: how large the stream is where the branch joins it. Right, in the layer's colour: "
              "how large the gradient is that reaches it. Both scales are logarithmic.") +
           "\n" +
           tr(is_left_out(state, name)
                  ? "Puts {place} back."
                  : "Click {place} away: the loss without it is measured on held-out batches, nothing of the "
                    "run changes.",
              {{"place", place_words(name)}});
  }
  std::string control_name(int layer, const char* sub) const {
    return fmt::format("diagram/{}layer{}{}/skip", view::side_prefix(stack_layout.side), layer + 1, sub);
  }
  void control(const Rect& place, int layer, const std::string& name, const char* sub) {
    HitOptions options;
    options.focusable = false;
    options.radius = 3;
    const Hit hit =
        ui.hit(control_name(layer, sub), place, is_left_out(state, name) ? "out" : "in", help(name), options);
    if (hit.hovered && !is_left_out(state, name)) ui.paint().outline(place.inset(-3), ui.theme().slot, 1, 4);
    if (hit.clicked) toggle_left_out(state, run, name, commands);
  }

  void open_row(const RowLayout& row) {
    const int layer = row.row.first;
    for (const SublayerLayout& sub : row.subs) {
      const std::string part = std::string("/") + view::to_string(sub.sub);
      control(joined(sub.size_bar, sub.bar), layer, place_name(model(), stack_layout.side, layer, sub.sub),
              part.c_str());
    }
    if (!row.skip.empty()) control(row.skip, layer, place_name(model(), stack_layout.side, layer), "");
  }

  void collapsed_row(const RowLayout& row) {
    Rect zone;
    for (const BarLayout& bar : row.bars) zone = joined(zone, joined(bar.size, bar.gradient));
    const int first = row.row.first;
    if (row.row.count() == 1) return control(zone, first, place_name(model(), stack_layout.side, first), "");
    // One control serves all bars of the group, so that thin bars can be hit; the height says which layer.
    HitOptions options;
    options.focusable = false;
    options.radius = 3;
    const Hit hit =
        ui.hit(fmt::format("diagram/{}layers{}-{}/skip", view::side_prefix(stack_layout.side), first + 1,
                           row.row.last + 1),
               zone, "", tr("Click a layer's bar away: the loss without it is measured."), options);
    for (const BarLayout& bar : row.bars) {
      const Rect place = joined(bar.size, bar.gradient);
      const std::string name = place_name(model(), stack_layout.side, bar.layer);
      const bool here = ui.mouse().y >= place.y - 2 && ui.mouse().y < place.bottom() + 2;
      ui.tell(control_name(bar.layer, ""), place, is_left_out(state, name) ? "out" : "in", help(name));
      if (hit.clicked && here) toggle_left_out(state, run, name, commands);
    }
  }
};

}  // namespace

std::string place_name(const ModelConfig& model, view::Side side, int layer, std::optional<view::Sub> sub) {
  return fmt::format("{}L{:02}{}{}", view::name_prefix(model, side), layer + 1, sub ? "." : "",
                     sub ? view::to_string(*sub) : "");
}

bool is_left_out(const DiagramState& state, const std::string& name) {
  return std::ranges::find(state.left_out, name) != state.left_out.end();
}

void toggle_left_out(DiagramState& state, int run, const std::string& name,
                     std::vector<session::Command>& commands) {
  if (std::erase(state.left_out, name) == 0) state.left_out.push_back(name);
  if (!state.left_out.empty()) commands.emplace_back(session::Ablate{run, state.left_out});
}

void leave_out_controls(Ui& ui, DiagramState& state, const DiagramInput& input, int run,
                        const StackLayout& stack_layout, const Rect& clip,
                        std::vector<session::Command>& commands) {
  Controls controls{ui, state, input, run, stack_layout, commands};
  for (const RowLayout& row : stack_layout.rows)
    if (clip.contains(row.box.centre())) row.row.open ? controls.open_row(row) : controls.collapsed_row(row);
}

LeftOutWords left_out_words(const DiagramState& state, const RunView& run, bool compact) {
  const std::string places = places_words(state.left_out);
  const std::string lead = compact ? tr("Without") : tr("Without {places}:", {{"places", places}});
  const Ablation* measured = run.ablation.get();
  if (!measured || measured->chosen != state.left_out)
    return {lead,
            tr(run.state == RunState::NonFinite ? "the weights are not finite." : "is being measured.")};
  return {lead,
          tr(compact ? "{places}: {loss}, not {whole}" : "loss {loss} instead of {whole}, at step {step}.",
             {{"places", places},
              {"loss", ui::decimals(measured->chosen_loss, 2)},
              {"whole", ui::decimals(measured->whole, 2)},
              {"step", grouped(measured->step)}})};
}

}  // namespace normscope::diagram
