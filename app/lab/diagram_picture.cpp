// Paints the architecture diagram from its layout: nothing here reads the hand or changes anything.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/lab/diagram.h"
#include "app/lab/quantities.h"
#include "app/ui/widgets.h"

namespace normscope::lab {
namespace {

using namespace ui;

constexpr Dash kSlotDash{3, 2.5f};
constexpr float kCorner = 10;  // of the way back

bool holds(const std::vector<SlotId>& slots, SlotId at) {
  return std::find(slots.begin(), slots.end(), at) != slots.end();
}

struct Picture {
  Painter& p;
  Painter& top;
  const Theme& t;
  Ui& ui;
  const DiagramState& state;
  const DiagramInput& input;
  const DiagramLayout& d;
  const StackWiring& stack;
  const RunView& run;
  int colour;  // of the run: 0 = A

  // The open layer lies deeper than the panel: lighter on white, darker in the dark.
  Colour ground() const { return t.dark ? t.sunk : t.raised; }
  Colour solid() const { return t.dark ? t.field : t.sunk; }
  int layers() const { return static_cast<int>(stack.layers.size()); }
  // What the collapsed rows show: what a drop would make of them while it hovers.
  const StackWiring& shown() const { return state.target && state.preview ? state.preview->wiring : stack; }
  bool ghost(SlotId at) const {
    if (!state.dragging) return false;
    if (*state.dragging == at) return true;
    return state.target && state.preview && holds(state.preview->from, at);
  }
  bool target(SlotId at) const { return state.target && state.preview && holds(state.preview->to, at); }
  bool legal(SlotId at) const {
    return state.dragging && state.dragging->layer == at.layer && state.dragging->sub == at.sub &&
           legal_move(stack, *state.dragging, at.slot);
  }
  // Hovering one token lights up those that would follow it.
  bool lit(SlotId at) const {
    if (!state.hovered || state.dragging || norm_at(stack, at) == NormKind::None) return false;
    if (*state.hovered == at) return true;
    return !ui.alt() && state.hovered->slot == at.slot &&
           stack.layers[static_cast<size_t>(state.hovered->layer)] ==
               stack.layers[static_cast<size_t>(at.layer)];
  }
  bool trunk_broken(SlotId at) const { return norm_at(stack, at) != NormKind::None || target(at); }

  void token(const Rect& r, NormKind kind, bool halo) {
    if (halo) p.halo(t, r, radius::token, 0.8f);
    p.accent_box(t, r, radius::token);
    p.text_in(r, {Face::bold, type::tick}, t.on_accent, token_text(kind), Align::centre);
  }

  // Everything of a slot but the break of the trunk.
  void slot(const Rect& r, SlotId at, Colour behind) {
    const NormKind kind = norm_at(stack, at);
    if (ghost(at)) {
      p.fill(r, behind, radius::token);
      p.dashed_outline(r, t.slot, line::outline, kSlotDash, radius::token);
      p.text_in(r, {Face::sans, type::tick}, t.ink3, token_text(kind), Align::centre);
    } else if (kind != NormKind::None) {
      token(r, kind, lit(at));
    } else if (target(at)) {
      p.halo(t, r, radius::token);
      p.fill(r, t.panel, radius::token);
      p.outline(r, t.dark ? t.accent : t.ink, 2, radius::token);
    } else if (legal(at)) {
      p.fill(r, t.accent_soft, radius::token);
      p.dashed_outline(r, t.dark ? t.accent : t.ink, line::outline, kSlotDash, radius::token);
    } else if (at.slot != Slot::Trunk) {
      p.fill(r, behind, radius::token);
      p.dashed_outline(r, t.slot, line::outline, kSlotDash, radius::token);
    }
  }

  // 2.4 px, and 2 to 5 by the branch's own share of the state once that is measured.
  float branch_width(Sub sub, int layer) const {
    const float share = own_share(input.data, run, layer, sub, input.step);
    return std::isfinite(share) ? 2 + 3 * std::clamp(share, 0.f, 1.f) : line::branch;
  }

  void branch(const SublayerLayout& s, int layer) {
    const float x = d.trunk_x, cy = s.box.centre().y, w = branch_width(s.sub, layer);
    const float reach = s.before.x - x;  // the branch leaves in one swing and arrives flat at the slot
    p.bezier({x + 3, s.fork_y}, {x + reach * 0.45f, s.fork_y - 2}, {x + reach * 0.35f, cy},
             {s.before.x - 4, cy}, t.wire, w);
    p.line({s.before.x - 5, cy}, {s.box.x, cy}, t.wire, w);
    p.line({s.box.right(), cy}, {s.return_x - kCorner, cy}, t.wire, w);
    const float back = s.plus.y, k = kCorner;
    p.bezier({s.return_x - k, cy}, {s.return_x - k * 0.45f, cy}, {s.return_x, cy - k * 0.45f},
             {s.return_x, cy - k}, t.wire, w);
    p.line({s.return_x, cy - k}, {s.return_x, back + k}, t.wire, w);
    p.bezier({s.return_x, back + k}, {s.return_x, back + k * 0.45f}, {s.return_x - k * 0.45f, back},
             {s.return_x - k, back}, t.wire, w);
    p.line({s.return_x - k, back}, {x + 16, back}, t.wire, w);
    const Vec head[] = {{x + 9, back}, {x + 18, back - 4.5f}, {x + 18, back + 4.5f}};
    p.polygon(head, t.wire);
  }

  void function_box(const SublayerLayout& s) {
    p.fill(s.box, solid(), 6);
    p.outline(s.box, t.wire, line::box, 6);
    p.text_in(s.box, {Face::bold, d.compact ? 12 : type::title}, t.ink,
              s.sub == Sub::attention ? "Attention" : "Feed-forward", Align::centre);
  }

  void plus(Vec at) {
    p.circle(at, 8, t.panel);
    p.ring(at, 8, t.ink, 1.6f);
    p.line({at.x - 4, at.y}, {at.x + 4, at.y}, t.ink, 1.6f);
    p.line({at.x, at.y - 4}, {at.x, at.y + 4}, t.ink, 1.6f);
  }

  void pill(const SublayerLayout& s, int layer) {
    const Scale& skip = wiring_of(stack, layer, s.sub).skip;
    if (skip.kind == Scale::Kind::One) return;
    const size_t index = static_cast<size_t>(layer * 2 + (s.sub == Sub::feed_forward));
    const float value = index < run.skip_scales.size() ? run.skip_scales[index] : skip.value;
    p.fill(s.pill, t.panel, s.pill.h / 2);
    p.outline(s.pill, t.ink, 1.4f, s.pill.h / 2);
    p.text_in(s.pill, {Face::mono, type::tick}, t.ink,
              fmt::format("{} {:.2f}", skip.kind == Scale::Kind::Constant ? "α" : "ω", value), Align::centre);
  }

  void gradient_bar(const Rect& r, int layer, float value) {
    p.fill(r, solid(), 2);
    if (input.hover_layer == layer) p.outline(r.inset(-2), t.ink, 1, 3);
    if (!std::isfinite(value) || value <= 0) return;
    const float share = std::clamp((std::log10(value) + 6) / (std::log10(3.f) + 6), 0.02f, 1.f);
    p.fill({r.x, r.y, r.w * share, r.h}, depth_colour(t, layer, layers()), 2);
  }

  void open_row_back(const RowLayout& r) {
    p.fill(r.box, ground(), radius::panel);
    p.outline(r.box, t.border, 1, radius::panel);
    for (const SublayerLayout& s : r.subs) {
      const SlotId at{r.row.first, s.sub, Slot::Trunk};
      if (norm_at(stack, at) == NormKind::None && !target(at) && !legal(at))
        p.dashed_outline(s.trunk, t.slot, line::outline, kSlotDash, radius::token);
    }
  }

  void break_trunk(const Rect& slot, Colour behind) {
    p.fill({d.trunk_x - 5, slot.y - 3, 10, slot.h + 6}, behind);
  }

  void open_row_front(const RowLayout& r) {
    for (const SublayerLayout& s : r.subs) {
      const SlotId trunk{r.row.first, s.sub, Slot::Trunk};
      if (trunk_broken(trunk)) break_trunk(s.trunk, ground());
      branch(s, r.row.first);
      slot(s.trunk, trunk, ground());
      slot(s.before, {r.row.first, s.sub, Slot::Before}, ground());
      slot(s.after, {r.row.first, s.sub, Slot::After}, ground());
      function_box(s);
      plus(s.plus);
      pill(s, r.row.first);
      gradient_bar(s.bar, r.row.first, input.data.gradient(run, r.row.first, s.sub, input.step));
      const char* name = s.sub == Sub::attention ? "attention" : d.compact ? "feed-fwd" : "feed-forward";
      p.text({s.bar.x, s.bar.bottom() + 14}, {Face::sans, type::tick}, t.ink3, name);
    }
    const SublayerLayout& s = r.subs[0];
    auto name = [&](Slot slot, Vec at, Align align) {
      const bool on = target({r.row.first, Sub::attention, slot});
      p.text(at, {on ? Face::bold : Face::sans, type::tick}, on ? t.ink : t.ink3,
             slot == Slot::Before  ? "before"
             : slot == Slot::After ? "after"
                                   : "on the trunk",
             align);
    };
    const float below = s.box.bottom() + 9 + (d.compact ? 3.f : 0.f);
    name(Slot::Before, {s.before.centre().x, below}, Align::centre);
    name(Slot::After, {s.after.centre().x, below}, Align::centre);
    name(Slot::Trunk, {s.trunk.right() + 6, s.trunk.centre().y + 4}, Align::left);
    layer_key(r.row.first, r.row.first, r.box.centre().y, true);
  }

  void collapsed_back(const RowLayout& r) {
    for (int i = r.sheets; i > 0; --i) {
      const Rect sheet = r.box.moved(4.f * static_cast<float>(i), -4.f * static_cast<float>(i));
      p.fill(sheet, t.raised, 6);
      p.outline(sheet, t.strong, 1, 6);
    }
    p.fill(r.box, t.raised, 6);
    p.outline(r.box, t.strong, 1, 6);
    p.hairline({d.trunk_x, r.box.centre().y}, {r.box.x, r.box.centre().y}, t.wire, 1.6f);
    for (const SmallSlots& small : r.small)
      if (norm_at(shown(), {r.row.first, small.sub, Slot::Trunk}) == NormKind::None)
        p.dashed_outline(small.trunk, t.slot, 1, {2.5f, 2}, 4);
  }

  void collapsed_front(const RowLayout& r) {
    for (const SmallSlots& small : r.small) {
      auto has = [&](Slot slot) {
        return norm_at(shown(), {r.row.first, small.sub, slot}) != NormKind::None;
      };
      auto mark = [&](const Rect& box, Slot slot) {
        if (lit({r.row.first, small.sub, slot})) p.halo(t, box, 4, 0.6f);
        p.accent_box(t, box, 4);
      };
      if (has(Slot::Trunk)) {
        break_trunk(small.trunk, t.panel);
        mark(small.trunk, Slot::Trunk);
      }
      if (has(Slot::Before)) mark(small.branch, Slot::Before);
      if (has(Slot::After)) mark(small.branch.moved(r.box.w - 2, 0), Slot::After);
    }
    const bool group = r.row.count() > 1;
    Rect line = r.box;
    line.x += 14, line.w -= 41;
    const std::string name = group ? fmt::format("Layers {} to {}", r.row.first + 1, r.row.last + 1)
                                   : fmt::format("Layer {}", r.row.first + 1);
    const float w = p.text_in(line, {Face::bold, type::body}, t.ink, name);
    draw_icon(p, Icon::chevron_right, {r.box.right() - 15, r.box.centre().y}, 17, t.ink2);
    if (group) {
      const std::string count = fmt::format("×{}", r.row.count());
      const float pill_w = p.text_width({Face::bold, type::tick}, count) + 18;
      const Rect pill = centred({line.x + w + 8 + pill_w / 2, r.box.centre().y}, pill_w, 18);
      p.fill(pill, t.sunk, 9);
      p.text_in(pill, {Face::bold, type::tick}, t.ink2, count, Align::centre);
      const float room = line.right() - pill.right() - 8;
      if (!d.compact && p.text_width({Face::sans, type::tick}, "all alike") < room)
        p.text_in(line, {Face::sans, type::tick}, t.ink3, "all alike", Align::right);
    }
    for (size_t i = 0; i < r.bars.size(); ++i) {
      const int layer = r.bar_layers[i];
      const Sub sub = !group && i == 1 ? Sub::attention : Sub::feed_forward;
      gradient_bar(r.bars[i], layer, input.data.gradient(run, layer, sub, input.step));
    }
    layer_key(r.row.first, r.row.last, r.box.centre().y, false);
  }

  // Squares in the depth colours: the key of every plot by depth.
  void layer_key(int first, int last, float y, bool open) {
    if (open && d.compact) return;
    auto square = [&](int layer, float cy) {
      depth_square(ui, {d.left, cy - 5, 10, 10}, layer, layers());
      if (input.hover_layer == layer) p.outline({d.left - 3, cy - 8, 16, 16}, t.ink, 1.4f, 4);
      if (!d.compact)
        p.text({d.left + 14, cy + 4}, {Face::sans, type::body}, t.ink2, fmt::format("{}", layer + 1));
    };
    if (first == last) {
      square(first, open ? y - 8 : y);
      if (open) draw_icon(p, Icon::chevron_down, {d.left + 6, y + 10}, 16, t.ink2);
      return;
    }
    square(last, y - 6);
    square(first, y + 6);
  }

  void ends() {
    const std::string unit = input.view.unit.empty() ? "token" : input.view.unit;
    end_box(d.output, "Output", "next " + unit);
    end_box(d.embedding, "Embedding", "token + position");
    const TextStyle small{Face::sans, type::tick};
    p.text({d.bars_x, d.output.centre().y + 4}, small, t.ink3, d.compact ? "gradient" : "gradient, log");
    const bool on = stack.final != NormKind::None;
    const Placement placement = placement_of(stack, context_of(run.spec->model, true));
    std::string name = "final norm";
    if (!on)
      name = placement == Placement::Custom ? "final norm off"
                                            : fmt::format("final norm, off in {}", label(placement));
    Rect label_box{d.final_slot.right() + 6, d.final_slot.y, d.bars_x - d.final_slot.right() - 10,
                   d.final_slot.h};
    p.text_in(label_box, small, t.ink3, name);
  }

  void end_box(const Rect& r, const char* name, const std::string& what) {
    p.fill(r, solid(), 5);
    p.outline(r, t.wire, line::box, 5);
    Rect inside = r.inset(12, 0);
    const float w = p.text_in(inside, {Face::bold, type::body}, t.ink, name);
    inside.take_left(w + 7);
    p.text_in(inside, {Face::sans, type::body}, t.ink3, what);
  }

  void trunk() {
    if (stack.final == NormKind::None)
      p.dashed_outline(d.final_slot, t.slot, line::outline, kSlotDash, radius::token);
    p.fill({d.trunk_x - line::trunk / 2, d.trunk_top, line::trunk, d.trunk_bottom - d.trunk_top},
           t.runs[static_cast<size_t>(colour)].line);
    if (stack.final != NormKind::None) {
      break_trunk(d.final_slot, t.panel);
      token(centred(d.final_slot.centre(), 32, 18), stack.final, false);
    }
  }

  void held_token() {
    if (!state.dragging) return;
    for (const RowLayout& r : d.rows) {
      if (!r.row.open || r.row.first != state.dragging->layer) continue;
      const SublayerLayout& s = r.subs[state.dragging->sub == Sub::attention ? 0 : 1];
      const Rect at = s.slot(state.dragging->slot).moved(state.grip.x, state.grip.y);
      const Rect lifted = centred(at.centre(), at.w + 5, at.h + 3);
      top.shadow(t, lifted, 6);
      top.accent_box(t, lifted, 6);
      top.text_in(lifted, {Face::bold, type::body}, t.on_accent, token_text(norm_at(stack, *state.dragging)),
                  Align::centre);
    }
  }

  void draw() {
    for (const RowLayout& r : d.rows) r.row.open ? open_row_back(r) : collapsed_back(r);
    trunk();
    for (const RowLayout& r : d.rows) r.row.open ? open_row_front(r) : collapsed_front(r);
    ends();
    held_token();
  }
};

}  // namespace

void paint_diagram(Ui& ui, const DiagramState& state, const DiagramInput& input, const DiagramLayout& layout,
                   const StackWiring& stack, int run) {
  const RunView& view = input.view.runs[static_cast<size_t>(run)];
  const int letter = state.pending && state.selected == 'D' ? 3 : view.letter - 'A';
  Picture{ui.paint(), ui.paint_top(), ui.theme(), ui, state, input, layout, stack, view, letter}.draw();
}

}  // namespace normscope::lab
