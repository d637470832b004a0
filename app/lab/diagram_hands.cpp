// The hands of the diagram: every slot and row is a named control; mouse and keyboard end in the same
// WiringChange.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "app/hands/shortcuts.h"
#include "app/lab/diagram.h"
#include "app/ui/widgets.h"

namespace normscope::lab {
namespace {

using namespace ui;
using hands::Act;

constexpr std::array<std::pair<Act, Slot>, 3> kKeys{
    {{Act::norm_before, Slot::Before}, {Act::norm_after, Slot::After}, {Act::norm_trunk, Slot::Trunk}}};

std::string row_name(const DiagramRow& row) {
  return row.count() == 1 ? fmt::format("diagram/layer{}", row.first + 1)
                          : fmt::format("diagram/layers{}-{}", row.first + 1, row.last + 1);
}

const char* slot_place(Slot slot) {
  switch (slot) {
    case Slot::Before:
      return "before the branch";
    case Slot::After:
      return "after the branch";
    case Slot::Trunk:
      break;
  }
  return "on the trunk";
}

std::string slot_help(const StackWiring& stack, SlotId at) {
  if (norm_at(stack, at) == NormKind::None)
    return fmt::format(
        "Empty slot {}. Enter fills it in all alike layers, Alt+Enter in this one; I, O, P: before, "
        "after, trunk.",
        slot_place(at.slot));
  return fmt::format(
      "The norm {}. Drag it along its branch: all alike follow, Alt moves this one, Shift starts run D from "
      "step 0. Keys: I before, O after, P trunk, Enter off, T its kind.",
      slot_place(at.slot));
}

struct Hands {
  Ui& ui;
  DiagramState& state;
  const DiagramInput& input;
  const DiagramLayout& layout;
  const StackWiring& stack;
  std::vector<Command>& commands;

  void commit(const WiringChange& change, bool from_start) {
    commit_change(state, input, nullptr, change, from_start, ui.time(), commands);
  }

  // The slot under the mouse that the held norm may go to. A slot of a sub-layer that would follow counts as
  // well.
  std::optional<Slot> target_under(Vec mouse, SlotId from) const {
    for (const RowLayout& row : layout.rows) {
      if (!row.row.open) continue;
      for (const SublayerLayout& sub : row.subs) {
        if (state.only_this && sub.sub != from.sub) continue;
        for (Slot slot : kSlots) {
          if (!sub.slot(slot).inset(-12, -10).contains(mouse) || !legal_move(stack, from, slot)) continue;
          if (sub.sub == from.sub || norm_at(stack, {row.row.first, sub.sub, slot}) == NormKind::None)
            return slot;
        }
      }
    }
    return std::nullopt;
  }

  void drag(const Hit& hit, SlotId at) {
    if (hit.held && hit.dragging && !state.cancelled && norm_at(stack, at) != NormKind::None) {
      state.dragging = at;
      state.grip = hit.drag;
      state.only_this = hit.alt, state.from_start = hit.shift;
      state.target = target_under(ui.mouse(), at);
      if (state.target) state.preview = move_norm(stack, at, *state.target, state.only_this);
      if (ui.shortcut("Escape")) state.cancelled = true, state.dragging.reset();
    }
    if (hit.released) {
      if (state.dragging == at && !state.cancelled) {
        const auto target = target_under(ui.mouse(), at);
        if (target) commit(move_norm(stack, at, *target, hit.alt), hit.shift);
      }
      state.dragging.reset(), state.target.reset(), state.preview.reset();
      state.cancelled = false;
    }
  }

  void move_focus(SlotId at, int dx, int dy) {
    constexpr std::array<Slot, 3> across{Slot::Trunk, Slot::Before, Slot::After};
    int column = 0;
    while (across[static_cast<size_t>(column)] != at.slot) ++column;
    column = std::clamp(column + (dx > 0) - (dx < 0), 0, 2);
    int line = at.layer * 2 + (at.sub == Sub::feed_forward) + (dy > 0) - (dy < 0);
    line = std::clamp(line, 0, static_cast<int>(stack.layers.size()) * 2 - 1);
    const SlotId next{line / 2, line % 2 ? Sub::feed_forward : Sub::attention,
                      across[static_cast<size_t>(column)]};
    state.open_layer = next.layer;
    state.focus_next = next;
  }

  void keys(const Hit& hit, SlotId at) {
    if (!hit.focused) return;
    if (hit.arrow_x || hit.arrow_y) move_focus(at, hit.arrow_x, hit.arrow_y);
    const NormKind here = norm_at(stack, at);
    const NormKind kind = input.view.runs[static_cast<size_t>(shown_run(state, input.view))].spec->model.norm;
    const NormKind fill = kind == NormKind::None ? NormKind::LayerNorm : kind;
    for (auto [key, slot] : kKeys)
      for (const char* prefix : {"", "Alt+", "Shift+", "Alt+Shift+"}) {
        if (!ui.shortcut(std::string(prefix).append(hands::shortcut_of(key).chord))) continue;
        if (here != NormKind::None && slot != at.slot) {
          const WiringChange change = move_norm(stack, at, slot, hit.alt);
          commit(change, hit.shift);
          if (!change.empty()) state.focus_next = SlotId{at.layer, at.sub, slot};
        } else {
          const SlotId there{at.layer, at.sub, slot};
          commit(set_norm(stack, there, norm_at(stack, there) == NormKind::None ? fill : NormKind::None,
                          hit.alt),
                 hit.shift);
        }
        return;
      }
    if ((hit.clicked && hit.by_key) || (here != NormKind::None && hands::pressed(ui, Act::norm_empty)))
      commit(set_norm(stack, at, here == NormKind::None ? fill : NormKind::None, hit.alt), hit.shift);
    else if (hands::pressed(ui, Act::norm_kind))
      open_menu(at);
  }

  void open_menu(SlotId at) {
    state.menu = at;
    ui.open_popup("diagram/kind");
  }

  void slot(const SublayerLayout& sub, SlotId at) {
    const NormKind kind = norm_at(stack, at);
    HitOptions options;
    options.arrows = true, options.radius = radius::token, options.tooltip = !state.dragging;
    const Hit hit = ui.hit("diagram/" + slot_name(at), sub.slot(at.slot), short_name(kind),
                           slot_help(stack, at), options);
    if (hit.hovered && kind != NormKind::None && !state.dragging) state.hovered = at;
    drag(hit, at);
    if (hit.right_clicked) open_menu(at);
    keys(hit, at);
  }

  void menu(const Rect& anchor) {
    if (!state.menu || !ui.begin_popup("diagram/kind", {anchor.x, anchor.bottom() + 6, 196, 4 * 28.f + 12}))
      return;
    struct Kind {
      const char *name, *label, *help;
      NormKind kind;
    };
    constexpr std::array<Kind, 4> kinds{{
        {"ln", "LN   layer norm", "Layer norm: centred, divided by its spread, gain and bias.",
         NormKind::LayerNorm},
        {"rms", "RMS   root mean square", "Divided by the root of its mean square; gain, no centring.",
         NormKind::Rms},
        {"simple", "LN-s   without gain", "Layer norm without gain and bias.", NormKind::Simple},
        {"off", "off", "No norm in this slot.", NormKind::None},
    }};
    Rect rows{anchor.x + 6, anchor.bottom() + 12, 184, 4 * 28.f};
    for (const Kind& k : kinds) {
      ButtonOptions options;
      options.quiet = true, options.style = {Face::sans, type::body};
      options.selected = norm_at(stack, *state.menu) == k.kind;
      if (button(ui, fmt::format("diagram/kind/{}", k.name), rows.take_top(28).inset(0, 1), k.label, k.help,
                 options)) {
        commit(set_norm(stack, *state.menu, k.kind, ui.alt()), ui.shift());
        ui.close_popup();
      }
    }
    ui.end_popup();
  }
};

void open_rows(Ui& ui, DiagramState& state, const DiagramLayout& layout, const Rect& clip) {
  for (const RowLayout& row : layout.rows) {
    if (!clip.contains(row.box.centre())) continue;
    if (!row.row.open) {
      const std::string help = row.row.count() > 1
                                   ? fmt::format("Layers {} to {} are wired alike. Opens layer {}.",
                                                 row.row.first + 1, row.row.last + 1, row.row.first + 1)
                                   : fmt::format("Opens layer {}.", row.row.first + 1);
      if (ui.hit(row_name(row.row), row.box, "collapsed", help).clicked) state.open_layer = row.row.first;
    } else if (!layout.compact) {
      const Rect chevron{layout.left, row.box.centre().y + 8, 16, 16};
      if (ui.hit("diagram/collapse", chevron, fmt::format("{}", row.row.first + 1), "Closes the layer.")
              .clicked)
        state.open_layer = -1;
    }
  }
}

}  // namespace

void handle_diagram(Ui& ui, DiagramState& state, const DiagramInput& input, const DiagramLayout& layout,
                    const StackWiring& stack, const Rect& clip, std::vector<Command>& commands) {
  state.hovered.reset();
  state.hovered_layer.reset();
  for (const RowLayout& row : layout.rows)
    if (clip.contains(ui.mouse()) && !state.dragging) {
      for (size_t i = 0; i < row.bars.size(); ++i)
        if (row.bars[i].inset(-1, -2).contains(ui.mouse())) state.hovered_layer = row.bar_layers[i];
      if (row.row.count() == 1 && row.box.contains(ui.mouse())) state.hovered_layer = row.row.first;
    }
  // A focus that moved last frame arrives now: one key moves it once, and a layer that it opened has its
  // slots.
  if (state.focus_next) ui.focus("diagram/" + slot_name(*state.focus_next)), state.focus_next.reset();
  if (!state.dragging) state.target.reset(), state.preview.reset();
  Hands hands{ui, state, input, layout, stack, commands};
  const bool may_open = !state.dragging;
  Rect menu_anchor;
  for (const RowLayout& row : layout.rows) {
    if (!row.row.open || !clip.overlaps(row.box)) continue;
    for (const SublayerLayout& sub : row.subs)
      for (Slot slot : kSlots) {
        const SlotId at{row.row.first, sub.sub, slot};
        if (state.menu == at) menu_anchor = sub.slot(slot);
        hands.slot(sub, at);
      }
  }
  if (may_open) open_rows(ui, state, layout, clip);
  if (!menu_anchor.empty()) hands.menu(menu_anchor);
  if (state.menu && !ui.popup_open("diagram/kind")) state.menu.reset();
  ui.mark("diagram/final", layout.final_slot, short_name(stack.final),
          "The final norm. Only presets change it.");
}

}  // namespace normscope::lab
