#include "app/lab/diagram.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "app/ui/widgets.h"

namespace normscope::lab {
namespace {

using namespace ui;

constexpr double kPatience = 10;  // seconds a fork may take to appear before the diagram shows what is there

const char* preset_label(Placement placement) {
  switch (placement) {
    case Placement::None:
      return "None";
    case Placement::Post:
      return "Post";
    case Placement::Pre:
      return "Pre";
    case Placement::Sandwich:
      return "Sandwich";
    case Placement::DeepNorm:
      return "DeepNorm";
    case Placement::Admin:
      return "Admin";
    case Placement::ReZero:
      return "ReZero";
    case Placement::Custom:
      break;
  }
  return "Custom";
}

void settle_pending(DiagramState& state, const LabView& view, double time) {
  if (!state.pending) return;
  const int d = find_run(view, 'D');
  const bool arrived =
      d >= 0 && view.version != state.pending->since_version &&
      same_wiring(view.runs[static_cast<size_t>(d)].spec->model.stack(), state.pending->wiring);
  const bool refused = view.version != state.pending->since_version && !view.message.empty() && !view.busy;
  if (arrived || refused || time - state.pending->time > kPatience) state.pending.reset();
}

// The sentence of the footer: what a drop does, or how to begin.
struct Footer {
  std::string lead, text;
  bool held = false;
};

Footer footer_of(const DiagramState& state, const DiagramInput& input, const StackWiring& stack) {
  if (state.dragging) {
    if (!state.target || !state.preview)
      return {"Hold", "over a yellow slot. Letting go anywhere else changes nothing.", true};
    std::string text = drop_text(*state.preview, *state.target, state.only_this) + ".";
    if (!state.only_this && state.preview->count() > 1) text += " Alt: this one.";
    if (!input.compact) text += state.from_start ? " Starts run D from step 0." : " Starts run D.";
    return {"Drop:", text, true};
  }
  if (state.pending) return {"Run D", "starts: " + state.pending->note + ".", true};
  const int norms = count_norms(stack);
  if (norms == 0)
    return {"No norm.",
            input.compact ? "Choose a preset." : "Choose a preset, or focus a slot and press Enter."};
  if (input.compact) return {"Drag a norm", "to another slot. Alt: only one."};
  return {"Drag a norm", fmt::format("to another slot: all alike follow, Alt moves one.")};
}

}  // namespace

int shown_run(const DiagramState& state, const LabView& view) {
  if (view.runs.empty()) return -1;
  int run = find_run(view, state.selected);
  if (run < 0) run = find_run(view, state.source);
  return run < 0 ? 0 : run;
}

const StackWiring& shown_wiring(const DiagramState& state, const LabView& view, int run) {
  if (state.pending && state.selected == 'D') return state.pending->wiring;
  return view.runs[static_cast<size_t>(run)].spec->model.stack();
}

std::string fork_title(const DiagramState& state, const LabView& view) {
  const int run = shown_run(state, view);
  if (run < 0) return {};
  return fmt::format("Fork of {}", view.runs[static_cast<size_t>(run)].letter);
}

void commit_change(DiagramState& state, const DiagramInput& input, const ModelConfig* model,
                   const WiringChange& change, bool from_start, double time, std::vector<Command>& commands) {
  const int run = shown_run(state, input.view);
  if (run < 0 || (change.empty() && !model)) return;
  const RunView& source = input.view.runs[static_cast<size_t>(run)];
  ForkRequest request;
  request.source = run;
  request.spec = *source.spec;
  if (model)
    request.spec.model = *model;
  else
    request.spec.model.stack() = change.wiring;
  request.spec.name = source.letter == 'D' ? source.name : fmt::format("Fork of {}", source.letter);
  request.from_start = from_start;
  request.note = change.note;
  commands.emplace_back(std::move(request));
  state.pending = {change.wiring, change.note, input.view.version, time};
  state.source = source.letter;
  state.selected = 'D';
}

void draw_presets(Ui& ui, DiagramState& state, const DiagramInput& input, const Rect& rect, bool as_list,
                  std::vector<Command>& commands) {
  const int run = shown_run(state, input.view);
  if (run < 0) return;
  const ModelConfig& model = input.view.runs[static_cast<size_t>(run)].spec->model;
  const StackWiring& stack = shown_wiring(state, input.view, run);
  const Placement now = placement_of(stack, context_of(model, true));
  std::vector<std::string> labels;
  int selected = -1;
  for (Placement placement : kPresets) {
    if (placement == now) selected = static_cast<int>(labels.size());
    labels.push_back(preset_label(placement));
  }
  const char* help =
      "Puts the norms of all layers where this method has them, the final norm too, and forks run D from "
      "there.";
  bool changed = false;
  if (as_list) {
    if (selected < 0)
      labels.push_back(preset_label(Placement::Custom)), selected = static_cast<int>(labels.size()) - 1;
    changed = choice(ui, "diagram/preset", rect, labels, selected, help);
  } else {
    changed = segmented(ui, "diagram/preset", rect, labels, selected, help);
  }
  if (!changed || selected < 0 || selected >= static_cast<int>(std::size(kPresets))) return;
  const Placement chosen = kPresets[selected];
  if (chosen == now) return;
  ModelConfig next = model;
  set_placement(next, chosen);
  WiringChange change;
  change.wiring = next.stack();
  change.note = fmt::format("{} in all layers", label(chosen));
  commit_change(state, input, &next, change, ui.shift(), ui.time(), commands);
}

void draw_run_tiles(Ui& ui, DiagramState& state, const DiagramInput& input, Vec right_centre) {
  const bool crowded = input.compact && input.view.runs.size() > 3;
  const float size = crowded ? 18 : 20, pitch = crowded ? 25 : 28;
  float x = right_centre.x - size - pitch * static_cast<float>(input.view.runs.size() - 1);
  const int shown = shown_run(state, input.view);
  for (size_t i = 0; i < input.view.runs.size(); ++i, x += pitch) {
    const char letter = input.view.runs[i].letter;
    const bool on = static_cast<int>(i) == shown;
    if (tile_button(ui, fmt::format("diagram/run/{}", letter), {x, right_centre.y - size / 2, size, size},
                    letter - 'A', on,
                    fmt::format("Show run {}: {}. What you drag here forks from it.", letter,
                                input.view.runs[i].name)))
      state.selected = letter, state.pending.reset();
  }
}

void draw_diagram(Ui& ui, DiagramState& state, const DiagramInput& input, const Rect& area,
                  const Rect& footer, std::vector<Command>& commands) {
  settle_pending(state, input.view, ui.time());
  const int run = shown_run(state, input.view);
  if (run < 0) return;
  StackWiring stack = shown_wiring(state, input.view, run);
  const int layers = static_cast<int>(stack.layers.size());
  state.open_layer = std::clamp(state.open_layer, -1, layers - 1);

  DiagramLayout layout = layout_diagram(area, diagram_rows(stack, state.open_layer), input.compact);
  const float overflow = std::max(0.f, layout.content_height - area.h);
  if (overflow > 0 && area.contains(ui.mouse())) state.scroll -= ImGui::GetIO().MouseWheel * 40;
  state.scroll = std::clamp(state.scroll, 0.f, overflow);
  if (state.scroll > 0) {
    Rect moved = area;
    moved.y -= state.scroll;
    layout = layout_diagram(moved, diagram_rows(stack, state.open_layer), input.compact);
  }

  ui.mark("diagram", area, placement_caption(stack),
          "The model as it is wired: flow goes up, every branch leaves the trunk and is added back. Yellow "
          "norms move.");
  handle_diagram(ui, state, input, layout, stack, area, commands);
  const Rect clip{area.x - 8, area.y - 2, area.w + 16, area.h + 4};
  ui.paint().push_clip(clip);
  paint_diagram(ui, state, input, layout, stack, run);
  ui.paint().pop_clip();

  const Footer text = footer_of(state, input, stack);
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  if (text.held) p.fill_bottom(footer.inset(1, 0), t.accent_soft, radius::panel - 1);
  p.hairline({footer.x + 1, footer.y}, {footer.right() - 1, footer.y}, t.border);
  const Rect line = footer.inset(space::pad, 0);
  const float lead = p.text_in(line, {Face::bold, type::body}, t.ink, text.lead);
  Rect rest = line;
  rest.take_left(lead + 4);
  p.text_in(rest, {Face::sans, type::body}, text.held ? t.ink : t.ink2, text.text);
  ui.mark("diagram/footer", footer, text.lead + " " + text.text,
          "Says what letting go, or the next key, will do.");
}

}  // namespace normscope::lab
