// Mouse and keyboard in the diagram: every slot and row is a named control, and both produce the same WiringChange.
// Also the list of kinds, layers left out, and the help of the diagram's parts.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "app/diagram/diagram.h"
#include "app/ui/widgets.h"
#include "app/view/glossary.h"
#include "app/view/shortcuts.h"
#include "app/words/words.h"
#include "training/measure/numbers.h"
#include "training/session/analysis.h"

namespace normscope::diagram {
namespace {

using namespace view;
using namespace ui;

constexpr std::array<std::pair<Act, Slot>, 3> kKeys{
    {{Act::NormBefore, Slot::Before}, {Act::NormAfter, Slot::After}, {Act::NormStream, Slot::Stream}}};

std::string row_name(Side side, const DiagramRow& row) {
  const std::string where = "diagram/" + side_prefix(side);
  return row.count() == 1 ? fmt::format("{}layer{}", where, row.first + 1)
                          : fmt::format("{}layers{}-{}", where, row.first + 1, row.last + 1);
}

// The norms that stay when others are moved: those that the user locked, and those in slots locked or hidden by policy.
std::vector<SlotId> fixed_norms(const Ui& ui, const DiagramState& state, const Stacks& stacks) {
  std::vector<SlotId> fixed = state.locked;
  for (const Side side : {Side::Main, Side::Encoder})
    for (int layer = 0; layer < stacks.of(side).layers(); ++layer)
      for (const Sub sub : stacks.of(side).subs())
        for (const Slot slot : kSlots)
          if (const SlotId at{layer, sub, slot, side}; ui.held("diagram/" + slot_name(at)))
            fixed.push_back(at);
  return fixed;
}

struct SlotInput {
  Ui& ui;
  DiagramState& state;
  const DiagramInput& input;
  const DiagramLayout& layout;
  const Stacks& stacks;
  std::vector<session::Command>& commands;
  std::vector<SlotId> fixed = fixed_norms(ui, state, stacks);

  Stack stack(Side side) const { return stacks.of(side, fixed); }
  WiredNorm norm(SlotId at) const { return norm_at(stacks.wiring(at.side), at); }

  void commit(const WiringChange& change, bool from_start) {
    commit_change(state, input, nullptr, change, from_start, commands);
  }

  // Whether a drop on slot `at` moves the dragged norm to at.slot: `at` belongs to the norm's own sub-layer, or to a
  // sub-layer whose norm would follow.
  bool stands_for(SlotId from, SlotId at) const {
    const Stack s = stack(from.side);
    if (!legal_move(s, from, at.slot) || ui.held("diagram/" + slot_name(at))) return false;
    if (at.layer == from.layer && at.sub == from.sub) return true;
    return !state.only_this && same_layer(s, at.layer, from.layer) && norm(at) == NormKind::None;
  }

  std::optional<Slot> target_under(Vec mouse, SlotId from) const {
    const StackLayout* stack_layout = layout.stack_layout(from.side);
    if (!stack_layout) return std::nullopt;
    for (const RowLayout& row : stack_layout->rows) {
      for (const SublayerLayout& sub : row.subs)
        for (Slot slot : kSlots)
          if (sub.slot(slot).inset(-12, -10).contains(mouse) &&
              stands_for(from, {row.row.first, sub.sub, slot, from.side}))
            return slot;
      for (const SmallSlots& small : row.small)
        for (Slot slot : kSlots)
          if (small.slot(slot).inset(-8, -6).contains(mouse) &&
              stands_for(from, {row.row.first, small.sub, slot, from.side}))
            return slot;
    }
    return std::nullopt;
  }

  // The brush: the slots' column under the mouse is the target slot, and the rows that the mouse passes are the layers.
  void paint_over(Vec mouse, SlotId from) {
    const StackLayout* stack_layout = layout.stack_layout(from.side);
    if (!stack_layout) return;
    for (const RowLayout& row : stack_layout->rows) {
      if (mouse.y < row.box.y || mouse.y >= row.box.bottom()) continue;
      const int layer = row.layer_at(mouse.y);
      const int last = state.painted.empty() ? layer : state.painted.back();
      for (int l = last; l != layer; l += layer > last ? 1 : -1) put_painted(l);
      put_painted(layer);
      Slot best = from.slot;
      float distance = 1e9f;
      const auto consider = [&](Slot slot, const Rect& place) {
        const float d = std::abs(mouse.x - place.centre().x);
        if (d < distance) {
          distance = d;
          best = slot;
        }
      };
      for (Slot slot : kSlots) {
        if (!row.subs.empty()) consider(slot, row.subs.front().slot(slot));
        if (!row.small.empty()) consider(slot, row.small.front().slot(slot));
      }
      if (best != from.slot && legal_move(stack(from.side), from, best)) state.target = best;
    }
  }

  void put_painted(int layer) {  // the newest stands last
    std::erase(state.painted, layer);
    state.painted.push_back(layer);
  }

  WiringChange change_to(SlotId from, Slot to) const {
    const Stack s = stack(from.side);
    return state.brush ? paint_move(s, from, to, state.painted, state.only_this)
                       : move_norm(s, from, to, state.only_this);
  }

  void drag(const Hit& hit, SlotId at, const Rect& place) {
    const bool movable = norm(at) != NormKind::None && !stack(at.side).is_locked(at);
    if (hit.held && hit.dragging && !state.cancelled && movable) {
      if (!state.dragging) {
        state.brush = hit.ctrl;
        state.painted.clear();
        state.target.reset();
      }
      state.dragging = at;
      const Vec mouse = ui.mouse(), middle = place.centre();
      state.grip = place.h < 15 ? mouse - middle : hit.drag;  // small marks jump under the mouse
      state.only_this = hit.alt;
      state.from_start = hit.shift;
      if (state.brush)
        paint_over(mouse, at);
      else
        state.target = target_under(mouse, at);
      state.preview.reset();
      if (state.target) state.preview = change_to(at, *state.target);
      if (ui.shortcut("Escape")) {
        state.cancelled = true;
        state.dragging.reset();
      }
    }
    if (!hit.released) return;
    if (state.dragging == at && !state.cancelled) {
      if (!state.brush) {
        state.target = target_under(ui.mouse(), at);
        state.only_this = hit.alt;
      }
      if (state.target) commit(change_to(at, *state.target), hit.shift);
    }
    state.dragging.reset();
    state.target.reset();
    state.preview.reset();
    state.cancelled = state.brush = false;
  }

  // Moves the focus by arrow keys: left and right along the slots and into the other stack, up and down along the
  // sub-layers, with the final norm at the top and the embedding's at the bottom.
  void move_focus(SlotId at, int dx, int dy) {
    constexpr std::array<Slot, 3> across{Slot::Stream, Slot::Before, Slot::After};
    const auto subs = stack(at.side).subs();
    const int per_layer = static_cast<int>(subs.size());
    int column = static_cast<int>(std::ranges::find(across, at.slot) - across.begin());
    int line = at.layer == kFinal ? stack(at.side).layers() * per_layer
               : at.layer == kEmbedding
                   ? -1
                   : at.layer * per_layer + static_cast<int>(std::ranges::find(subs, at.sub) - subs.begin());
    column += (dx > 0) - (dx < 0);
    line += (dy > 0) - (dy < 0);
    Side side = at.side;
    if (stacks.both && column > 2 && side == Side::Encoder) {
      side = Side::Main;
      column = 0;
    }
    if (stacks.both && column < 0 && side == Side::Main) {
      side = Side::Encoder;
      column = 2;
    }
    const Stack next_stack = stack(side);
    const int n = static_cast<int>(next_stack.subs().size()), top = next_stack.layers() * n;
    if (side != at.side) line = std::min(line * n / per_layer, top - 1);
    line = std::clamp(line, -1, top);
    column = std::clamp(column, 0, 2);
    SlotId next{kFinal, Sub::Attention, across[static_cast<size_t>(column)], side};
    if (line < 0) {
      next.layer = kEmbedding;
      next.slot = Slot::Stream;
    } else if (line < top) {
      next.layer = line / n;
      next.sub = next_stack.subs()[static_cast<size_t>(line % n)];
      state.open(side) = next.layer;
    } else {
      next.slot = Slot::Stream;
    }
    state.shown = side;
    state.focus_next = next;
  }

  // Copies this layer's norms to the layer above or below and moves the focus there.
  void paint_neighbour(SlotId at, int dy, bool from_start) {
    if (!at.in_layer()) return;
    const int next = at.layer + (dy > 0 ? 1 : -1);
    const WiringChange change = copy_layer(stack(at.side), at.layer, next);
    if (next < 0 || next >= stack(at.side).layers()) return;
    commit(change, from_start);
    state.open(at.side) = next;
    at.layer = next;
    state.focus_next = at;
  }

  NormKind fill_kind() const {
    const NormKind kind = input.view.runs[static_cast<size_t>(shown_run(state, input.view))].spec->model.norm;
    return kind == NormKind::None ? NormKind::LayerNorm : kind;
  }

  // The keys I, O, P: move the norm in focus to `slot`, or fill or empty that slot. layer_only (Ctrl): in this layer.
  void to_slot(SlotId at, Slot slot, bool only_this, bool layer_only, bool from_start) {
    if (!at.in_layer()) return;
    const Stack s = stack(at.side);
    if (norm(at) != NormKind::None && slot != at.slot) {
      const int layers[] = {at.layer};
      const WiringChange change =
          layer_only ? paint_move(s, at, slot, layers, only_this) : move_norm(s, at, slot, only_this);
      commit(change, from_start);
      if (!change.empty()) state.focus_next = SlotId{at.layer, at.sub, slot, at.side};
      return;
    }
    const SlotId there{at.layer, at.sub, slot, at.side};
    commit(set_norm(s, there, norm(there) == NormKind::None ? fill_kind() : NormKind::None,
                    only_this || layer_only),
           from_start);
  }

  void keys(const Hit& hit, SlotId at) {
    if (!hit.focused) return;
    if (hit.ctrl && hit.arrow_y) return paint_neighbour(at, hit.arrow_y, hit.shift);
    if (hit.arrow_x || hit.arrow_y) move_focus(at, hit.arrow_x, hit.arrow_y);
    for (auto [key, slot] : kKeys)
      for (const char* prefix :
           {"", "Alt+", "Shift+", "Alt+Shift+", "Ctrl+", "Ctrl+Alt+", "Ctrl+Shift+", "Ctrl+Alt+Shift+"})
        if (ui.shortcut(std::string(prefix).append(view::shortcut_of(key).chord)))
          return to_slot(at, slot, hit.alt, hit.ctrl, hit.shift);
    const NormKind here = norm(at);
    if ((hit.clicked && hit.by_key) || (here != NormKind::None && view::pressed(ui, Act::NormEmpty)))
      commit(set_norm(stack(at.side), at, here == NormKind::None ? fill_kind() : NormKind::None, hit.alt),
             hit.shift);
    else if (view::pressed(ui, Act::NormKind))
      open_menu(at);
    else if (view::pressed(ui, Act::NormLock))
      toggle_lock(at);
    else if (at.in_layer() && (view::pressed(ui, Act::LayerOut) || ui.shortcut("Alt+X")))
      leave_out(at, hit.alt);
  }

  void leave_out(SlotId at, bool only_sub) {
    const int run = shown_run(state, input.view);
    const ModelConfig& model = input.view.runs[static_cast<size_t>(run)].spec->model;
    if (state.pending) return;
    toggle_left_out(state, run,
                    place_name(model, at.side, at.layer, only_sub ? std::optional(at.sub) : std::nullopt),
                    commands);
  }

  void toggle_lock(SlotId at) {
    if (std::erase(state.locked, at) == 0 && norm(at) != NormKind::None) state.locked.push_back(at);
  }

  void open_menu(SlotId at) {
    state.menu = at;
    ui.open_popup("diagram/kind");
  }

  // Handles a slot of the open layer, a mark of a collapsed row (by mouse only: the arrows open its layer), or
  // the final norm.
  void slot(const Rect& place, SlotId at, bool small) {
    const WiredNorm kind = norm(at);
    const std::string name = "diagram/" + slot_name(at), help = slot_help(stack(at.side), at);
    if (small && kind == NormKind::None) return void(ui.mark(name, place, to_string(kind), help));
    const Ui::Group group(ui, "slots");
    HitOptions options{
        .arrows = Arrows::Both,
        .focusable = !small,
        .selected = at.in_layer() && at.sub == stack(at.side).subs().front() && at.slot == Slot::Stream,
        .tooltip = !state.dragging,
        .radius = radius::token};
    const Hit hit = ui.hit(name, place, to_string(kind), help, options);
    if (hit.hovered && kind != NormKind::None && !state.dragging) state.hovered = at;
    if (hit.hovered && kind == NormKind::None)
      state.slot_hovered = set_norm(stack(at.side), at, fill_kind(), hit.alt);
    if (at.in_layer()) drag(hit, at, place);
    if (hit.right_clicked) open_menu(at);
    if (!at.in_layer() && hit.clicked && !hit.by_key && !hit.dragging) open_menu(at);
    if (small && hit.clicked && !hit.dragging) state.open(at.side) = at.layer;
    keys(hit, at);
  }

  void menu() {
    if (!state.menu) return;
    if (const auto place = place_of(layout, *state.menu)) {
      const bool locked = stack(state.menu->side).is_locked(*state.menu);
      const WiredNorm now = norm(*state.menu);
      const auto run = static_cast<size_t>(shown_run(state, input.view));  // one whose diagram is drawn
      const float of_model = input.view.runs[run].spec->model.eps;
      if (!state.epsilon) state.epsilon = static_cast<double>(now.eps > 0 ? now.eps : of_model);
      const KindChoice choice = kind_menu(ui, *place, now, locked, true, &*state.epsilon);
      if (choice.hovered)
        state.slot_hovered = set_norm(stack(state.menu->side), *state.menu, *choice.hovered, ui.alt());
      std::optional<WiredNorm> wanted;
      if (choice.kind) wanted = *choice.kind;
      if (const auto typed = static_cast<float>(*state.epsilon); choice.epsilon)
        wanted = WiredNorm(now, typed == of_model ? 0 : typed);
      if (wanted) commit(set_norm(stack(state.menu->side), *state.menu, *wanted, ui.alt()), ui.shift());
      if (choice.lock) toggle_lock(*state.menu);
    }
    if (ui.popup_open("diagram/kind")) return;
    state.menu.reset();
    state.epsilon.reset();
  }
};

void open_rows(Ui& ui, DiagramState& state, const StackLayout& stack_layout, const Rect& clip) {
  const Ui::Group group(ui, "layers");
  for (const RowLayout& row : stack_layout.rows) {
    if (!clip.contains(row.box.centre())) continue;
    if (!row.row.open) {
      const std::string help =
          tr(row.row.count() > 1
                 ? "Identical: layers {first} to {last} are wired alike, each with weights of its own.\n"
                   "Opens layer {layer}."
                 : "Opens layer {layer}.",
             {{"first", row.row.first + 1}, {"last", row.row.last + 1}, {"layer", row.row.first + 1}});
      HitOptions options;
      options.overlap = true;  // the marks of the row lie on it
      if (ui.hit(row_name(stack_layout.side, row.row), row.box, "collapsed", help, options).clicked)
        state.open(stack_layout.side) = row.row.first;
    } else if (!row.collapse.empty()) {
      if (ui.hit("diagram/" + side_prefix(stack_layout.side) + "collapse", row.collapse,
                 fmt::format("{}", row.row.first + 1), tr("Closes the layer."))
              .clicked)
        state.open(stack_layout.side) = -1;
    }
  }
}

void note_hovered_layer(DiagramState& state, const DiagramLayout& layout, const Rect& clip, Vec mouse) {
  if (!clip.contains(mouse) || state.dragging) return;
  for (const StackLayout& stack_layout : layout.stack_layouts)
    for (const RowLayout& row : stack_layout.rows) {
      for (const BarLayout& bar : row.bars)
        if (bar.size.inset(-1, -2).contains(mouse) || bar.gradient.inset(-1, -2).contains(mouse))
          state.hovered_layer = bar.layer;
      if (row.row.count() == 1 && row.box.contains(mouse)) state.hovered_layer = row.row.first;
    }
}

}  // namespace

void handle_diagram(Ui& ui, DiagramState& state, const DiagramInput& input, const DiagramLayout& layout,
                    const Stacks& stacks, const Rect& clip, std::vector<session::Command>& commands) {
  state.hovered.reset();
  state.slot_hovered.reset();
  state.hovered_layer.reset();
  note_hovered_layer(state, layout, clip, ui.mouse());
  // A focus change of the last frame is applied now, when a layer that it opened has its slots.
  if (state.focus_next) {
    ui.focus("diagram/" + slot_name(*state.focus_next));
    state.focus_next.reset();
  }
  if (!state.dragging) {
    state.target.reset();
    state.preview.reset();
  }
  SlotInput slots{ui, state, input, layout, stacks, commands};
  const bool may_open = !state.dragging;
  for (const StackLayout& stack_layout : layout.stack_layouts) {
    if (may_open) open_rows(ui, state, stack_layout, clip);
    if (may_open)
      explain_parts(ui, input, input.view.runs[static_cast<size_t>(shown_run(state, input.view))].spec->model,
                    stack_layout, clip);
    if (may_open && !state.pending)
      leave_out_controls(ui, state, input, shown_run(state, input.view), stack_layout, clip, commands);
    for (const RowLayout& row : stack_layout.rows) {
      if (!clip.overlaps(row.box)) continue;
      for (const SublayerLayout& sub : row.subs)
        for (Slot slot : kSlots)
          if (clip.contains(sub.slot(slot).centre()))
            slots.slot(sub.slot(slot), {row.row.first, sub.sub, slot, stack_layout.side}, false);
      for (const SmallSlots& small : row.small)
        for (Slot slot : kSlots)
          if (clip.contains(small.slot(slot).centre()))
            slots.slot(small.slot(slot), {row.row.first, small.sub, slot, stack_layout.side}, true);
    }
    if (clip.contains(stack_layout.final_slot.centre()))
      slots.slot(stack_layout.final_slot, {kFinal, Sub::Attention, Slot::Stream, stack_layout.side}, false);
    if (clip.contains(stack_layout.embedding_slot.centre()))
      slots.slot(stack_layout.embedding_slot, {kEmbedding, Sub::Attention, Slot::Stream, stack_layout.side},
                 false);
    tell_scales(ui, state, input, stack_layout, stacks, clip);
  }
  if (may_open) function_controls(ui, state, input, layout, clip, commands);
  slots.menu();
  if (!ui.popup_open("diagram/kind")) state.menu.reset();
}

// ---- The list of kinds of a norm: every kind that the engine has, with related kinds under a common caption. At its
// end, the norm's epsilon and its lock.

namespace {

constexpr float kWidth = 330, kRow = 27, kCaption = 19, kField = 30;

// All kinds by group: the groups in the engine's order of their first kinds, then the kinds without a group.
std::vector<NormKind> ordered_kinds() {
  std::vector<std::string_view> groups;
  for (NormKind kind : kNormKinds) {
    const std::string_view group = view::kind_words(kind).group;
    if (std::ranges::find(groups, group) == groups.end()) groups.push_back(group);
  }
  std::stable_partition(groups.begin(), groups.end(), [](std::string_view g) { return !g.empty(); });
  std::vector<NormKind> kinds;
  for (std::string_view group : groups)
    for (NormKind kind : kNormKinds)
      if (view::kind_words(kind).group == group) kinds.push_back(kind);
  return kinds;
}

Hit kind_row(Ui& ui, const Rect& row, NormKind kind, bool selected) {
  const view::KindWords& words = view::kind_words(kind);
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const Hit hit = ui.hit(fmt::format("diagram/kind/{}", kind == NormKind::None ? "off" : short_name(kind)),
                         row, selected ? "on" : "", fmt::format("{}: {}.", words.name, words.help),
                         {.tooltip = false, .radius = radius::field});
  if (hit.hovered) p.fill(row, t.sunk, radius::field);
  Rect line = row.inset(6, 0);
  const Rect token = centred({line.x + 18, line.centre().y}, 36, 20);
  if (kind == NormKind::None) {
    p.dashed_outline(token, t.control, line::outline, {3, 2.5f}, radius::token);
    p.text_in(token, {Face::Sans, type::tick}, t.ink3, words.token, Align::Centre);
  } else {
    p.accent_box(t, token, radius::token);
    p.text_in(token, {Face::Bold, type::tick}, t.on_accent, words.token, Align::Centre);
  }
  line.take_left(46);
  const float w = p.text_in(line, {selected ? Face::Bold : Face::Sans, type::body}, t.ink, words.name);
  line.take_left(std::max(w + 8, 96.f));
  p.text_in(line, {Face::Sans, type::tick}, t.ink3, words.help);
  return hit;
}

bool lock_row(Ui& ui, const Rect& row, bool locked) {
  return button(ui, "diagram/kind/lock", row,
                tr(locked ? "Unlock this norm" : "Lock: it stays when others move"),
                tr("A locked norm stays where it is, whatever the others do. Key: L."),
                {.quiet = true, .left = true, .style = {Face::Sans, type::body}});
}

bool epsilon_row(Ui& ui, const Rect& row, double& epsilon) {
  const FieldOptions options{
      .lo = 1e-12, .log = true, .most = 1, .format = [](double v) { return ui::significant(v, 3); }};
  return field(ui, "diagram/kind/epsilon", row, tr("epsilon"), epsilon,
               tr("Added to the variance inside this norm, against division by zero; the model's own value "
                  "until another is set here. Alike norms follow, with Alt only this one changes."),
               options) == Change::Done;
}

}  // namespace

KindChoice kind_menu(Ui& ui, const Rect& anchor, NormKind now, bool locked, bool may_lock, double* epsilon) {
  KindChoice choice;
  const std::vector<NormKind> kinds = locked ? std::vector<NormKind>{} : ordered_kinds();
  const bool lockable = may_lock && now != NormKind::None;
  const bool divides = epsilon && !locked && now != NormKind::None && traits_of(now).has_statistics;
  float height =
      12 + kRow * static_cast<float>(kinds.size()) + (lockable ? kRow + 5 : 0) + (divides ? kField + 5 : 0);
  std::string_view group;
  for (NormKind kind : kinds)
    if (group != view::kind_words(kind).group) {
      group = view::kind_words(kind).group;
      height += group.empty() ? 5 : kCaption;
    }
  Rect box{std::min(anchor.x, ui.size().x - kWidth - 4), anchor.bottom() + 6, kWidth, height};
  box.y = std::max(4.f, std::min(box.y, ui.size().y - height - 4));
  if (!ui.begin_popup("diagram/kind", box)) return choice;
  Painter& p = ui.paint();
  Rect rows = box.inset(6);
  group = {};
  for (NormKind kind : kinds) {
    if (group != view::kind_words(kind).group) {
      group = view::kind_words(kind).group;
      if (group.empty())
        rows.take_top(5);
      else
        p.text_in(rows.take_top(kCaption).inset(6, 0), {Face::Sans, type::tick}, ui.theme().ink3, group);
    }
    const Hit hit = kind_row(ui, rows.take_top(kRow).inset(0, 1), kind, kind == now);
    if (hit.clicked) choice.kind = kind;
    if (hit.hovered) choice.hovered = kind;
  }
  if (divides) {
    rows.take_top(5);
    choice.epsilon = epsilon_row(ui, rows.take_top(kField), *epsilon);
  }
  if (lockable) {
    const float y = rows.take_top(5).centre().y;
    if (!kinds.empty()) p.hairline({rows.x + 6, y}, {rows.right() - 6, y}, ui.theme().border);
    choice.lock = lock_row(ui, rows.take_top(kRow).inset(0, 1), locked);
  }
  if (choice.kind || choice.epsilon || choice.lock) ui.close_popup();
  ui.end_popup();
  return choice;
}

// ---- Ablation: a click on the micro-bars of a layer or sub-layer (or on the square of the open layer) leaves it out,
// and the footer says the loss with and without it. The run itself does not change.

namespace {

// Says "layer 3", "the encoder's layer 3", "attention of layer 2".
std::string place_words(const std::string& name) {
  const NumberPlace place = normscope::place_of(name);
  const std::string where = tr(place.stack == "enc."   ? "the encoder's layer {layer}"
                               : place.stack == "dec." ? "the decoder's layer {layer}"
                                                       : "layer {layer}",
                               {{"layer", place.layer}});
  return place.rest.empty() ? where
                            : tr(place.rest == "attn"    ? "attention of {where}"
                                 : place.rest == "cross" ? "cross-attention of {where}"
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
    const Hit hit = ui.hit(control_name(layer, sub), place, is_left_out(state, name) ? "out" : "in",
                           help(name), {.focusable = false, .radius = 3});
    if (hit.hovered && !is_left_out(state, name))
      ui.paint().outline(place.inset(-3), ui.theme().control, 1, 4);
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
    // One control covers all bars of the group, so that thin bars can be hit; the mouse's height determines the layer.
    const Hit hit = ui.hit(fmt::format("diagram/{}layers{}-{}/skip", view::side_prefix(stack_layout.side),
                                       first + 1, row.row.last + 1),
                           zone, "", tr("Click a layer's bar away: the loss without it is measured."),
                           {.focusable = false, .radius = 3});
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

// ---- Tooltips for the parts of the diagram: stream, branch, sum, functions, ends, slots.

namespace {

struct Parts {
  Ui& ui;
  const DiagramInput& input;
  const ModelConfig& model;
  const StackLayout& d;
  const Rect& clip;

  std::string where(const std::string& place = "") const {
    return "diagram/" + view::side_prefix(d.side) + (place.empty() ? "part" : place);
  }
  void tell(const std::string& place, const Rect& rect, const char* term) const {
    if (const Rect seen = rect.intersect(clip); !seen.empty()) view::tell_term(ui, where(place), seen, term);
  }

  void sublayer(int layer, const SublayerLayout& s) const {
    const std::string place = fmt::format("layer{}/{}", layer + 1, view::to_string(s.sub));
    const bool feeds = s.sub == view::Sub::FeedForward;
    const char* const function = feeds                       ? "feed-forward"
                                 : s.sub == view::Sub::Cross ? "cross-attention"
                                                             : "attention";
    const float left = d.stream_x + 16, top = s.plus.y - 6;
    tell(place, {left, top, s.return_x + 4 - left, s.box.bottom() + 14 - top}, "branch");
    tell(place, s.box, function);
    tell(place, centred(s.plus, 16, 16), "residual");
    if (d.narrow) return;
    tell(place + "/bars", {s.size_bar.x, s.bar.bottom() + 2, s.bar.right() - s.size_bar.x, 15}, function);
  }

  // The names of the slots, which the picture has at the lowest sub-layer of the open layer.
  void slot_names(const RowLayout& row) const {
    const SublayerLayout& s = row.subs.front();
    const float below = s.box.bottom() + 1;
    for (const auto& [name, rect] : {std::pair{"before", Rect{s.before.x - 4, below, s.before.w + 8, 12}},
                                     {"after", Rect{s.after.x - 4, below, s.after.w + 8, 12}},
                                     {"stream", Rect{s.stream.right() + 4, s.stream.y, 84, s.stream.h}}})
      tell(fmt::format("part/{}", name), rect, "slot");
  }

  // The numbers beside the stream: what its norms divide by, and what the layer still knows of each token.
  void readings(const RowLayout& row) const {
    for (const SublayerLayout& s : row.subs)
      tell(fmt::format("layer{}/{}/divisor", row.row.first + 1, view::to_string(s.sub)),
           {s.stream.right() + 4, s.stream.y - 4, 34, 14}, "divisor");
    tell(fmt::format("layer{}/identity", row.row.first + 1), identity_place(row), "identity");
  }

  void ends() const {
    const bool placed = model.positions == Positions::Learned || model.positions == Positions::Sinusoidal;
    ui.tell(where("part/embedding"), d.embedding.intersect(clip), "",
            view::first_sentence("embedding") + (placed ? " " + view::first_sentence("positions") : ""));
    const float beside = d.final_slot.right() + 6, end = d.narrow ? d.right : d.size_head.x;
    if (const Rect seen = Rect{beside, d.final_slot.y, end - beside, d.final_slot.h}.intersect(clip);
        !seen.empty())
      ui.tell(where("final/name"), seen, "",
              view::slot_help(view::stacks_of(model).of(d.side),
                              {view::kFinal, view::Sub::Attention, Slot::Stream, d.side}));
    if (!d.output.empty())
      ui.tell(where("part/output"), d.output.intersect(clip), "",
              tr("The last matrix turns every state into a score for each {unit}: the higher it is, the "
                 "likelier the model takes that one to be.",
                 {{"unit", words::spoken(input.view.unit)}}));
    if (!d.size_head.empty()) {
      ui.tell(where("size"), d.size_head, "",
              tr("How large the numbers on the residual stream are where each branch joins it: their "
                 "variance, on a logarithmic scale from 0.01 to 100."));
      ui.tell(where("gradient"), d.gradient_head, "",
              tr("How large the loss's gradient is on its way down: ‖∂L/∂W‖ at each layer or sub-layer, "
                 "on a logarithmic scale from a millionth to 3."));
    }
  }
};

}  // namespace

void explain_parts(Ui& ui, const DiagramInput& input, const ModelConfig& model,
                   const StackLayout& stack_layout, const Rect& clip) {
  const Parts parts{ui, input, model, stack_layout, clip};
  const float x = stack_layout.stream_x, top = stack_layout.stream_top;
  parts.tell("part", {x - 6, top, 12, stack_layout.stream_bottom - top}, "stream");
  parts.ends();
  for (const RowLayout& row : stack_layout.rows) {
    for (const SublayerLayout& s : row.subs) parts.sublayer(row.row.first, s);
    if (row.subs.empty() || stack_layout.narrow) continue;
    parts.slot_names(row);
    parts.readings(row);
  }
}

}  // namespace normscope::diagram
