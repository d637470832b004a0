#include "app/diagram/diagram.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/ui/widgets.h"
#include "app/view/diagram_model.h"
#include "app/view/glossary.h"
#include "app/words/words.h"
#include "engine/model/residual.h"

namespace normscope::diagram {
namespace {

using namespace view;
using namespace ui;

// The sentence of the footer: the effect of a drop, or the first thing to do. `held`: highlighted.
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

Footer arrow_footer(const DiagramState& state, const Stacks& stacks) {
  const std::string lead = tr("Embedding:");
  if (!state.arrow_layer) return {lead, tr("let go over a layer."), true};
  const int layer = *state.arrow_layer;
  return {lead, reading_words(!reads_embedding(stacks.wiring(*state.arrow), layer), layer), true};
}

Footer footer_of(const DiagramState& state, const DiagramInput& input, const Stacks& stacks) {
  if (state.dragging) return drop_footer(state, input, stacks);
  if (state.arrow) return arrow_footer(state, stacks);
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

// The rows of both stacks or, in the compact layout, of the stack that is shown. Clamps the open layers to the stacks.
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
  if (choice(ui, "diagram/stack", {output.right() + 8, output.y - 1, 96, output.h + 2},
             labels_of({"encoder", "decoder"}), selected, tr("Which of the two stacks stands here.")))
    state.shown = selected == 1 ? Side::Main : Side::Encoder;
}

// Draws the focus ring again, because the picture is painted over the ring of a slot or row.
void ring_over(Ui& ui) {
  if (!ui.focus_visible() || !ui.focused().starts_with("diagram/")) return;
  if (const Control* at = ui.registry().find(ui.focused()))
    ui.paint().outline(at->rect.inset(-3), ui.theme().ink, 1.5f, radius::token + 3);
}

RunSpec with_change(RunSpec spec, const ModelConfig* model, const WiringChange& change) {
  if (model)
    spec.model = *model;
  else
    stack_of(spec.model, change.side) = change.wiring;
  complete(spec);
  return spec;
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

std::string fork_name(char source, bool from_start) {
  return tr(from_start ? "Variant of {run}" : "Fork of {run}", {{"run", source}});
}

std::string fork_title(const DiagramState& state, const LabView& view) {
  const int run = shown_run(state, view);
  if (run < 0) return {};
  return fork_name(view.runs[static_cast<size_t>(run)].letter, state.from_start || view.instant);
}

std::optional<RunSpec> spec_in_question(const DiagramState& state, const DiagramInput& input) {
  const int run = shown_run(state, input.view);
  if (run < 0) return {};
  const RunSpec& source = *input.view.runs[static_cast<size_t>(run)].spec;
  const auto& change = state.dragging ? state.preview : state.slot_hovered;
  if (change && !change->empty()) return with_change(source, nullptr, *change);
  if (state.model_hovered) return with_change(source, &*state.model_hovered, {});
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
  request.spec.name =
      source.letter == 'D' ? source.name : fork_name(source.letter, from_start || input.view.instant);
  request.from_start = from_start;
  request.note = change.note;
  request.train = true;
  // The fork begins at the cursor's step.
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
  const Ui::Group group(ui, "runs");
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

// ---- The row of presets above the diagram: as many segments as fit, and a list with the other presets. For an
// encoder-decoder also the choice of the stack that a preset changes.

namespace {

constexpr int kCustom = -1;

std::string preset_label(Placement placement) { return row_of(placement).short_label; }

StackContext context_for(const ModelConfig& model, view::Side side) {
  return context_of(model, side == view::Side::Main && model.architecture != Architecture::Encoder);
}

// A placement by its index in the list; `place_of`: that index, or kCustom for a placement that is not listed.
Placement preset_at(int place) { return placements()[static_cast<size_t>(place)]; }
int place_of(Placement placement) {
  const std::vector<Placement> all = placements();
  const auto at = std::ranges::find(all, placement);
  return at == all.end() ? kCustom : static_cast<int>(at - all.begin());
}

// The index of the preset that the stacks, or the one chosen by `which`, match; else kCustom.
int preset_of(const ModelConfig& model, const view::Stacks& stacks, int which) {
  const auto placement = [&](view::Side side) {
    return placement_of(stacks.wiring(side), context_for(model, side));
  };
  Placement now = placement(which == 1 ? view::Side::Encoder : view::Side::Main);
  if (stacks.both && which == 0 && placement(view::Side::Encoder) != now) now = Placement::Custom;
  return place_of(now);
}

const std::string& preset_help() {
  return tr(
      "Puts the norms of all layers where this method has them, the final norm too, and forks "
      "run D from there.");
}

// The help of a preset: what it does, and in small print its formula and source.
std::string preset_help(Placement placement) {
  const PlacementRow& row = row_of(placement);
  const std::string source = *row.source ? fmt::format("{}. ", words::spoken(row.source)) : "";
  const view::Term* const term = view::term_at(std::string("preset/") + row.short_label);
  const std::string what = term ? fmt::format("{}\n", term->text) : "";
  return fmt::format("{}{}: {}. {}{}", what, words::spoken(row.label), words::spoken(row.formula), source,
                     preset_help());
}

// The longest beginning of a formula that fits, cut at ';' or ','; the help has the whole formula.
std::string_view whole_parts(Painter& p, const TextStyle& style, std::string_view formula, float room) {
  for (char mark : {';', ','})
    while (p.text_width(style, formula) > room && formula.find(mark) != formula.npos)
      formula = formula.substr(0, formula.rfind(mark));
  return p.text_width(style, formula) > room ? std::string_view{} : formula;
}

// The next preset that can be chosen in the arrow's direction, or `from` where there is none.
int next_preset(const Ui& ui, const ModelConfig& model, int from, int by, int first) {
  const std::vector<Placement> all = placements();
  const int count = static_cast<int>(all.size());
  for (int i = from + by; i >= first && i < count; i += by) {
    const Placement next = all[static_cast<size_t>(i)];
    if (!preset_held(ui, next) && view::preset_refusal(model, next).empty()) return i;
  }
  return from;
}

// Draws one row of the list; `help` says why a preset cannot be chosen.
bool preset_item(Ui& ui, const std::string& name, const Rect& item, const PlacementRow& row, bool on,
                 const std::string& help, bool possible) {
  const Hit hit = ui.hit(fmt::format("{}/{}", name, row.short_label), item, on ? "on" : "", help,
                         {.enabled = possible, .selected = on, .radius = radius::field});
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  if (hit.hovered && possible) p.fill(item, t.sunk, radius::field);
  Rect line = item.inset(8, 0);
  p.text_in(line.take_left(134), {on ? Face::Bold : Face::Sans, type::body}, possible ? t.ink : t.control,
            words::spoken(row.label));
  const TextStyle style{Face::Sans, type::tick};
  const std::string formula = words::spoken(row.formula);
  p.text_in(line, style, t.ink3, whole_parts(p, style, formula, line.w));
  return hit.clicked;
}

// Draws the list's last row, which saves the placement in the diagram as a file; returns whether it was pressed.
bool save_item(Ui& ui, const std::string& name, const Rect& item, const ModelConfig& model) {
  HitOptions options{.enabled = is_transformer(model.architecture), .radius = radius::field};
  const Hit hit =
      ui.hit(name + "/save", item, "",
             tr("Asks for a name and writes what stands in the diagram as a file; this list offers it "
                "from then on."),
             options);
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  p.hairline({item.x, item.y}, {item.right(), item.y}, t.border);
  if (hit.hovered && options.enabled) p.fill(item, t.sunk, radius::field);
  p.text_in(item.inset(8, 0), {Face::Sans, type::body}, options.enabled ? t.ink : t.control,
            tr("Save as a placement"));
  if (hit.clicked) ui.close_popup();
  return hit.clicked;
}

// A drop-down of the presets from index `first` on, with their formulas. Its box shows `other` for an earlier or custom
// preset. Sets `save` if the last row was pressed. Returns whether the choice changed.
bool preset_list(Ui& ui, const std::string& name, const Rect& rect, const ModelConfig& model, int first,
                 const std::string& other, int& selected, bool& save) {
  const std::vector<Placement> all = placements();
  const int count = static_cast<int>(all.size());
  const int before = selected;
  const Theme& t = ui.theme();
  HitOptions options{.arrows = Arrows::Up};
  const std::string value = selected >= first ? preset_label(preset_at(selected)) : other;
  const std::string_view now = shown_label(value);
  const Hit box = ui.hit(name, rect, value, preset_help(), options);
  if (box.clicked) ui.open_popup(name);
  if (box.arrow_y)
    selected = next_preset(ui, model, std::max(selected, first - 1),
                           selected < first || box.arrow_y < 0 ? 1 : -1, first);
  Painter& p = ui.paint();
  p.fill(rect, t.field, radius::field);
  p.outline(rect, box.hovered ? t.ink3 : t.control, 1, radius::field);
  Rect inner = rect.inset(rect.w < 120 ? 7 : 9, 0);
  draw_icon(p, Icon::ChevronDown, inner.take_right(10, rect.w < 120 ? 2 : 4).centre(), 14, t.ink2);
  // A long name is written smaller. Where that has no room either, the run's card has the name.
  const TextStyle large{Face::Bold, type::body}, small{Face::Bold, type::tick};
  if (p.text_width(large, now) <= inner.w)
    p.text_in(inner, large, t.ink, now);
  else
    p.text_in(inner, small, t.ink, p.text_width(small, now) <= inner.w ? now : tr("preset"));

  const float rows = static_cast<float>(count - first + 1);
  const float pitch = std::min(26.f, (ui.size().y - 24) / rows);
  Rect list{rect.x, rect.bottom() + 4, 610, pitch * rows + 8};
  list.x = std::clamp(list.x, 4.f, std::max(4.f, ui.size().x - 4 - list.w));
  list.y = std::clamp(list.y, 4.f, std::max(4.f, ui.size().y - 4 - list.h));
  if (!ui.begin_popup(name, list)) return selected != before;
  Rect rest = list.inset(4);
  for (int i = first; i < count; ++i) {
    const Placement preset = all[static_cast<size_t>(i)];
    const std::string refusal = view::preset_refusal(model, preset);
    if (preset_item(ui, name, rest.take_top(pitch), row_of(preset), i == selected,
                    refusal.empty() ? preset_help(preset) : refusal, refusal.empty()) &&
        !preset_held(ui, preset)) {
      selected = i;
      ui.focus(name);
      ui.close_popup();
    }
  }
  save = save_item(ui, name, rest.take_top(pitch), model);
  ui.end_popup();
  return selected != before;
}

float list_width(Ui& ui, const std::string& word) {
  return std::ceil(ui.paint().text_width({Face::Bold, type::body}, shown_label(word))) + 34;
}

// Whether segments with these labels fit with 10 px around a label in place of the usual 22.
bool has_room(Ui& ui, const std::vector<words::Label>& labels, float width) {
  return segmented_width(ui, labels) - 12 * static_cast<float>(labels.size()) <= width;
}

// Draws segments for as many presets as fit, and a list for the others, whose box says "more", "custom" or the choice.
bool preset_row(Ui& ui, Rect rect, const ModelConfig& model, int& selected, bool& save) {
  std::vector<std::string> names, helps, refusals;
  for (Placement placement : placements()) {
    names.push_back(preset_label(placement));
    helps.push_back(preset_help(placement));
    refusals.push_back(view::preset_refusal(model, placement));
  }
  std::vector<words::Label> labels = labels_of(names);
  if (has_room(ui, labels, rect.w))
    return segmented(ui, "diagram/preset", rect, labels, selected, preset_help(), helps, refusals);
  const std::string& other = tr(selected < 0 ? "custom" : "more");
  const auto segments_beside = [&](const std::string& word) {
    std::vector<words::Label> fitting = labels;
    const float width = rect.w - list_width(ui, word) - 6;
    while (fitting.size() > 2 && !has_room(ui, fitting, width)) fitting.pop_back();
    return static_cast<int>(fitting.size());
  };
  std::string word = other;
  if (selected >= segments_beside(word)) word = preset_label(preset_at(selected));
  const int shown = segments_beside(word);
  labels.resize(static_cast<size_t>(shown));
  const Rect more = rect.take_right(list_width(ui, word), 6);
  int at = selected < shown ? selected : kCustom;
  if (segmented(ui, "diagram/preset", rect, labels, at, preset_help(), helps, refusals)) {
    selected = at;
    return true;
  }
  return preset_list(ui, "diagram/preset-more", more, model, shown, other, selected, save);
}

}  // namespace

void draw_presets(Ui& ui, DiagramState& state, const DiagramInput& input, const Rect& rect, bool as_list,
                  std::vector<session::Command>& commands) {
  const int run = shown_run(state, input.view);
  if (run < 0) return;
  const ModelConfig& model = input.view.runs[static_cast<size_t>(run)].spec->model;
  const view::Stacks stacks = shown_stacks(state, input.view, run);
  Rect row = rect;
  int which = 0;
  if (stacks.both && !as_list) {  // a list alone has no room for it: it changes both
    choice(ui, "diagram/stack", row.take_left(104.f, 6), labels_of({"both stacks", "encoder", "decoder"}),
           state.preset_stack, tr("Which stack of the encoder-decoder a preset changes."));
    which = state.preset_stack;
  }
  int selected = preset_of(model, stacks, which);
  if (input.held) {
    const ModelConfig& held = input.held->spec->model;
    selected = preset_of(held, view::stacks_of(held), which);
  }
  const int now = selected;
  const std::string& custom = tr("custom");
  const bool list = as_list || (stacks.both && row.w < 380);
  if (list && !as_list) {
    const std::string word = selected < 0 ? custom : preset_label(preset_at(selected));
    row.w = std::min(row.w, std::max(150.f, list_width(ui, word)));
  }
  bool& save = state.placement_asked;
  const bool pressed = list ? preset_list(ui, "diagram/preset", row, model, 0, custom, selected, save)
                            : preset_row(ui, row, model, selected, save);
  state.preset_hovered.reset();
  for (const Placement placement : input.view.instant ? placements() : std::vector<Placement>{})
    for (const char* place : {"diagram/preset/", "diagram/preset-more/"})
      if (ui.under_mouse() == place + preset_label(placement) &&
          view::preset_refusal(model, placement).empty())
        state.preset_hovered = placement;
  const std::optional<Placement> asked = std::exchange(state.preset_asked, std::nullopt);
  if (asked) selected = place_of(*asked);
  if (!(pressed || asked) || selected < 0 || selected == now) return;
  const Placement chosen = preset_at(selected);
  ModelConfig next = model;
  if (which == 0) {
    set_placement(next, chosen);
  } else {
    const view::Side side = which == 1 ? view::Side::Encoder : view::Side::Main;
    view::stack_of(next, side) = preset_stack(chosen, model.norm, context_for(model, side));
  }
  view::WiringChange change{next.stack()};
  change.note = tr(which == 0   ? "{placement} in all layers"
                   : which == 1 ? "{placement} in the encoder"
                                : "{placement} in the decoder",
                   {{"placement", words::spoken(label(chosen))}});
  commit_change(state, input, &next, change, ui.shift(), commands);
}

std::optional<ShownStack> shown_stack(const DiagramState& state, const LabView& view) {
  const int run = shown_run(state, view);
  if (run < 0) return {};
  const ModelConfig& model = view.runs[static_cast<size_t>(run)].spec->model;
  const view::Stacks stacks = shown_stacks(state, view, run);
  const bool encoder = stacks.both && state.preset_stack == 1;
  const view::Side side = encoder ? view::Side::Encoder : view::Side::Main;
  return ShownStack{stacks.wiring(side), model.norm, context_for(model, side)};
}

bool preset_held(const Ui& ui, Placement placement) {
  const std::string label = preset_label(placement);
  return ui.held("diagram/preset/" + label) || ui.held("diagram/preset-more/" + label);
}

namespace {

using ui::centred;
using ui::Rect;

// The measures of a stack in one of its three sizes.
struct Measures {
  // Output and embedding; gaps; offset of the sheets behind a group.
  float end_h, final_gap, bottom_gap, row_gap, sheet;
  float single_h, group_h;
  float pitch, slot_y, plus_y, box_y;  // of a sub-layer, from its upper edge
  float box_h, slot_w, slot_h, stream_w;
  float stream_dx, open_dx, row_dx;  // from the left edge
  float before_dx, after_dx, box_gap, fork_dy;
  float size_w, gradient_w, bars_gap, max_pitch_extra;
  bool narrow;
};

constexpr Measures kFull{24, 31, 13, 7,  4,  39, 47, 87, 11, 29, 60, 30, 32,   20,
                         32, 46, 16, 80, 52, 28, 14, 20, 36, 50, 10, 60, false};
constexpr Measures kCompact{22, 27, 10, 6,  3,  32, 44, 73, 9,  25, 51, 26, 28,   20,
                            28, 32, 2,  58, 39, 19, 6,  16, 24, 34, 8,  30, false};
constexpr Measures kNarrow{21, 26, 9, 6,  3,  33, 42, 70, 10, 27, 49, 24, 26,  18,
                           28, 15, 0, 36, 36, 20, 5,  12, 0,  40, 0,  44, true};

// Lowers sub-layers where a layer has three of them or the stack a second stream; narrow: or a norm on the embedding.
Measures fitted(Measures m, const StackRows& t) {
  if (m.narrow) {
    if (t.second || t.embedding_norm) m.pitch -= 6;
    return m;
  }
  if (t.cross) {
    m.pitch -= 12;
    m.box_y -= 4;
  }
  if (t.second && !t.cross) {
    m.pitch -= 8;
    m.box_y -= 3;
  }
  return m;
}

float row_height(const Measures& m, const StackRows& t, const view::DiagramRow& row, float pitch) {
  if (row.open) return static_cast<float>(view::subs_of(t.cross).size()) * pitch + 3;
  return row.count() > 1 ? m.group_h : m.single_h;
}

float sheets_height(const Measures& m, const view::DiagramRow& row) {
  return !row.open && row.count() > 1 ? 2 * m.sheet : 0;
}

SublayerLayout layout_sublayer(const Measures& m, const StackLayout& d, const Rect& row, view::Sub sub,
                               float top) {
  SublayerLayout s{.sub = sub,
                   .stream = centred({d.stream_x, top + m.slot_y}, m.stream_w, m.slot_h),
                   .plus = {d.stream_x, top + m.plus_y}};
  const float middle = top + m.box_y;
  s.return_x = row.right() - (m.narrow ? 7.f : 15.f);
  s.before = centred({d.stream_x + m.before_dx, middle}, m.slot_w, m.slot_h);
  s.after = centred({s.return_x - m.after_dx, middle}, m.slot_w, m.slot_h);
  s.box = {s.before.right() + m.box_gap, middle - m.box_h / 2, s.after.x - s.before.right() - 2 * m.box_gap,
           m.box_h};
  s.fork_y = middle + m.fork_dy;
  const bool flat = m.fork_dy < 20;
  const float pill_w = m.narrow ? 48.f : flat ? 44.f : 50.f;  // "ω 3.45"
  s.pill = centred({d.stream_x, (s.plus.y + 8 + s.fork_y) / 2}, pill_w, flat ? 18.f : 20.f);
  if (m.narrow) s.pill.x = d.left;
  s.branch_pill = centred({s.box.centre().x, s.plus.y}, 66, 16);
  if (m.narrow) {
    s.bar = {s.box.x, (s.plus.y + s.box.y) / 2 - 1.5f, s.box.w, 4};
  } else {
    const float y = middle - (m.fork_dy < 20 ? 10.f : 8.f);
    s.size_bar = {d.size_head.x, y, d.size_head.w, 8};
    s.bar = {d.gradient_head.x, y, d.gradient_head.w, 8};
  }
  return s;
}

void layout_open(const Measures& m, const StackLayout& d, RowLayout& r, float y, float pitch) {
  const auto subs = view::subs_of(d.cross);
  const float right = m.narrow ? d.right : d.size_head.x - m.bars_gap;
  r.box = {d.left + m.open_dx, y, right - d.left - m.open_dx, static_cast<float>(subs.size()) * pitch + 3};
  for (size_t i = 0; i < subs.size(); ++i)
    r.subs.push_back(
        layout_sublayer(m, d, r.box, subs[i], y + pitch * static_cast<float>(subs.size() - 1 - i)));
  if (m.narrow) {
    r.collapse = {r.box.right() - 24, r.box.y + 2, 20, 18};
    r.skip = {r.collapse.x - 26, r.box.y + 6, 10, 10};
  } else if (m.open_dx >= 16) {
    r.collapse = {d.left, r.box.centre().y + 10, 16, 16};
    r.skip = {d.left, r.box.centre().y - 13, 10, 10};
  }
}

void layout_bars(const Measures& m, const StackLayout& d, RowLayout& r) {
  const float cy = r.box.centre().y, right = m.narrow ? r.box.right() - 8 : 0;
  const auto bar = [&](float y, float h, int layer, view::Sub sub) {
    if (m.narrow)
      r.bars.push_back({{}, {right - m.gradient_w, y, m.gradient_w, h}, layer, sub});
    else
      r.bars.push_back(
          {{d.size_head.x, y, d.size_head.w, h}, {d.gradient_head.x, y, d.gradient_head.w, h}, layer, sub});
  };
  if (r.row.count() > 1) {
    const int n = r.row.count();
    const float pitch = std::min(m.narrow ? 8.f : 12.f, (m.group_h + (m.narrow ? -8.f : 12.f)) / n);
    const float h = std::max(1.f, pitch - (m.narrow ? 3.f : 4.f));
    const float top = cy - (pitch * static_cast<float>(n - 1) + h) / 2;
    for (int i = 0; i < n; ++i)
      bar(top + pitch * static_cast<float>(i), h, r.row.last - i, view::Sub::FeedForward);
    return;
  }
  const auto subs = view::subs_of(d.cross);
  const float pitch = subs.size() > 2 ? 8 : 10, h = subs.size() > 2 ? 4 : 5;
  const float top = cy - (pitch * static_cast<float>(subs.size() - 1) + h) / 2;
  for (size_t i = 0; i < subs.size(); ++i)
    bar(top + pitch * static_cast<float>(i), h, r.row.first, subs[subs.size() - 1 - i]);
}

void layout_collapsed(const Measures& m, const StackLayout& d, RowLayout& r, float y) {
  const bool group = r.row.count() > 1;
  const float right = m.narrow ? d.right : d.size_head.x - m.bars_gap - 5;
  r.box = {d.left + m.row_dx, y, right - d.left - m.row_dx - (group ? 2 * m.sheet : 0),
           group ? m.group_h : m.single_h};
  r.sheets = group ? 2 : 0;
  const auto subs = view::subs_of(d.cross);
  const float n = static_cast<float>(subs.size());
  const float pitch = n > 2   ? (r.box.h + (group ? 0.f : 4.f)) / n
                      : group ? 27.f
                              : std::min(23.f, r.box.h * 0.62f);
  const float h = std::min(11.f, pitch - 2);
  for (size_t i = 0; i < subs.size(); ++i) {
    const float cy = r.box.centre().y + ((n - 1) / 2 - static_cast<float>(i)) * pitch;
    r.small.push_back({subs[i],
                       centred({r.box.x + 1, cy}, 13, h),
                       centred({r.box.right() - 1, cy}, 13, h),
                       centred({d.stream_x, cy}, 20, h),
                       centred({d.stream_x, cy + pitch / 2}, 14, 8),
                       {}});
  }
  layout_bars(m, d, r);
  const float end = m.narrow ? r.bars.front().gradient.x - 5 : r.box.right() - 27;
  for (SmallSlots& small : r.small) {
    const float cy = small.before.centre().y, height = std::min(13.f, pitch - 1);
    small.inside = {r.box.x + 14, cy - height / 2, end - r.box.x - 14, height};
  }
}

void put_heads(const Measures& m, StackLayout& d) {
  if (m.narrow) return;
  d.gradient_head = {d.right - m.gradient_w, d.output.y, m.gradient_w, m.end_h};
  d.size_head = {d.gradient_head.x - 8 - m.size_w, d.output.y, m.size_w, m.end_h};
}

StackLayout layout_stack(const Measures& base, const StackRows& t, const Rect& area, bool memory) {
  const Measures m = fitted(base, t);
  const float join_h = !t.second ? 0 : m.narrow ? 18.f : 14.f;
  const float bottom_gap = t.embedding_norm ? std::max(m.bottom_gap, 21.f) : m.bottom_gap;
  StackLayout d{.side = t.side,
                .cross = t.cross,
                .narrow = m.narrow,
                .left = area.x,
                .right = area.right(),
                .stream_x = area.x + m.stream_dx};
  const auto& rows = t.rows;
  const float subs = static_cast<float>(view::subs_of(t.cross).size());

  float needed = 2 * m.end_h + m.final_gap + join_h + bottom_gap, shares = 1;
  for (size_t i = 0; i < rows.size(); ++i) {
    needed += row_height(m, t, rows[i], m.pitch) + sheets_height(m, rows[i]) + (i > 0 ? m.row_gap : 0);
    shares += rows[i].open ? subs : i > 0 ? 1.f : 0.f;
  }
  const float share = std::max(0.f, area.h - needed) / shares;
  const float pitch = m.pitch + std::min(share, m.max_pitch_extra);
  float used = needed;
  for (const view::DiagramRow& row : rows) used += row.open ? subs * (pitch - m.pitch) : 0;
  // Height that the open layer does not take goes between the rows and, where all are collapsed, below them.
  const bool any_open = std::ranges::any_of(rows, [](const auto& row) { return row.open; });
  const size_t gaps = std::max<size_t>(rows.size(), 1) + (any_open ? 0 : 1);
  const float extra = std::max(0.f, area.h - used) / static_cast<float>(gaps);

  float y = area.y;
  d.output = {area.x, y, m.narrow ? std::min(150.f, area.w) : m.fork_dy < 20 ? 104.f : 220.f, m.end_h};
  put_heads(m, d);
  if (memory) d.output = {};
  y += m.end_h;
  d.stream_top = y;
  if (t.second) {
    d.join = {d.stream_x, y + 9};
    d.second =
        m.narrow ? centred({d.stream_x - 11, y + 20}, 14, 13) : centred({d.stream_x - 29, y + 26}, 20, 14);
    y += join_h;
  }
  d.final_slot = centred({d.stream_x, y + 16}, m.stream_w - 4, m.fork_dy < 20 ? 15.f : 16.f);
  y += m.final_gap + extra;
  d.rows.resize(rows.size());
  for (size_t k = rows.size(); k-- > 0;) {
    RowLayout& r = d.rows[k];
    r.row = rows[k];
    y += sheets_height(m, rows[k]);
    if (rows[k].open)
      layout_open(m, d, r, y, pitch);
    else
      layout_collapsed(m, d, r, y);
    y += row_height(m, t, rows[k], pitch) + (k > 0 ? m.row_gap + extra : bottom_gap + (any_open ? 0 : extra));
  }
  d.stream_bottom = y;
  d.embedding = {area.x, y, m.narrow ? std::min(196.f, area.w) : m.fork_dy < 20 ? 196.f : 220.f, m.end_h};
  d.embedding_slot =
      centred({d.stream_x, y - bottom_gap / 2}, d.final_slot.w, t.embedding_norm ? 15.f : bottom_gap - 2);
  d.content_height = y + m.end_h - area.y;
  return d;
}

// Places the memory's box right of the embedding's, which becomes narrower.
void put_segment(StackLayout& d, bool compact) {
  d.embedding.w = compact ? 118.f : 150.f;
  const float left = d.embedding.right() + 8;
  d.segment = {left, d.embedding.y, d.right - left, d.embedding.h};
}

// The line of keys and values: up from the encoder, across, down between the stacks and into cross-attention.
void route_memory(DiagramLayout& d) {
  const StackLayout *from = d.stack_layout(view::Side::Encoder), *to = d.stack_layout(view::Side::Main);
  if (!from || !to || to->rows.empty()) return;
  const float roof = from->stream_top - 10, channel = (from->right + to->left) / 2;
  d.memory = {{from->stream_x, from->stream_top}, {from->stream_x, roof}, {channel, roof}};
  d.memory_label = {from->stream_x + 12, roof - 16, channel - from->stream_x - 16, 14};
  for (const RowLayout& row : to->rows)
    for (const SublayerLayout& sub : row.subs)
      if (sub.sub == view::Sub::Cross) {
        const float y = sub.fork_y + 7, x = sub.box.centre().x;
        d.memory.insert(d.memory.end(), {{channel, y}, {x, y}, {x, sub.box.bottom() + 1}});
        return;
      }
  const Rect& row = to->rows.front().box;
  d.memory.insert(d.memory.end(), {{channel, row.centre().y}, {to->left - 2, row.centre().y}});
}

}  // namespace

int RowLayout::layer_at(float y) const {
  const int n = row.count();
  const int up =
      static_cast<int>(std::floor((box.bottom() - y) / std::max(1.f, box.h) * static_cast<float>(n)));
  return row.first + std::clamp(up, 0, n - 1);
}

const StackLayout* DiagramLayout::stack_layout(view::Side side) const {
  for (const StackLayout& t : stack_layouts)
    if (t.side == side) return &t;
  return nullptr;
}

DiagramLayout layout_diagram(const Rect& area, const std::vector<StackRows>& stack_layouts, bool compact) {
  DiagramLayout d{.compact = compact};
  constexpr float kChannel = 26;
  if (stack_layouts.size() == 2) {
    const float width = (area.w - kChannel) / 2;
    for (size_t i = 0; i < 2; ++i)
      d.stack_layouts.push_back(
          layout_stack(kNarrow, stack_layouts[i],
                       {area.x + (width + kChannel) * static_cast<float>(i), area.y, width, area.h},
                       stack_layouts[i].side == view::Side::Encoder));
    route_memory(d);
  } else {
    for (const StackRows& t : stack_layouts) {
      d.stack_layouts.push_back(layout_stack(compact ? kCompact : kFull, t, area, false));
      if (t.segment) put_segment(d.stack_layouts.back(), compact);
    }
  }
  for (const StackLayout& t : d.stack_layouts)
    d.content_height = std::max(d.content_height, t.content_height);
  return d;
}

DiagramLayout layout_diagram(const Rect& area, const std::vector<view::DiagramRow>& rows, bool compact) {
  return layout_diagram(area, std::vector<StackRows>{{view::Side::Main, false, rows}}, compact);
}

DiagramLayout layout_small(const Rect& area, const std::vector<StackRows>& stack_layouts) {
  DiagramLayout d;
  if (stack_layouts.size() == 1) {
    d.stack_layouts.push_back(layout_stack(kNarrow, stack_layouts[0], area, false));
    d.content_height = d.stack_layouts[0].content_height;
  } else {
    d = layout_diagram(area, stack_layouts, false);
  }
  for (StackLayout& t : d.stack_layouts)
    for (RowLayout& row : t.rows) row.collapse = {};
  return d;
}

std::optional<Rect> place_of(const DiagramLayout& layout, view::SlotId at) {
  const StackLayout* stack_layout = layout.stack_layout(at.side);
  if (!stack_layout) return std::nullopt;
  if (at.layer == view::kFinal) return stack_layout->final_slot;
  if (at.layer == view::kEmbedding) return stack_layout->embedding_slot;
  for (const RowLayout& row : stack_layout->rows) {
    if (at.layer < row.row.first || at.layer > row.row.last) continue;
    for (const SublayerLayout& sub : row.subs)
      if (sub.sub == at.sub) return sub.slot(at.slot);
    for (const SmallSlots& small : row.small)
      if (small.sub == at.sub) return small.slot(at.slot);
  }
  return std::nullopt;
}

}  // namespace normscope::diagram
