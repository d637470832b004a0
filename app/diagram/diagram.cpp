#include "app/diagram/diagram.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "app/ui/widgets.h"
#include "app/view/chain.h"
#include "app/words/words.h"
#include "engine/model/residual.h"

namespace normscope::diagram {
namespace {

using namespace view;
using namespace ui;

// The sentence of the footer: what a drop does, or how to begin.
struct Footer {
  std::string lead, text;
  bool held = false;
};

Footer drop_footer(const DiagramState& state, const DiagramInput& input, const Stacks& stacks) {
  if (!state.target || !state.preview)
    return {tr("Hold"),
            tr(state.brush ? "over a slot's column, then across layers: these alone change."
                           : "over a yellow slot. Letting go anywhere else changes nothing."),
            true};
  std::string of;
  if (stacks.both && !input.compact)
    of = tr(state.preview->side == Side::Main ? " of the decoder" : " of the encoder");
  std::string text;
  if (state.brush)
    text = tr("{layers}, {what}.", {{"layers", layers_text(state.painted)}, {"what", state.preview->note}});
  else
    text = tr("{what}.", {{"what", drop_text(*state.preview, *state.target, state.only_this, of)}});
  const NormKind final = stacks.wiring(state.preview->side).final;
  if (final == NormKind::None && state.preview->wiring.final != final && !input.compact)
    text += " " + tr("A final norm comes along.");
  if (!state.brush && !state.only_this && state.preview->count() > 1 && of.empty())
    text += " " + tr("Alt: this one.");
  if (!input.compact) {
    const bool back = input.step < input.view.step;
    text += " " + (state.from_start || back ? tr("Starts run D from step {step}.",
                                                 {{"step", state.from_start ? "0" : grouped(input.step)}})
                                            : tr("Starts run D."));
  }
  return {tr(state.brush ? "Paint:" : "Drop:"), text, true};
}

Footer pending_footer(const DiagramState& state) {
  return {tr("Run D"), tr("starts: {what}.", {{"what", state.pending->note}}), true};
}

Footer footer_of(const DiagramState& state, const DiagramInput& input, const Stacks& stacks) {
  if (state.dragging) return drop_footer(state, input, stacks);
  if (!state.left_out.empty()) {
    const int run = shown_run(state, input.view);
    const LeftOutWords left = left_out_words(state, input.view.runs[static_cast<size_t>(run)], input.compact);
    return {left.lead, left.text, true};
  }
  if (state.hovered && std::ranges::find(state.locked, *state.hovered) != state.locked.end())
    return {tr("Locked."), tr(input.compact ? "L unlocks it."
                                            : "It stays when others move. L or a right click unlocks it.")};
  if (state.pending) return pending_footer(state);
  const int norms =
      count_norms(stacks.of(Side::Main)) + (stacks.both ? count_norms(stacks.of(Side::Encoder)) : 0);
  if (norms == 0 && count_fixed_norms(stacks.of(Side::Main)) > 0)
    return {tr(input.compact ? "No norm to drag:##brief" : "No norm to drag:"),
            tr(input.compact ? "they stand inside." : "those here stand inside. A preset changes them.")};
  if (norms == 0)
    return {tr("No norm."),
            tr(input.compact ? "Choose a preset." : "Choose a preset, or focus a slot and press Enter.")};
  return {tr("Drag a norm"),
          tr(input.compact ? "to another slot. Alt: only one."
                           : "to a slot: identical layers follow. Alt: one. Ctrl: paint.")};
}

Footer chain_footer(const DiagramState& state, const DiagramInput& input, const ModelConfig& model) {
  if (state.pending) return pending_footer(state);
  const std::string& lead = first_move(model);
  if (chain_placement(model, model.stack()) == Placement::None) return {lead, tr("to put the norms there.")};
  if (!chain_of(model).dragged) return {lead, tr("to choose its kind or take all off.")};
  return {lead, tr(input.compact ? "to a free slot. Click: its kind"
                                 : "to a free slot: all norms go there. Click: their kind.")};
}

void draw_footer(Ui& ui, const Rect& footer, const Footer& text) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  if (text.held) p.fill_bottom(footer.inset(1, 0), t.accent_soft, radius::panel - 1);
  p.hairline({footer.x + 1, footer.y}, {footer.right() - 1, footer.y}, t.border);
  const Rect line = footer.inset(space::pad, 0);
  const float lead = p.text_in(line, {Face::Bold, type::body}, t.ink, text.lead);
  Rect rest = line;
  rest.take_left(lead + 4);
  text_whole(ui, rest, text.held ? t.ink : t.ink2, text.text);
  ui.mark("diagram/footer", footer, text.lead + " " + text.text,
          tr("Says what letting go, or the next key, will do."));
}

// What stands where: all stacks, or the one that is looked at where two have no room.
std::vector<StackRows> stacks_of(DiagramState& state, const Stacks& stacks, bool compact, bool segment) {
  std::vector<StackRows> stack_layouts;
  for (Side side : {Side::Encoder, Side::Main}) {
    if (side == Side::Encoder && !stacks.both) continue;
    const Stack stack = stacks.of(side, state.locked);
    int& open = state.open(side);
    const int first = open == DiagramState::kUnset ? (stacks.both && !compact ? 0 : 1) : open;
    const int shown = std::clamp(first, -1, stack.layers() - 1);
    if (open != DiagramState::kUnset) open = shown;
    if (compact && stacks.both && side != state.shown) continue;
    stack_layouts.push_back({side, stack.cross, diagram_rows(stack, shown),
                             stacks.wiring(side).embedding != NormKind::None,
                             stream_layout(stacks.wiring(side)).beside != NormKind::None, segment});
  }
  return stack_layouts;
}

void stack_choice(Ui& ui, DiagramState& state, const DiagramLayout& layout) {
  const Rect& output = layout.stack_layouts.front().output;
  int selected = state.shown == Side::Main ? 1 : 0;
  const std::vector<std::string> labels{"encoder", "decoder"};
  if (choice(ui, "diagram/stack", {output.right() + 8, output.y - 1, 96, output.h + 2}, labels, selected,
             tr("Which of the two stacks stands here.")))
    state.shown = selected == 1 ? Side::Main : Side::Encoder;
}

// Draws the focus ring again, because the picture is painted over the ring of a slot or row.
void ring_over(Ui& ui) {
  if (!ui.focus_visible() || !ui.focused().starts_with("diagram/")) return;
  if (const Control* at = ui.registry().find(ui.focused()))
    ui.paint().outline(at->rect.inset(-3), ui.theme().ink, 1.5f, radius::token + 3);
}

}  // namespace

int shown_run(const DiagramState& state, const LabView& view) {
  if (view.runs.empty()) return -1;
  int run = find_run(view, state.selected);
  if (run < 0) run = find_run(view, state.source);
  return run < 0 ? 0 : run;
}

Stacks shown_stacks(const DiagramState& state, const LabView& view, int run) {
  if (state.pending && state.selected == 'D') return state.pending->stacks;
  return view::stacks_of(view.runs[static_cast<size_t>(run)].spec->model);
}

std::string fork_title(const DiagramState& state, const LabView& view) {
  const int run = shown_run(state, view);
  if (run < 0) return {};
  return tr("Fork of {run}", {{"run", view.runs[static_cast<size_t>(run)].letter}});
}

namespace {

RunSpec with_change(RunSpec spec, const ModelConfig* model, const WiringChange& change) {
  if (model)
    spec.model = *model;
  else
    stack_of(spec.model, change.side) = change.wiring;
  complete(spec);
  return spec;
}

}  // namespace

std::optional<RunSpec> spec_in_question(const DiagramState& state, const DiagramInput& input) {
  const int run = shown_run(state, input.view);
  if (run < 0) return {};
  const RunSpec& source = *input.view.runs[static_cast<size_t>(run)].spec;
  const auto& change = state.dragging ? state.preview : state.slot_hovered;
  if (change && !change->empty()) return with_change(source, nullptr, *change);
  if (!state.preset_hovered) return {};
  ModelConfig model = source.model;
  set_placement(model, *state.preset_hovered);
  return with_change(source, &model, {});
}

void commit_change(DiagramState& state, const DiagramInput& input, const ModelConfig* model,
                   const WiringChange& change, bool from_start, std::vector<session::Command>& commands) {
  const int run = shown_run(state, input.view);
  if (run < 0 || (change.empty() && !model)) return;
  const RunView& source = input.view.runs[static_cast<size_t>(run)];
  session::ForkRequest request;
  request.source = run;
  request.spec = with_change(*source.spec, model, change);
  request.spec.name = source.letter == 'D' ? source.name : tr("Fork of {run}", {{"run", source.letter}});
  request.from_start = from_start;
  request.note = change.note;
  request.train = true;
  // The fork begins at the step that is seen.
  if (input.step < input.view.step)
    request.step = std::max(input.step, source.forked_from >= 0 ? source.fork_step : 0);
  state.pending = {view::stacks_of(request.spec.model), change.note};
  commands.emplace_back(std::move(request));
  state.source = source.letter;
  state.selected = 'D';
  state.left_out.clear();
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
                    tr("Show run {run}: {name}. What you drag here forks from it.",
                       {{"run", letter}, {"name", input.view.runs[i].name}}))) {
      state.selected = letter;
      state.pending.reset();
    }
  }
}

void draw_diagram(Ui& ui, DiagramState& state, const DiagramInput& input, const Rect& area,
                  const Rect& footer, std::vector<session::Command>& commands) {
  if (state.pending && state.pending->ticket != 0 && state.pending->ticket <= input.view.answered)
    state.pending.reset();
  const int run = shown_run(state, input.view);
  if (run < 0) return;
  const char letter = input.view.runs[static_cast<size_t>(run)].letter;
  if (state.left_out_of != letter) {
    state.left_out.clear();
    state.left_out_of = letter;
  }
  const Stacks stacks = shown_stacks(state, input.view, run);
  if (!has_stream(input.view.runs[static_cast<size_t>(run)])) {
    const ModelConfig& model = input.view.runs[static_cast<size_t>(run)].spec->model;
    chain_of(model).draw(ui, state, input, run, stacks, area, commands);
    return draw_footer(ui, footer, chain_footer(state, input, model));
  }
  const int32_t memory = input.view.runs[static_cast<size_t>(run)].spec->model.memory;
  const std::vector<StackRows> stack_layouts = stacks_of(state, stacks, input.compact, memory > 0);

  DiagramLayout layout = layout_diagram(area, stack_layouts, input.compact);
  const float overflow = std::max(0.f, layout.content_height - area.h);
  if (overflow > 0 && area.contains(ui.mouse())) state.scroll -= ImGui::GetIO().MouseWheel * 40;
  state.scroll = std::clamp(state.scroll, 0.f, overflow);
  if (state.scroll > 0) {
    Rect moved = area;
    moved.y -= state.scroll;
    layout = layout_diagram(moved, stack_layouts, input.compact);
  }

  ui.mark("diagram", area, placement_caption(stacks.of(Side::Main)),
          tr("The model as it is wired: flow goes up, every branch leaves the residual stream and is "
             "added back. Yellow norms move."));
  if (memory > 0)
    ui.tell("diagram/memory", layout.stack_layouts.front().segment, fmt::format("{}", memory),
            tr("What the layers' inputs were in the segment before: the attention of every layer reads "
               "keys and values of them too. They are held constant: no gradient goes there."));
  handle_diagram(ui, state, input, layout, stacks, area, commands);
  const Rect clip{area.x - 8, area.y - 2, area.w + 16, area.h + 4};
  ui.paint().push_clip(clip);
  paint_diagram(ui, state, input, layout, stacks, run);
  ring_over(ui);
  ui.paint().pop_clip();
  if (stacks.both && input.compact && state.scroll < 4) stack_choice(ui, state, layout);
  draw_footer(ui, footer, footer_of(state, input, stacks));
}

}  // namespace normscope::diagram
