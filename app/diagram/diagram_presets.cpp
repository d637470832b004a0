// The row of presets above the diagram has a segment a method where all have room, and a list for the rest. For an
// encoder-decoder it also has the choice of the stack that they change. See diagram.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/diagram/diagram.h"
#include "app/ui/widgets.h"
#include "app/view/chain.h"
#include "app/view/glossary.h"
#include "app/words/words.h"

namespace normscope::diagram {
namespace {

using namespace ui;

constexpr int kCustom = -1;

std::string preset_label(Placement placement) { return row_of(placement).short_label; }

StackContext context_for(const ModelConfig& model, view::Side side) {
  return context_of(model, side == view::Side::Main && model.architecture != Architecture::Encoder);
}

// A placement by its place in the list, and `place_of` that place, or kCustom.
Placement preset_at(int place) { return placements()[static_cast<size_t>(place)]; }
int place_of(Placement placement) {
  const std::vector<Placement> all = placements();
  const auto at = std::ranges::find(all, placement);
  return at == all.end() ? kCustom : static_cast<int>(at - all.begin());
}

// The index of the preset that these stacks are, or kCustom.
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

// Says what a preset does, and in small print its formula and where it is from.
std::string preset_help(Placement placement) {
  const PlacementRow& row = row_of(placement);
  const std::string source = *row.source ? fmt::format("{}. ", words::spoken(row.source)) : "";
  const view::Term* const term = view::term_at(std::string("preset/") + row.short_label);
  const std::string what = term ? fmt::format("{}\n", term->text) : "";
  return fmt::format("{}{}: {}. {}{}", what, words::spoken(row.label), words::spoken(row.formula), source,
                     preset_help());
}

// Keeps as many whole parts of a formula as have room; the help has all of it.
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
  HitOptions options;
  options.radius = radius::field;
  options.enabled = possible;
  const Hit hit = ui.hit(fmt::format("{}/{}", name, row.short_label), item, on ? "on" : "", help, options);
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  if (hit.hovered && possible) p.fill(item, t.sunk, radius::field);
  Rect line = item.inset(8, 0);
  p.text_in(line.take_left(134), {on ? Face::Bold : Face::Sans, type::body}, possible ? t.ink : t.slot,
            words::spoken(row.label));
  const TextStyle style{Face::Sans, type::tick};
  const std::string formula = words::spoken(row.formula);
  p.text_in(line, style, t.ink3, whole_parts(p, style, formula, line.w));
  return hit.clicked;
}

// Draws the last row of the list, which asks for a name for what stands in the diagram.
bool save_item(Ui& ui, const std::string& name, const Rect& item, const ModelConfig& model) {
  HitOptions options;
  options.radius = radius::field;
  options.enabled = is_transformer(model.architecture);
  const Hit hit =
      ui.hit(name + "/save", item, "",
             tr("Asks for a name and writes what stands in the diagram as a file; this list offers it "
                "from then on."),
             options);
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  p.hairline({item.x, item.y}, {item.right(), item.y}, t.border);
  if (hit.hovered && options.enabled) p.fill(item, t.sunk, radius::field);
  p.text_in(item.inset(8, 0), {Face::Sans, type::body}, options.enabled ? t.ink : t.slot,
            tr("Save as a placement"));
  if (hit.clicked) ui.close_popup();
  return hit.clicked;
}

// Lists presets from the `first` on, with their formulas; any other choice shows as `other`. `save` is set
// where the last row was pressed.
bool preset_list(Ui& ui, const std::string& name, const Rect& rect, const ModelConfig& model, int first,
                 const std::string& other, int& selected, bool& save) {
  const std::vector<Placement> all = placements();
  const int count = static_cast<int>(all.size());
  const int before = selected;
  const Theme& t = ui.theme();
  HitOptions options;
  options.arrows = true;
  const std::string value = selected >= first ? preset_label(preset_at(selected)) : other;
  const std::string_view now = shown_label(value);
  const Hit box = ui.hit(name, rect, value, preset_help(), options);
  if (box.clicked) ui.open_popup(name);
  if (box.arrow_y)
    selected = next_preset(ui, model, std::max(selected, first - 1),
                           selected < first || box.arrow_y < 0 ? 1 : -1, first);
  Painter& p = ui.paint();
  p.fill(rect, t.field, radius::field);
  p.outline(rect, box.hovered ? t.ink3 : t.border, 1, radius::field);
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

// The width that shows this word beside the chevron.
float list_width(Ui& ui, const std::string& word) {
  return std::ceil(ui.paint().text_width({Face::Bold, type::body}, shown_label(word))) + 34;
}

// Whether segments with these labels fit with 10 px around a label in place of the usual 22.
bool has_room(Ui& ui, const std::vector<std::string>& labels, float width) {
  return segmented_width(ui, labels) - 12 * static_cast<float>(labels.size()) <= width;
}

// Segments for as many as have room, and a list whose box says "more", "custom" or its choice.
bool preset_row(Ui& ui, Rect rect, const ModelConfig& model, int& selected, bool& save) {
  std::vector<std::string> labels, helps, refusals;
  for (Placement placement : placements()) {
    labels.push_back(preset_label(placement));
    helps.push_back(preset_help(placement));
    refusals.push_back(view::preset_refusal(model, placement));
  }
  if (has_room(ui, labels, rect.w))
    return segmented(ui, "diagram/preset", rect, labels, selected, preset_help(), helps, refusals);
  const std::string& other = tr(selected < 0 ? "custom" : "more");
  const auto segments_beside = [&](const std::string& word) {
    std::vector<std::string> fitting = labels;
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
    const std::vector<std::string> both{"both stacks", "encoder", "decoder"};
    choice(ui, "diagram/stack", row.take_left(104.f, 6), both, state.preset_stack,
           tr("Which stack of the encoder-decoder a preset changes."));
    which = state.preset_stack;
  }
  int selected = preset_of(model, stacks, which);
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
    for (const char* place : {"diagram/preset/", "diagram/preset-more/"}) {
      const Control* control = ui.registry().find(place + preset_label(placement));
      if (control && control->rect.contains(ui.mouse()) && view::preset_refusal(model, placement).empty())
        state.preset_hovered = placement;
    }
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

}  // namespace normscope::diagram
