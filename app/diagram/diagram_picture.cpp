// The picture is painted from its layout: nothing here reads input or changes anything. diagram_tokens.h has the tokens
// and their states, diagram_sublayer.h a sub-layer.
#include <fmt/format.h>

#include <algorithm>

#include "app/diagram/diagram.h"
#include "app/diagram/diagram_sublayer.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"

namespace normscope::diagram {
namespace {

using namespace ui;

// Paints one stack, with the numbers of `run`.
struct Picture : SublayerPainter {
  int colour;  // of the run: 0 = A

  Picture(const TokenPainter& tokens, const StackLayout& stack_layout, const RunView& view, int run_colour)
      : SublayerPainter(tokens, stack_layout, view), colour(run_colour) {}

  view::SlotId at(int layer, view::Sub sub, Slot slot) const { return {layer, sub, slot, d.side}; }
  bool stream_broken(view::SlotId id) const {
    return view::norm_at(stack.wiring, id) != NormKind::None || target(id);
  }

  bool painted(int layer) const {
    return state.brush && state.dragging && state.dragging->side == d.side &&
           std::ranges::find(state.painted, layer) != state.painted.end();
  }

  bool out(int layer, std::optional<view::Sub> sub = {}) const {
    return !state.left_out.empty() && is_left_out(state, place_name(run.spec->model, d.side, layer, sub));
  }
  // Covers what is clicked away with the colour of the ground.
  void veil(const Rect& r, Colour behind, float round) { p.fill(r, behind.alpha(0.72f), round); }
  // Draws the residual stream as if the layer were not there.
  void pass_by(float from, float to, Colour behind) {
    const Rect lane{d.stream_x - 17, from, 34, to - from};
    veil(lane, behind, 0);
    p.fill({d.stream_x - line::stream / 2, from, line::stream, to - from},
           t.runs[static_cast<size_t>(colour)].line);
  }

  void open_row_back(const RowLayout& r) {
    p.fill(r.box, ground(), radius::panel);
    p.outline(r.box, painted(r.row.first) ? t.ink : t.border, painted(r.row.first) ? 1.6f : 1, radius::panel);
    for (const SublayerLayout& s : r.subs) {
      const view::SlotId id = at(r.row.first, s.sub, Slot::Stream);
      if (is_empty_slot(id) && !target(id) && !legal(id))
        p.dashed_outline(s.stream, t.slot, line::outline, kSlotDash, radius::token);
    }
  }

  void break_stream(const Rect& slot, Colour behind) {
    p.fill({d.stream_x - 5, slot.y - 3, 10, slot.h + 6}, behind);
  }

  // Draws the norm by which the sub-layer's stream enters (HybridNorm): below the fork, not to be moved.
  void enter_norm(const RowLayout& r, size_t i) {
    const SublayerLayout& s = r.subs[i];
    const int layer = r.row.first;
    const NormKind kind = wiring(layer, s.sub).enter;
    if (kind == NormKind::None) return;
    Rect place = centred({d.stream_x, s.fork_y + 13}, s.stream.w, 16);
    if (i > 0) {  // where the norm on the stream of the sub-layer below would stand, or above that
      const view::SlotId below = at(layer, r.subs[i - 1].sub, Slot::Stream);
      place = r.subs[i - 1].stream;
      if (stream_broken(below) || legal(below))
        place = centred({d.stream_x, std::min(s.fork_y + 6, place.y - 9)}, s.stream.w, 13);
    }
    break_stream(place, ground());
    locked_token(place, kind);
  }

  void open_row_front(const RowLayout& r) {
    const int layer = r.row.first;
    if (bottom_skip(r)) bottom_line(r);
    for (size_t i = 0; i < r.subs.size(); ++i) enter_norm(r, i);
    for (size_t i = 0; i < r.subs.size(); ++i) {
      const SublayerLayout& s = r.subs[i];
      const view::SlotId stream = at(layer, s.sub, Slot::Stream);
      if (stream_broken(stream)) break_stream(s.stream, ground());
      branch(s, layer, wiring(layer, s.sub).parallel ? r.subs.front().fork_y : s.fork_y);
      for (Slot which : {Slot::Stream, Slot::Before, Slot::After})
        if (which != Slot::Stream || takes_norms()) slot(s.slot(which), at(layer, s.sub, which), ground());
      function_box(s, layer);
      plus(s.plus);
      scales(s, layer);
      size_bar(s.size_bar, layer, s.sub);
      gradient_bar(s.bar, layer, s.sub);
      if (out(layer) || out(layer, s.sub)) {
        const float left = d.stream_x + 16;
        veil({left, s.plus.y - 5, s.return_x + 4 - left, s.box.bottom() - s.plus.y + 10}, ground(), 4);
        veil(s.bar, t.panel, 2);
        veil(s.size_bar, t.panel, 2);
        pass_by(s.stream.y - 4, s.fork_y + 4, ground());
      }
      if (d.narrow) continue;
      const std::string& name = tr(s.sub == view::Sub::Cross       ? "cross-att."
                                   : s.sub == view::Sub::Attention ? "attention"
                                   : compact                       ? "feed-fwd"
                                                                   : "feed-forward");
      p.text({s.size_bar.x, s.bar.bottom() + 14}, {Face::Sans, type::tick}, t.ink3, name);
    }
    if (!d.narrow) slot_names(r);
    layer_key(r);
  }

  void slot_names(const RowLayout& r) {
    const SublayerLayout& s = r.subs.front();
    auto name = [&](Slot slot, Vec where, Align align) {
      const bool on = target(at(r.row.first, s.sub, slot));
      p.text(where, {on ? Face::Bold : Face::Sans, type::tick}, on ? t.ink : t.ink3,
             tr(slot == Slot::Before  ? "before"
                : slot == Slot::After ? "after"
                                      : "on the stream"),
             align);
    };
    const float below = s.box.bottom() + 9 + (compact ? 3.f : 0.f);
    if ((!compact || !d.cross) && takes_norms())  // three sub-layers leave no room for it there
      name(Slot::Stream, {s.stream.right() + 6, s.stream.centre().y + 4}, Align::Left);
    if (below > r.box.bottom() + 1) return;
    name(Slot::Before, {s.before.centre().x, below}, Align::Centre);
    name(Slot::After, {s.after.centre().x, below}, Align::Centre);
  }

  // B2T: the layer's input joins the sum of its feed-forward sub-layer.
  bool bottom_skip(const RowLayout& r) const {
    return wiring(r.row.first, view::Sub::FeedForward).bottom && !r.subs.empty();
  }
  void bottom_line(const RowLayout& r) {
    const SublayerLayout &low = r.subs.front(), &high = r.subs.back();
    const float x = d.stream_x - (d.narrow ? 11.f : 12.f), k = 6;
    const float from = std::min(low.fork_y + 4, r.box.bottom() - 2), to = high.plus.y;
    p.line({d.stream_x, from}, {x + k, from}, t.wire, 2);
    p.bezier({x + k, from}, {x, from}, {x, from}, {x, from - k}, t.wire, 2);
    p.line({x, from - k}, {x, to + k}, t.wire, 2);
    p.bezier({x, to + k}, {x, to}, {x, to}, {x + 4, to}, t.wire, 2);
  }

  void collapsed_back(const RowLayout& r) {
    const float step = d.narrow || compact ? 3 : 4;
    for (int i = r.sheets; i > 0; --i) {
      const Rect sheet = r.box.moved(step * static_cast<float>(i), -step * static_cast<float>(i));
      p.fill(sheet, t.raised, 6);
      p.outline(sheet, t.strong, 1, 6);
    }
    bool any_painted = false;
    for (int layer = r.row.first; layer <= r.row.last; ++layer) any_painted |= painted(layer);
    p.fill(r.box, t.raised, 6);
    p.outline(r.box, any_painted ? t.ink : t.strong, any_painted ? 1.6f : 1, 6);
    p.hairline({d.stream_x, r.box.centre().y}, {r.box.x, r.box.centre().y}, t.wire, 1.6f);
    for (const SmallSlots& small : r.small)
      if (is_empty_slot(at(r.row.first, small.sub, Slot::Stream)))
        p.dashed_outline(small.stream, t.slot, 1, {2.5f, 2}, 4);
  }

  // Lets a mark stand for its slot in every layer of the row: a change in one of them shows.
  void collapsed_front(const RowLayout& r) {
    for (const SmallSlots& small : r.small)
      for (Slot which : {Slot::Stream, Slot::Before, Slot::After}) {
        view::SlotId id = at(r.row.first, small.sub, which);
        for (int layer = r.row.first; layer <= r.row.last; ++layer)
          if (ghost(at(layer, small.sub, which)) || target(at(layer, small.sub, which))) id.layer = layer;
        if (which == Slot::Stream && stream_broken(id)) break_stream(small.stream, t.panel);
        small_slot(small.slot(which), id);
      }
    const float named = row_words(r);
    for (const SmallSlots& small : r.small) fixed_marks(r, small, named);
    for (const BarLayout& bar : r.bars) {
      size_bar(bar.size, bar.layer, bar.sub);
      gradient_bar(bar.gradient, bar.layer, bar.sub);
      if (out(bar.layer)) {
        veil(bar.size, t.panel, 2);
        veil(bar.gradient, t.panel, 2);
      }
    }
    if (r.row.count() == 1 && out(r.row.first)) {
      veil(r.box, t.panel, 6);
      pass_by(r.small.back().stream.y - 2, r.small.front().stream.bottom() + 2, t.panel);
    }
    layer_key(r);
  }

  // Shows what cannot be moved: a norm by which the stream enters, and what stands inside.
  void fixed_marks(const RowLayout& r, const SmallSlots& small, float named) {
    const Wiring& w = wiring(r.row.first, small.sub);
    if (w.enter != NormKind::None) {
      p.fill({d.stream_x - 5, small.enter.y - 2, 10, small.enter.h + 4}, t.panel);
      small_fixed(small.enter);
    }
    const std::vector<std::string> inside = inner_brief(w);
    if (inside.empty()) return;
    const TextStyle style{Face::Sans, type::tick};
    const auto width_of = [&](const std::string& words) { return p.text_width(style, words) + 9; };
    const auto fits = [&](const auto& words) { return small.inside.right() - width_of(words) >= named + 6; };
    const auto at = std::ranges::find_if(inside, fits);
    const bool between = r.row.count() > 1 && r.small.size() == 2 && !d.narrow;
    if (at == inside.end() && !between)  // a point stands for words that do not fit
      return small_fixed(centred({r.box.x + 10.5f, small.before.centre().y}, 5, 5));
    // The rows of a group lie so far apart that the words fit over and under its name.
    const std::string& words = at == inside.end() ? inside.back() : *at;
    Rect token = small.inside;
    token = token.take_right(width_of(words));
    if (at == inside.end()) {
      const bool upper = token.centre().y < r.box.centre().y;
      token = {token.x, upper ? r.box.y + 2 : r.box.bottom() - 13, token.w, 11};
    }
    p.fill(token, t.panel, 3);
    p.outline(token, t.slot, 1, 3);
    p.text_in(token, style, t.ink2, words, Align::Centre);
  }

  // Where the words end.
  float row_words(const RowLayout& r) {
    const bool group = r.row.count() > 1;
    Rect line = r.box;
    line.x += 14;
    line.w -= d.narrow ? 64.f : 41.f;
    const std::string name = tr(!group     ? "Layer {first}"
                                : d.narrow ? "Layers {first}–{last}"
                                           : "Layers {first} to {last}",
                                {{"first", r.row.first + 1}, {"last", r.row.last + 1}});
    const float w = p.text_in(line, {Face::Bold, type::body}, t.ink, name);
    if (!d.narrow) draw_icon(p, Icon::ChevronRight, {r.box.right() - 15, r.box.centre().y}, 17, t.ink2);
    if (!group || d.narrow) return line.x + w;  // a narrow row has no room to say twice how many
    const std::string count = fmt::format("×{}", r.row.count());
    const float pill_w = p.text_width({Face::Bold, type::tick}, count) + 18;
    const Rect badge = centred({line.x + w + 6 + pill_w / 2, r.box.centre().y}, pill_w, 18);
    if (badge.right() > line.right() + 2) return line.x + w;
    p.fill(badge, t.sunk, badge.h / 2);
    p.text_in(badge, {Face::Bold, type::tick}, t.ink2, count, Align::Centre);
    const bool inside = std::ranges::any_of(r.small, [&](const SmallSlots& small) {
      return !inner_words(wiring(r.row.first, small.sub)).empty();
    });
    const float room = line.right() - badge.right() - 8;
    const std::string& identical = tr("identical");
    if (!inside && !compact && p.text_width({Face::Sans, type::tick}, identical) < room)
      p.text_in(line, {Face::Sans, type::tick}, t.ink3, identical, Align::Right);
    return badge.right();
  }

  // Draws squares in the depth colours, which are the key of every plot by depth.
  void layer_key(const RowLayout& r) {
    const bool open = r.row.open;
    const float y = r.box.centre().y;
    auto square = [&](Vec corner, int layer, bool number) {
      const Rect place{corner.x, corner.y, 10, 10};
      if (out(layer))
        p.outline(place, t.slot, line::outline, 2);
      else
        depth_square(ui, place, layer, layers());
      if (input.hover_layer == layer) p.outline({corner.x - 3, corner.y - 3, 16, 16}, t.ink, 1.4f, 4);
      if (number)
        p.text({corner.x + 14, corner.y + 9}, {Face::Sans, type::body}, t.ink2, fmt::format("{}", layer + 1));
    };
    if (d.narrow) {
      if (!open) return;
      square({r.skip.x, r.box.y + 6}, r.row.first, true);
      if (!r.collapse.empty()) draw_icon(p, Icon::ChevronDown, r.collapse.centre(), 15, t.ink2);
      return;
    }
    if (open && compact) return;
    if (r.row.count() == 1) {  // an open layer's box is near: its number stands above
      square({d.left, (open ? y - 8 : y) - 5}, r.row.first, !compact && !open);
      if (!open) return;
      p.text({d.left + 5, y - 20}, {Face::Sans, type::body}, t.ink2, std::to_string(r.row.first + 1),
             Align::Centre);
      return draw_icon(p, Icon::ChevronDown, {d.left + 6, y + 14}, 16, t.ink2);
    }
    square({d.left, y - 11}, r.row.last, !compact);
    square({d.left, y + 1}, r.row.first, !compact);
  }

  void ends() {
    const std::string& token = tr("token");
    const std::string unit = input.view.unit.empty() ? token : words::spoken(input.view.unit);
    const bool beside = stacks.both, encoder = beside && d.side == view::Side::Encoder;
    const bool small = d.narrow || (compact && beside);
    const ModelConfig& model = run.spec->model;
    const bool lone_encoder = !beside && model.architecture == Architecture::Encoder;
    const bool placed = model.positions == Positions::Learned || model.positions == Positions::Sinusoidal;
    const auto of_unit = [](const char* said, const std::string& of) { return tr(said, {{"unit", of}}); };
    const char* const out = !lone_encoder                      ? "next {unit}"
                            : is_labelled(run.spec->data.name) ? "class"
                                                               : "hidden {unit}";
    if (!d.output.empty())
      end_box(d.output, tr(encoder ? "Memory##box" : "Output"), small && compact ? "" : of_unit(out, unit));
    const std::string& read = beside || lone_encoder ? unit : token;
    const std::string input_words = encoder || placed ? of_unit("{unit} + position", read) : read;
    if (beside)
      end_box(d.embedding, tr(encoder ? "Source" : "Target"), encoder ? input_words : tr("shifted right"));
    else
      end_box(d.embedding, tr("Embedding"), input_words);
    if (!d.segment.empty()) {
      memory_ways();
      end_box(d.segment, tr("Memory##box"), memory_words());
    }
    const TextStyle small_text{Face::Sans, type::tick};
    if (!d.narrow) {
      p.text({d.size_head.x, d.output.centre().y + 4}, small_text, t.ink3, tr("size"));
      p.text({d.gradient_head.right(), d.output.centre().y + 4}, small_text, t.ink3,
             tr(compact ? "grad." : "gradient"), Align::Right);
    }
    final_words();
  }

  void final_words() {
    const bool on = stack.wiring.final != NormKind::None;
    const ModelConfig& model = run.spec->model;
    const Placement placement = placement_of(
        stack.wiring,
        context_of(model, d.side == view::Side::Main && model.architecture != Architecture::Encoder));
    const char* const said = on                                           ? "final norm"
                             : placement == Placement::Custom || d.narrow ? "final norm off"
                                                                          : "final norm, off in {placement}";
    const std::string name = tr(said, {{"placement", words::spoken(label(placement))}});
    const float end = d.narrow ? d.right : d.size_head.x;
    const float gap = d.narrow ? 9 : 6;  // a ring around the token leaves the words free
    Rect box{d.final_slot.right() + gap, d.final_slot.y, end - d.final_slot.right() - gap - 4,
             d.final_slot.h};
    p.text_in(box, {Face::Sans, type::tick}, t.ink3, name);
    const Rect slot = d.embedding_slot;
    if (stack.wiring.embedding != NormKind::None)
      p.text({slot.right() + 6, slot.centre().y + 4}, {Face::Sans, type::tick}, t.ink3,
             tr(d.narrow ? "embedding norm" : "norm on the embedding"));
    if (!d.second.empty())
      p.text({d.join.x + 14, d.join.y + 4}, {Face::Sans, type::tick}, t.ink3,
             tr(d.narrow ? "second stream" : "the second stream, normed once"));
  }

  void stream() {
    const view::SlotId final_id = at(view::kFinal, view::Sub::Attention, Slot::Stream);
    if (stack.wiring.final == NormKind::None)
      p.dashed_outline(d.final_slot, t.slot, line::outline, kSlotDash, radius::token);
    streams(t.runs[static_cast<size_t>(colour)].line);
    if (!d.second.empty()) second_stream();
    if (stack.wiring.final != NormKind::None) end_norm(d.final_slot, final_id);
    const view::SlotId embedding_id = at(view::kEmbedding, view::Sub::Attention, Slot::Stream);
    const std::string embedding = "diagram/" + view::slot_name(embedding_id);
    if (stack.wiring.embedding != NormKind::None)
      end_norm(d.embedding_slot, embedding_id);
    else if (ui.focused() == embedding || d.embedding_slot.inset(-2).contains(ui.mouse()))
      p.dashed_outline(d.embedding_slot, t.slot, line::outline, kSlotDash, radius::token);
  }

  // Draws a norm of the stack on the residual stream, above or below the layers.
  void end_norm(const Rect& slot, view::SlotId id) {
    break_stream(slot, t.panel);
    const Rect place = centred(slot.centre(), d.narrow ? 26.f : 32.f, id.layer == view::kFinal ? 18 : slot.h);
    if (stack.is_locked(id))
      locked_token(place, view::norm_at(stack.wiring, id));
    else
      token(place, view::norm_at(stack.wiring, id), state.hovered == id);
  }

  void back() {
    for (const RowLayout& r : d.rows) r.row.open ? open_row_back(r) : collapsed_back(r);
  }
  void front() {
    for (const RowLayout& r : d.rows) r.row.open ? open_row_front(r) : collapsed_front(r);
    ends();
  }
};

}  // namespace

void paint_diagram(Ui& ui, const DiagramState& state, const DiagramInput& input, const DiagramLayout& layout,
                   const view::Stacks& stacks, int run) {
  const RunView& view = input.view.runs[static_cast<size_t>(run)];
  const int letter = state.pending && state.selected == 'D' ? 3 : view.letter - 'A';
  std::vector<Picture> stack_layouts;
  for (const StackLayout& stack_layout : layout.stack_layouts)
    stack_layouts.emplace_back(
        TokenPainter{ui, state, input, stacks, stacks.of(stack_layout.side, state.locked)}, stack_layout,
        view, letter);
  for (Picture& stack_layout : stack_layouts) stack_layout.back();
  for (Picture& stack_layout : stack_layouts) stack_layout.stream();
  if (!stack_layouts.empty()) stack_layouts.front().memory_line(layout);
  for (Picture& stack_layout : stack_layouts) stack_layout.front();
  if (!layout.memory.empty()) {
    const Rect& label = layout.memory_label;
    ui.paint().text({label.x, label.bottom() - 3}, {Face::Sans, type::tick}, ui.theme().ink3,
                    tr("memory: keys and values"));
  }
  if (!stack_layouts.empty()) stack_layouts.front().held_token(layout);
}

}  // namespace normscope::diagram
