#include "app/diagram/diagram_tokens.h"

#include <algorithm>
#include <string_view>

#include "app/words/words.h"
#include "engine/model/residual.h"

namespace normscope::diagram {
namespace {

using namespace ui;

bool holds(const std::vector<view::SlotId>& slots, view::SlotId at) {
  return std::ranges::find(slots, at) != slots.end();
}

// Draws a closed lock, `h` high, centred.
void lock(Painter& p, Vec centre, float h, Colour colour) {
  const float w = h * 0.9f;
  p.fill({centre.x - w / 2, centre.y - h * 0.08f, w, h * 0.56f}, colour, 1);
  p.arc({centre.x, centre.y - h * 0.08f}, w * 0.3f, 3.1416f, 6.2832f, colour, 1.3f);
}

}  // namespace

TokenPainter::TokenPainter(Ui& u, const DiagramState& s, const DiagramInput& i, const view::Stacks& all,
                           view::Stack one)
    : ui(u), p(u.paint()), top(u.paint_top()), t(u.theme()), state(s), input(i), stacks(all), stack(one) {}

bool TokenPainter::ghost(view::SlotId at) const {
  if (!state.dragging) return false;
  if (*state.dragging == at) return true;
  return state.target && state.preview && holds(state.preview->from, at);
}

bool TokenPainter::target(view::SlotId at) const {
  return state.target && state.preview && holds(state.preview->to, at);
}

bool TokenPainter::legal(view::SlotId at) const {
  return state.dragging && state.dragging->layer == at.layer && state.dragging->sub == at.sub &&
         state.dragging->side == at.side && view::legal_move(stack, *state.dragging, at.slot);
}

bool TokenPainter::lit(view::SlotId at) const {
  if (!state.hovered || state.dragging || view::norm_at(stack.wiring, at) == NormKind::None) return false;
  if (*state.hovered == at) return true;
  return !ui.alt() && state.hovered->in_layer() && state.hovered->side == at.side &&
         state.hovered->slot == at.slot && !stack.is_locked(at) && !stack.is_locked(*state.hovered) &&
         view::same_layer(stack, state.hovered->layer, at.layer);
}

void TokenPainter::token(const Rect& r, NormKind kind, bool halo) {
  if (halo) p.halo(t, r, radius::token, 0.8f);
  p.accent_box(t, r, radius::token);
  const std::string_view text = view::token_text(kind);
  p.text_in(r, {Face::Bold, type::tick}, t.on_accent, text, Align::Centre);
}

void TokenPainter::locked_token(const Rect& r, NormKind kind) {
  p.fill(r, solid(), radius::token);
  p.outline(r, t.slot, line::outline, radius::token);
  const TextStyle style{Face::Bold, type::tick};
  const float w = p.text_width(style, view::token_text(kind));
  const bool room = w + 10 < r.w;
  if (room) lock(p, {r.centre().x - w / 2 - 2.5f, r.centre().y}, 7, t.ink2);
  p.text_in(r.moved(room ? 3.5f : 0, 0), style, t.ink2, view::token_text(kind), Align::Centre);
}

void TokenPainter::small_fixed(const Rect& r) {
  p.fill(r, solid(), 3);
  p.outline(r, t.ink2, 1, 3);
}

void TokenPainter::slot(const Rect& r, view::SlotId at, Colour behind) {
  const NormKind kind = view::norm_at(stack.wiring, at);
  if (ghost(at)) {
    p.fill(r, behind, radius::token);
    p.dashed_outline(r, t.slot, line::outline, kSlotDash, radius::token);
    p.text_in(r, {Face::Sans, type::tick}, t.ink3, view::token_text(kind), Align::Centre);
  } else if (kind != NormKind::None && stack.is_locked(at)) {
    locked_token(r, kind);
  } else if (kind != NormKind::None) {
    token(r, kind, lit(at));
  } else if (target(at)) {
    p.halo(t, r, radius::token);
    p.fill(r, t.panel, radius::token);
    p.outline(r, t.dark ? t.accent : t.ink, 2, radius::token);
  } else if (legal(at)) {
    p.fill(r, t.accent_soft, radius::token);
    p.dashed_outline(r, t.dark ? t.accent : t.ink, line::outline, kSlotDash, radius::token);
  } else if (at.slot != Slot::Stream) {
    p.fill(r, behind, radius::token);
    p.dashed_outline(r, t.slot, line::outline, kSlotDash, radius::token);
  }
}

void TokenPainter::small_slot(const Rect& r, view::SlotId at) {
  constexpr float kRound = 4;
  const bool filled = view::norm_at(stack.wiring, at) != NormKind::None;
  if (ghost(at)) {
    p.fill(r, t.panel, kRound);
    p.dashed_outline(r, t.slot, 1, {2.5f, 2}, kRound);
  } else if (filled && stack.is_locked(at)) {
    p.fill(r, solid(), kRound);
    p.outline(r, t.slot, 1, kRound);
    lock(p, r.centre(), 6, t.ink2);
  } else if (filled) {
    if (lit(at)) p.halo(t, r, kRound, 0.6f);
    p.accent_box(t, r, kRound);
  } else if (target(at)) {
    p.halo(t, r, kRound, 0.6f);
    p.fill(r, t.panel, kRound);
    p.outline(r, t.dark ? t.accent : t.ink, 1.6f, kRound);
  } else if (legal(at)) {
    p.fill(r, t.accent_soft, kRound);
    p.dashed_outline(r, t.dark ? t.accent : t.ink, 1, {2.5f, 2}, kRound);
  }
}

void TokenPainter::held_token(const DiagramLayout& layout) {
  if (!state.dragging) return;
  const auto from = place_of(layout, *state.dragging);
  if (!from) return;
  const NormKind kind = view::norm_at(stacks.wiring(state.dragging->side), *state.dragging);
  const Vec at = from->centre() + state.grip;
  const Rect lifted = centred(at, 37, 23);
  top.shadow(t, lifted, 6);
  top.accent_box(t, lifted, 6);
  top.text_in(lifted, {Face::Bold, type::body}, t.on_accent, view::token_text(kind), Align::Centre);
}

void TokenPainter::memory_line(const DiagramLayout& layout) {
  if (layout.memory.size() < 2) return;
  for (size_t i = 1; i < layout.memory.size(); ++i) {
    const Vec a = layout.memory[i - 1], b = layout.memory[i];
    p.line(a, b, t.wire, 3);
    if (i + 1 < layout.memory.size()) p.circle(b, 1.5f, t.wire);
  }
  const Vec end = layout.memory.back(), from = layout.memory[layout.memory.size() - 2];
  const bool up = from.x == end.x;
  const Vec head[] = {{end.x + (up ? 0.f : 5.f), end.y - (up ? 2.f : 0.f)},
                      up ? Vec{end.x - 5, end.y + 5} : Vec{end.x - 4, end.y - 5},
                      up ? Vec{end.x + 5, end.y + 5} : Vec{end.x - 4, end.y + 5}};
  p.polygon(head, t.wire);
}

namespace {

// Says whose heads have a norm: "q,k,v".
std::string normed_heads(const Inner& inner) {
  std::string heads;
  for (auto [kind, letter] : {std::pair{inner.query, "q"}, {inner.key, "k"}, {inner.value, "v"}})
    if (kind != NormKind::None) heads += heads.empty() ? letter : std::string(",") + letter;
  return heads;
}

}  // namespace

std::vector<std::string> inner_brief(const Wiring& wiring) {
  const std::vector<std::string> all = inner_words(wiring);
  if (all.empty()) return {};
  std::string whole;
  for (const std::string& word : all) whole += whole.empty() ? word : ", " + word;
  const Inner& inner = wiring.inner;
  const std::string heads = normed_heads(inner);
  const std::string brief = !heads.empty()                   ? heads
                            : inner.hidden != NormKind::None ? "W₁"
                            : inner.output != NormKind::None ? "out"
                            : inner.head_scale               ? "×head"
                            : inner.shifts                   ? "+shift"
                                                             : "ŵ";
  return {whole, all.front(), brief};
}

std::vector<std::string> inner_words(const Wiring& wiring) {
  const Inner& inner = wiring.inner;
  std::vector<std::string> words;
  const std::string heads = normed_heads(inner);
  const auto kind_of = [&] {
    return inner.query != NormKind::None ? inner.query
           : inner.key != NormKind::None ? inner.key
                                         : inner.value;
  };
  if (!heads.empty()) words.push_back(std::string(view::token_text(kind_of())) + " " + heads);
  if (inner.hidden != NormKind::None) words.push_back(std::string(view::token_text(inner.hidden)) + " W₁");
  if (inner.output != NormKind::None)
    words.push_back(tr("{kind} out", {{"kind", view::token_text(inner.output)}}));
  if (inner.head_scale) words.push_back("×head");
  if (inner.shifts) words.push_back("+shift");
  if (has_unit_vectors(wiring)) words.push_back("ŵ");
  return words;
}

std::vector<std::string> ingredient_words(const ModelConfig& model, view::Sub sub, int layer) {
  std::vector<std::string> all;
  if (sub == view::Sub::FeedForward) {
    if (model.gated)
      all.push_back(
          tr("{activation} gate", {{"activation", kActivations[static_cast<size_t>(model.activation)]}}));
    return all;
  }
  if (sub == view::Sub::Attention) {
    if (model.memory > 0) all.push_back(tr("memory {states}", {{"states", model.memory}}));
    if (has_window(model, layer + 1))
      all.push_back(tr("window {symbols}", {{"symbols", model.attention.window}}));
    if (const auto said = row_of(model.positions).said; !said.empty()) all.push_back(tr(said));
  }
  if (kv_heads(model) != model.heads)
    all.push_back(tr("{heads}:{shared} heads", {{"heads", model.heads}, {"shared", kv_heads(model)}}));
  return all;
}

}  // namespace normscope::diagram
