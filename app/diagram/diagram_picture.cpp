// Paints the diagram from its layout and state: nothing here handles input or changes state.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "app/diagram/diagram.h"
#include "app/panels/metrics.h"
#include "app/ui/numbers.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"
#include "engine/model/residual.h"

namespace normscope::diagram {

using namespace ui;

// ---- the learned and constant scales of a sub-layer in words: the text and the help of its pills

namespace {

std::string when(const ScalesNow& now) {
  return now.step < 0 ? tr("now") : tr("at step {step}", {{"step", now.step}});
}

std::string started(float value) {
  return tr("It started at {value}.", {{"value", ui::significant(value, 4)}});
}

// Writes `decimals` digits after the point below one, two up to ten and one from ten on, so that it fits its pill.
std::string number_of(float value, int decimals = 2) {
  if (!std::isfinite(value)) return "–";
  if (value == 0) return "0";
  const float size = std::abs(value);
  return ui::decimals(value, size >= 9.995f ? 1 : size < 0.9995f ? decimals : 2);
}

ScaleWords constant(const std::string& symbol, float value, const char* said) {
  return {symbol + number_of(value), tr(said, {{"value", ui::significant(value, 4)}})};
}

}  // namespace

ScalesNow scales_at(view::LabData& data, const RunView& run, view::Side side, int layer, view::Sub sub,
                    int step) {
  const std::string name =
      fmt::format("{}L{:02}.{}", view::prefix_of(run, side), layer + 1, view::to_string(sub));
  const auto then = [&](const std::string& number) { return data.value(run, name + number, step); };
  std::optional<float> factor;
  for (const ResidualRow* row : residual_rows())
    if (!row->factor.empty()) factor = then(fmt::format(".{}", row->word));
  if (run.history && step < run.history->last_step())  // an earlier step: from the history
    return {then(".skip.mean"), then(".branch.mean"), factor, step};
  const size_t index = view::sublayer_index(run.spec->model, side, layer, sub);
  ScalesNow now{.factor = factor};
  if (index < run.skip_scales.size()) now.skip = run.skip_scales[index];
  if (index < run.branch_scales.size()) now.branch = run.branch_scales[index];
  return now;
}

ScaleWords skip_words(const Wiring& wiring, const ScalesNow& scales) {
  const Scale& scale = wiring.skip;
  if (const ResidualRow* form = factor_of(wiring); form && scale.kind == Scale::Kind::One) {
    const std::string value = number_of(scales.factor.value_or(1));
    return {
        fmt::format("{} {}", form->factor.substr(0, form->factor.find(' ')), value),
        tr("{factor}, learned in each layer, multiplies the residual stream: {value} {when}. The gradient passes "
           "unscaled. It started at 1.",
           {{"factor", std::string(form->factor)}, {"value", value}, {"when", when(scales)}})};
  }
  if (wiring.branch.kind == Scale::Kind::Toward) {
    const std::string value = number_of(scales.skip.value_or(1 - wiring.branch.value));
    return {value,
            tr("1 − α, with α the branch’s share, multiplies the skip path; averaged over the features it is "
               "{value} {when}.",
               {{"value", value}, {"when", when(scales)}})};
  }
  if (scale.kind == Scale::Kind::One) return {};
  if (scale.kind == Scale::Kind::Constant)
    return constant("α ", scale.value, "A constant: the skip path is multiplied by {value} before the sum.");
  const float now = scales.skip.value_or(scale.value);
  const bool measured = scale.profile != Scale::Profile::None;
  const char* symbol = measured ? "ω" : "λ";  // as their papers write it: Admin, NormFormer
  return {
      fmt::format("{} {}", symbol, number_of(now)),
      tr(scale.kind == Scale::Kind::LearnedVector
             ? "{symbol}, learned, multiplies the skip path before the sum, one number per feature; this is "
               "their mean {when}. {start}"
             : "{symbol}, learned, is the one number that multiplies the skip path before the sum; this is "
               "its value {when}. {start}",
         {{"symbol", symbol},
          {"when", when(scales)},
          {"start", measured ? tr("A first batch set its initial value.") : started(scale.value)}})};
}

ScaleWords branch_words(const Wiring& wiring, const ScalesNow& scales) {
  constexpr int kFine = 3;  // decimals, so that the growth of a scale from zero is visible
  const Scale& scale = wiring.branch;
  if (scale.kind == Scale::Kind::One) return {};
  if (scale.kind == Scale::Kind::Constant)
    return constant("×", scale.value, "A constant: the branch is multiplied by {value} before the sum.");
  const float now = scales.branch.value_or(scale.value);
  const char* symbol = wiring.inner.shifts ? "s" : "α";  // as their papers write it: FixUp, ReZero
  return {fmt::format("{} {}", symbol, number_of(now, kFine)),
          tr(scale.kind == Scale::Kind::Toward
                 ? "{symbol}, learned: how far each feature of the stream goes toward the branch, {value} "
                   "of the way on average {when}. {start}"
                 : "{symbol}, learned, multiplies the branch before it is added: {value} {when}. {start}",
             {{"symbol", symbol},
              {"value", number_of(now, kFine)},
              {"when", when(scales)},
              {"start", started(scale.value)}})};
}

ui::Rect identity_place(const RowLayout& row) {
  if (row.subs.size() < 2) return {};
  const SublayerLayout &below = row.subs[row.subs.size() - 2], &feeds = row.subs.back();
  if (feeds.sub != view::Sub::FeedForward) return {};
  const ui::Rect place{feeds.return_x - 116, below.stream.centre().y - 20, 112, 16};
  return place.y < feeds.box.bottom() + 2 ? ui::Rect{} : place;
}

void tell_scales(ui::Ui& ui, const DiagramState& state, const DiagramInput& input,
                 const StackLayout& stack_layout, const view::Stacks& stacks, const ui::Rect& clip) {
  const RunView& run = input.view.runs[static_cast<size_t>(shown_run(state, input.view))];
  const auto tell = [&](const ui::Rect& pill, const ScaleWords& words, const std::string& name) {
    if (words.text.empty() || !clip.contains(pill.centre())) return;
    ui.tell(name, pill, words.text, words.help);
  };
  for (const RowLayout& row : stack_layout.rows)
    for (const SublayerLayout& s : row.subs) {
      const Wiring& wiring = view::wiring_of(stacks.wiring(stack_layout.side), row.row.first, s.sub);
      const ScalesNow now =
          state.pending ? ScalesNow{}
                        : scales_at(input.data, run, stack_layout.side, row.row.first, s.sub, input.step);
      const std::string place = fmt::format("diagram/{}layer{}/{}/", view::side_prefix(stack_layout.side),
                                            row.row.first + 1, view::to_string(s.sub));
      tell(s.pill, skip_words(wiring, now), place + "skip-scale");
      tell(s.branch_pill, branch_words(wiring, now), place + "branch-scale");
    }
}

void paint_gradient_bar(Ui& ui, const Rect& r, float value, int layer, int layers, bool lit) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  p.fill(r, t.dark ? t.field : t.sunk, 2);
  if (lit) p.outline(r.inset(-2), t.ink, 1, 3);
  if (!std::isfinite(value) || value <= 0) return;
  const float share = std::clamp((std::log10(value) + 6) / (std::log10(3.f) + 6), 0.02f, 1.f);
  p.fill({r.x, r.y, r.w * share, r.h}, depth_colour(t, layer, layers), 2);
}

namespace {

bool holds(const std::vector<view::SlotId>& slots, view::SlotId at) {
  return std::ranges::find(slots, at) != slots.end();
}

// Draws a closed lock, `h` high, centred.
void lock(Painter& p, Vec centre, float h, Colour colour) {
  const float w = h * 0.9f;
  p.fill({centre.x - w / 2, centre.y - h * 0.08f, w, h * 0.56f}, colour, 1);
  p.arc({centre.x, centre.y - h * 0.08f}, w * 0.3f, 3.1416f, 6.2832f, colour, 1.3f);
}

// The parts of attention heads that have a norm: "q,k,v".
std::string normed_heads(const Inner& inner) {
  std::string heads;
  for (auto [kind, letter] : {std::pair{inner.query, "q"}, {inner.key, "k"}, {inner.value, "v"}})
    if (kind != NormKind::None) heads += heads.empty() ? letter : std::string(",") + letter;
  return heads;
}

// The norms and scales inside a function, as words for small tokens: "LN q,k", "LN W₁", "LN out", "×head", "+shift".
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

// The same for a collapsed row in three lengths, the longest first: the first that fits is used. Empty where nothing is
// inside.
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

// The properties of a sub-layer's function other than norms: "rotary", "4:2 heads", "silu gate". `layer` from 0.
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
    std::ranges::move(attention_words(model), std::back_inserter(all));
    if (const auto said = row_of(model.positions).said; !said.empty()) all.push_back(tr(said));
  }
  if (kv_heads(model) != model.heads)
    all.push_back(tr("{heads}:{shared} heads", {{"heads", model.heads}, {"shared", kv_heads(model)}}));
  return all;
}

/// Width in px of the lines of several streams, by weight.
constexpr float kThin = 1, kThick = 4;
constexpr int kMaxLines = 9;  // drawn lines; a stack that reads over depth may have more streams

constexpr float kCorner = 10;  // radius of the corner where the branch returns

// Names of a function, the longest first: the first that fits is used.
std::array<std::string, 2> sub_titles(view::Sub sub, bool beside_cross) {
  if (sub == view::Sub::Cross) return {tr("Cross-attention"), tr("Cross-att.")};
  if (sub == view::Sub::FeedForward) return {tr("Feed-forward"), tr("Feed-fwd")};
  if (beside_cross) return {tr("Self-attention"), tr("Self-att.")};
  return {tr("Attention"), tr("Attention")};
}

// Paints one stack, with the numbers of `run`.
struct StackPainter {
  Ui& ui;
  const DiagramState& state;
  const DiagramInput& input;
  const view::Stacks& stacks;
  view::Stack stack;
  const StackLayout& d;
  const RunView& run;
  int colour;                                               // of the run: 0 = A
  const RunView& numbers = input.held ? *input.held : run;  // what bars and widths are of
  Painter &p = ui.paint(), &top = ui.paint_top();
  const Theme& t = ui.theme();
  bool compact = input.compact;

  // Background and boxes of the open layer, which stand out from the panel in both themes.
  Colour ground() const { return t.dark ? t.sunk : t.raised; }
  Colour solid() const { return t.dark ? t.field : t.sunk; }

  int layers() const { return stack.layers(); }
  const Wiring& wiring(int layer, view::Sub sub) const { return view::wiring_of(stack.wiring, layer, sub); }
  // Whether norms can be on the residual stream: several streams have none.
  bool takes_norms() const { return stream_layout(stack.wiring).one(); }
  bool is_empty_slot(view::SlotId on_stream) const {
    return takes_norms() && view::norm_at(stack.wiring, on_stream) == NormKind::None;
  }

  // A norm leaves this slot.
  bool ghost(view::SlotId at) const {
    if (!state.dragging) return false;
    if (*state.dragging == at) return true;
    return state.target && state.preview && (holds(state.preview->from, at) || final_changes(at, false));
  }

  // A norm arrives in this slot.
  bool target(view::SlotId at) const {
    return state.target && state.preview && (holds(state.preview->to, at) || final_changes(at, true));
  }

  // The final norm comes along with a drop, or goes.
  bool final_changes(view::SlotId at, bool comes) const {
    if (at.layer != view::kFinal || at.side != state.preview->side) return false;
    const bool now = stack.wiring.final != NormKind::None,
               then = state.preview->wiring.final != NormKind::None;
    return now != then && then == comes;
  }

  // The dragged norm may be dropped in this slot of its own sub-layer.
  bool legal(view::SlotId at) const {
    return state.dragging && state.dragging->layer == at.layer && state.dragging->sub == at.sub &&
           state.dragging->side == at.side && view::legal_move(stack, *state.dragging, at.slot);
  }

  // The norm is hovered, or would follow the hovered norm.
  bool lit(view::SlotId at) const {
    if (!state.hovered || state.dragging || view::norm_at(stack.wiring, at) == NormKind::None) return false;
    if (*state.hovered == at) return true;
    return !ui.alt() && state.hovered->in_layer() && state.hovered->side == at.side &&
           state.hovered->slot == at.slot && !stack.is_locked(at) && !stack.is_locked(*state.hovered) &&
           view::same_layer(stack, state.hovered->layer, at.layer);
  }

  void token(const Rect& r, NormKind kind, bool halo) {
    if (halo) p.halo(t, r, radius::token, 0.8f);
    p.accent_box(t, r, radius::token);
    const std::string_view text = view::token_text(kind);
    p.text_in(r, {Face::Bold, type::tick}, t.on_accent, text, Align::Centre);
  }

  void locked_token(const Rect& r, NormKind kind) {
    p.fill(r, solid(), radius::token);
    p.outline(r, t.control, line::outline, radius::token);
    const TextStyle style{Face::Bold, type::tick};
    const float w = p.text_width(style, view::token_text(kind));
    const bool room = w + 10 < r.w;
    if (room) lock(p, {r.centre().x - w / 2 - 2.5f, r.centre().y}, 7, t.ink2);
    p.text_in(r.moved(room ? 3.5f : 0, 0), style, t.ink2, view::token_text(kind), Align::Centre);
  }

  // Draws a norm of a collapsed row that cannot be moved.
  void small_fixed(const Rect& r) {
    p.fill(r, solid(), 3);
    p.outline(r, t.ink2, 1, 3);
  }

  // Draws a slot, except for the gap in the residual stream.
  void slot(const Rect& r, view::SlotId at, Colour behind) {
    const NormKind kind = view::norm_at(stack.wiring, at);
    if (ghost(at)) {
      p.fill(r, behind, radius::token);
      p.dashed_outline(r, t.control, line::outline, kSlotDash, radius::token);
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
      p.dashed_outline(r, t.control, line::outline, kSlotDash, radius::token);
    }
  }

  void small_slot(const Rect& r, view::SlotId at) {
    constexpr float kRound = 4;
    const bool filled = view::norm_at(stack.wiring, at) != NormKind::None;
    if (ghost(at)) {
      p.fill(r, t.panel, kRound);
      p.dashed_outline(r, t.control, 1, {2.5f, 2}, kRound);
    } else if (filled && stack.is_locked(at)) {
      p.fill(r, solid(), kRound);
      p.outline(r, t.control, 1, kRound);
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

  void held_token(const DiagramLayout& layout) {
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

  // Draws the line of keys and values from the encoder into the decoder's cross-attention.
  void memory_line(const DiagramLayout& layout) {
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

  // The absolute weights with which the streams are read after a sub-layer; empty where not measured. Of more than
  // `count` streams, the first and the newest ones.
  std::vector<float> read_weights(int layer, view::Sub sub, int count, int all) const {
    std::vector<float> weights;
    const std::string name =
        fmt::format("{}L{:02}.{}.read.", view::prefix_of(run, d.side), layer + 1, view::to_string(sub));
    for (int i = 1; i <= count; ++i) {
      const int stream = i == 1 ? 1 : i + all - count;
      const float weight = input.data.value(numbers, name + std::to_string(stream), input.step);
      if (state.pending || !std::isfinite(weight)) return {};
      weights.push_back(std::abs(weight));
    }
    return weights;
  }

  void lines(float from, float to, const std::vector<float>& weights, int count, Colour ink) {
    const float most = weights.empty() ? 0 : *std::ranges::max_element(weights);
    const float pitch = std::min(d.narrow ? 4.f : 5.5f, 30.f / static_cast<float>(count));
    for (int i = 0; i < count; ++i) {
      const float x = d.stream_x + (static_cast<float>(i) - static_cast<float>(count - 1) / 2) * pitch;
      const float share = most > 0 ? weights[static_cast<size_t>(i)] / most : 0.4f;
      const float width = std::min(pitch - 1, kThin + (kThick - kThin) * share);
      p.fill({x - width / 2, to, width, from - to}, ink);
    }
  }

  // Draws the residual stream, or several of them.
  void streams(Colour ink) {
    const StreamLayout s = stream_layout(stack.wiring);
    if (s.one()) {
      p.fill({d.stream_x - line::stream / 2, d.stream_top, line::stream, d.stream_bottom - d.stream_top},
             ink);
      return;
    }
    float from = d.stream_bottom;
    int branches = 0;
    std::vector<float> weights;
    const auto all = [&] { return s.over_depth() ? branches + 1 : s.count; };
    const auto until = [&](float y, int layer, view::Sub sub, int added) {
      lines(from, y, weights, std::min(all(), kMaxLines), ink);
      from = y;
      branches += added;
      weights = read_weights(layer, sub, std::min(all(), kMaxLines), all());
    };
    const int subs = static_cast<int>(view::subs_of(d.cross).size());
    for (const RowLayout& row : d.rows) {
      for (const SublayerLayout& sub : row.subs) until(sub.plus.y, row.row.first, sub.sub, 1);
      if (row.subs.empty())
        until(row.box.centre().y, row.row.last, view::Sub::FeedForward, subs * row.row.count());
    }
    if (!s.over_depth()) weights.clear();  // behind the last sub-layer all are added up
    until(d.stream_top, 0, view::Sub::FeedForward, 0);
  }

  // The width of a branch's line in px: 2 to 5 by the branch's own share of the state, or 2.4 while not measured.
  float branch_width(view::Sub sub, int layer) const {
    const float share = panels::own_share(input.data, numbers, layer, sub, input.step, d.side);
    return std::isfinite(share) ? 2 + 3 * std::clamp(share, 0.f, 1.f) : line::branch;
  }

  // Draws a branch that leaves the stream at from_y: at its fork, or for a parallel sub-layer where the layer begins.
  void branch(const SublayerLayout& s, int layer, float from_y) {
    const float x = d.stream_x, cy = s.box.centre().y, w = branch_width(s.sub, layer);
    const float reach = s.before.x - x;  // the branch leaves in one curve and arrives flat at the slot
    const float aside = x + reach * 0.4f, up = s.fork_y;
    if (from_y != up) {  // up beside the stream first
      p.bezier({x + 3, from_y}, {aside, from_y - 2}, {aside, from_y - 10}, {aside, from_y - 14}, t.wire, w);
      p.line({aside, from_y - 14}, {aside, up}, t.wire, w);
    }
    const Vec begin{from_y == up ? x + 3 : aside, up};
    p.bezier(begin, {x + reach * 0.45f, up - 2}, {x + reach * 0.35f, cy}, {s.before.x - 4, cy}, t.wire, w);
    p.line({s.before.x - 5, cy}, {s.box.x, cy}, t.wire, w);
    const float back = s.plus.y, k = d.narrow ? 6 : kCorner;
    p.line({s.box.right(), cy}, {s.return_x - k, cy}, t.wire, w);
    p.bezier({s.return_x - k, cy}, {s.return_x - k * 0.45f, cy}, {s.return_x, cy - k * 0.45f},
             {s.return_x, cy - k}, t.wire, w);
    p.line({s.return_x, cy - k}, {s.return_x, back + k}, t.wire, w);
    p.bezier({s.return_x, back + k}, {s.return_x, back + k * 0.45f}, {s.return_x - k * 0.45f, back},
             {s.return_x - k, back}, t.wire, w);
    p.line({s.return_x - k, back}, {x + 16, back}, t.wire, w);
    const Vec head[] = {{x + 9, back}, {x + 18, back - 4.5f}, {x + 18, back + 4.5f}};
    p.polygon(head, t.wire);
  }

  // Prepends to `inside` those properties of the function whose words still fit its box.
  void add_ingredients(std::vector<std::string>& inside, view::Sub sub, int layer, float width) const {
    std::vector<std::string> all = ingredient_words(run.spec->model, sub, layer);
    std::ranges::reverse(all);
    for (const std::string& first : all) {
      std::string line = first;
      for (const std::string& word : inside) line += "  " + word;
      if (p.text_width({Face::Sans, type::tick}, line) + 6 <= width) inside.insert(inside.begin(), first);
    }
  }

  // Draws the function with the norms that stand inside it, which cannot be moved.
  void function_box(const SublayerLayout& s, int layer) {
    p.fill(s.box, solid(), 6);
    p.outline(s.box, t.wire, line::box, 6);
    std::vector<std::string> inside = inner_words(wiring(layer, s.sub));
    add_ingredients(inside, s.sub, layer, s.box.w);
    const bool small = compact || d.narrow;
    Rect words = s.box;
    if (!inside.empty()) {
      words.h *= 0.54f;
      words.y += 0.5f;
    }
    const TextStyle title{Face::Bold, d.narrow                   ? type::tick
                                      : small || !inside.empty() ? type::body
                                                                 : type::title};
    const auto names = sub_titles(s.sub, stacks.both);
    p.text_in(words, title, t.ink,
              names[p.text_width(title, names[0]) + (d.narrow ? 3.f : 10.f) > words.w ? 1 : 0],
              Align::Centre);
    if (inside.empty()) return;
    // The words have no outline: in a box this low it would cross the letters.
    std::string line;
    for (const std::string& word : inside) line += (line.empty() ? "" : "  ") + word;
    p.text_in({s.box.x, words.bottom() - 0.5f, s.box.w, s.box.bottom() - words.bottom() - 2},
              {Face::Sans, type::tick}, t.ink2, line, Align::Centre);
  }

  void plus(Vec centre) {
    const float r = d.narrow ? 7 : 8;
    p.circle(centre, r, t.panel);
    p.ring(centre, r, t.ink, 1.6f);
    p.line({centre.x - r / 2, centre.y}, {centre.x + r / 2, centre.y}, t.ink, 1.6f);
    p.line({centre.x, centre.y - r / 2}, {centre.x, centre.y + r / 2}, t.ink, 1.6f);
  }

  void pill(const Rect& r, const std::string& text) {
    p.fill(r, t.panel, r.h / 2);
    p.outline(r, t.ink, 1.4f, r.h / 2);
    p.text_in(r, {Face::Mono, type::tick}, t.ink, text, Align::Centre);
  }

  // Draws the skip scale on the residual stream and the branch's scale on the branch; below the function LayerNorm
  // Scaling's factor or DeepNorm's init gain.
  void scales(const SublayerLayout& s, int layer) {
    const Wiring& w = wiring(layer, s.sub);
    const ScalesNow now =
        state.pending ? ScalesNow{} : scales_at(input.data, numbers, d.side, layer, s.sub, input.step);
    if (const ScaleWords skip = skip_words(w, now); !skip.text.empty()) pill(s.pill, skip.text);
    if (const ScaleWords branch = branch_words(w, now); !branch.text.empty())
      pill(s.branch_pill, branch.text);
    std::string below;
    if (w.pre_scale != 1.0f) {
      below = "×" + ui::decimals(w.pre_scale, 2);
      const float root = std::sqrt(static_cast<float>(layer + 1));
      if (std::abs(w.pre_scale * root - 1) < 1e-3f) below += " = 1/√l";
    }
    if (w.init_gain != 1.0f) below += (below.empty() ? "init ×" : ", init ×") + ui::decimals(w.init_gain, 2);
    if (!below.empty() && !d.narrow)
      p.text({s.box.centre().x, s.box.bottom() + (stacks.both ? 10.f
                                                  : compact   ? 12.f
                                                              : 13.f)},
             {Face::Mono, type::tick}, t.ink2, below, Align::Centre);
  }

  // Draws a second stream, such as ResiDual's unnormalised sum of all branches, which joins the stream after one norm.
  void second_stream() {
    const float x = d.second.centre().x, k = 5, y = d.join.y;
    const float lane = d.stream_x - (d.narrow ? 11.f : 14.f);  // the lane runs beside the layers
    const float turn = d.second.bottom() + 8;
    p.line({lane, d.stream_bottom}, {lane, turn}, t.wire, 2);
    if (stream_layout(stack.wiring).beside_read)  // every branch reads it too
      for (const RowLayout& row : d.rows)
        for (const SublayerLayout& s : row.subs) {
          p.line({lane, s.fork_y}, {d.stream_x - 5, s.fork_y}, t.wire, 2);
          p.circle({lane, s.fork_y}, 3, t.wire);
        }
    if (lane != x) p.bezier({lane, turn}, {lane, turn - 7}, {x, turn - 1}, {x, turn - 8}, t.wire, 2);
    p.line({x, turn - (lane != x ? 8.f : 0.f)}, {x, y + k}, t.wire, 2);
    p.bezier({x, y + k}, {x, y}, {x, y}, {x + k, y}, t.wire, 2);
    p.line({x + k, y}, {d.stream_x - 7, y}, t.wire, 2);
    p.fill({x - 4, d.second.y - 2, 8, d.second.h + 4}, t.panel);
    small_fixed(d.second);
    const std::string_view text = view::token_text(stream_layout(stack.wiring).beside);
    if (p.text_width({Face::Bold, type::tick}, text) + 4 < d.second.w)
      p.text_in(d.second, {Face::Bold, type::tick}, t.ink2, text, Align::Centre);
    plus(d.join);
  }

  // Draws the lines from the memory of the previous segment, right of the layers, into the attention of each layer.
  void segment_lines() {
    const float x = d.size_head.x - 5;
    float top = d.segment.y;
    for (const RowLayout& r : d.rows) {
      const float y = r.subs.empty() ? r.small.front().before.centre().y : r.subs.front().box.centre().y;
      const float end = r.box.right() + 1;
      p.line({x, y}, {end + 3, y}, t.wire, 2);
      const Vec head[] = {{end, y}, {end + 5, y - 3.5f}, {end + 5, y + 3.5f}};
      p.polygon(head, t.wire);
      top = std::min(top, y);
    }
    p.line({x, d.segment.y}, {x, top - 1}, t.wire, 2);
  }

  // Draws an arrow from the embedding, beside the rows, to each layer that reads it, and to the one onto which it is
  // being dragged.
  void reading_lines() {
    const auto read = [&](const RowLayout& r) { return reads_embedding(stack.wiring, r.row.first); };
    const bool dragged = state.arrow == d.side;
    if (!dragged && std::ranges::none_of(d.rows, read)) return;
    float right = d.embedding.right();
    for (const RowLayout& r : d.rows) right = std::max(right, r.box.right());
    const float x = right + 5, from = d.embedding.centre().y;
    const auto line = [&](const RowLayout& r, float y, Colour ink) {
      const float to = r.box.right();
      p.line({d.embedding.right(), from}, {x, from}, ink, 2);
      p.line({x, from}, {x, y}, ink, 2);
      p.line({x, y}, {to + 3, y}, ink, 2);
      const Vec head[] = {{to, y}, {to + 5, y - 3.5f}, {to + 5, y + 3.5f}};
      p.polygon(head, ink);
    };
    for (const RowLayout& r : d.rows)
      if (read(r)) line(r, r.box.centre().y, t.wire);
    if (!dragged) return;
    if (!state.arrow_layer) return p.line({d.embedding.right(), from}, ui.mouse(), t.ink, 2);
    for (const RowLayout& r : d.rows) {
      const int layer = *state.arrow_layer, up = layer - r.row.first;
      if (up < 0 || layer > r.row.last) continue;
      const float part = r.box.h / static_cast<float>(r.row.count());
      const Rect target{r.box.x, r.box.bottom() - part * static_cast<float>(up + 1), r.box.w, part};
      p.outline(target.inset(-2), t.ink, 2, 8);
      line(r, target.centre().y, t.ink);
    }
  }

  // Draws a box below or above the layers: its name, and what it holds where there is room.
  void end_box(const Rect& r, const std::string& title, const std::string& what) {
    // A partly scrolled box is not drawn, so that no text is cut.
    const Control* area = ui.registry().find("diagram");
    if (area && !area->rect.inset(0, -4).contains(r)) return;
    p.fill(r, solid(), 5);
    p.outline(r, t.wire, line::box, 5);
    Rect inside = r.inset(12, 0);
    const float w = p.text_in(inside, {Face::Bold, type::body}, t.ink, title);
    inside.take_left(w + 7);
    const TextStyle style{Face::Sans, type::body};
    if (p.text_width(style, what) <= inside.w) p.text_in(inside, style, t.ink3, what);
  }

  // The longest text that fits the memory's box.
  std::string memory_words() const {
    const int32_t states = run.spec->model.memory;
    const float room = d.segment.w - 31 - p.text_width({Face::Bold, type::body}, tr("Memory##box"));
    return fitting(p, {Face::Sans, type::body}, room,
                   {tr("{states} states of the segment before, no gradient", {{"states", states}}),
                    tr("{states} states, no gradient", {{"states", states}}),
                    tr("{states} states", {{"states", states}})});
  }

  void size_bar(const Rect& r, int layer, view::Sub sub) {
    if (r.empty()) return;
    p.fill(r, solid(), 2);
    const float value = input.data.stream_variance(numbers, layer, sub, input.step, d.side);
    if (!std::isfinite(value) || value <= 0) return;
    const float share = std::clamp((std::log10(value) + 2) / 4, 0.02f, 1.f);  // the bar spans 0.01 to 100
    p.fill({r.x, r.y, r.w * share, r.h}, t.wire, 2);
  }

  void gradient_bar(const Rect& r, int layer, view::Sub sub) {
    paint_gradient_bar(ui, r, input.data.gradient(numbers, layer, sub, input.step, d.side), layer, layers(),
                       input.hover_layer == layer);
  }

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
  // Fades a part that is left out, with the colour behind it.
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
        p.dashed_outline(s.stream, t.control, line::outline, kSlotDash, radius::token);
    }
  }

  void break_stream(const Rect& slot, Colour behind) {
    p.fill({d.stream_x - 5, slot.y - 3, 10, slot.h + 6}, behind);
  }

  // Draws the fixed norm on the stream at the start of the sub-layer, below the fork (HybridNorm).
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
    if (!d.narrow) {
      slot_names(r);
      for (const SublayerLayout& s : r.subs) divisor(s, layer, &s == &r.subs.front());
      token_identity(r);
    }
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

  // Says beside a norm on the stream by how much it divides: σ of the sum that it reads. `named`: the slot's name
  // stands there already.
  void divisor(const SublayerLayout& s, int layer, bool named) {
    if (state.pending || view::norm_at(stack.wiring, at(layer, s.sub, Slot::Stream)) == NormKind::None)
      return;
    const float square =
        input.data.value(numbers,
                         fmt::format("{}L{:02}.{}.sum.mean_square", view::prefix_of(numbers, d.side),
                                     layer + 1, view::to_string(s.sub)),
                         input.step);
    if (!std::isfinite(square)) return;
    const float y = s.stream.centre().y + (named ? -8.f : 4.f);
    p.text({s.stream.right() + 6, y}, {Face::Mono, type::tick}, t.ink2,
           "÷" + ui::significant(std::sqrt(square), 2));
  }

  // Says how much of what differs between tokens, where the feed-forward network reads it, the token fixes.
  void token_identity(const RowLayout& r) {
    const Rect place = identity_place(r);
    const Wiring& below = wiring(r.row.first, view::Sub::FeedForward);
    const bool taken = below.pre_scale != 1 || below.init_gain != 1;  // scales() writes there
    if (place.empty() || taken || state.pending) return;
    const float share = input.data.value(
        numbers, view::prefix_of(numbers, d.side) + fmt::format("L{:02}.ffn.identity", r.row.first + 1),
        input.step);
    if (!std::isfinite(share)) return;
    p.text_in(place, {Face::Sans, type::tick}, t.ink2,
              tr("token identity {share}", {{"share", ui::decimals(share, 2)}}), Align::Right);
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
    p.outline(r.box, any_painted ? t.ink : t.control, any_painted ? 1.6f : 1, 6);
    p.hairline({d.stream_x, r.box.centre().y}, {r.box.x, r.box.centre().y}, t.wire, 1.6f);
    for (const SmallSlots& small : r.small)
      if (is_empty_slot(at(r.row.first, small.sub, Slot::Stream)))
        p.dashed_outline(small.stream, t.control, 1, {2.5f, 2}, 4);
  }

  // A mark of a group represents its slot in all layers of the row, and shows a change in any one of them.
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

  // Draws norms that cannot be moved: at the entrance of the sub-layer's stream, and inside its function.
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
    if (at == inside.end() && !between)  // a dot replaces words that do not fit
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
    p.outline(token, t.control, 1, 3);
    p.text_in(token, style, t.ink2, words, Align::Centre);
  }

  // Draws the row's name and returns the x of its end.
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

  // Draws the layers' squares in their depth colours, the legend of plots with a line for each layer.
  void layer_key(const RowLayout& r) {
    const bool open = r.row.open;
    const float y = r.box.centre().y;
    auto square = [&](Vec corner, int layer, bool number) {
      const Rect place{corner.x, corner.y, 10, 10};
      if (out(layer))
        p.outline(place, t.control, line::outline, 2);
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
      segment_lines();
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
    const bool dropped = state.target && state.preview && state.preview->side == d.side;
    const StackWiring& wiring = dropped ? state.preview->wiring : stack.wiring;
    const bool on = wiring.final != NormKind::None;
    const ModelConfig& model = run.spec->model;
    const Placement placement = placement_of(
        wiring, context_of(model, d.side == view::Side::Main && model.architecture != Architecture::Encoder));
    const char* const said = on                                           ? "final norm"
                             : placement == Placement::Custom || d.narrow ? "final norm off"
                                                                          : "final norm, off in {placement}";
    const std::string name = tr(said, {{"placement", words::spoken(label(placement))}});
    const float end = d.narrow ? d.right : d.size_head.x;
    const bool haloed = dropped && on && stack.wiring.final == NormKind::None;
    const float gap = haloed ? 18 : d.narrow ? 9 : 6;  // a ring around the token leaves the words free
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
      p.dashed_outline(d.final_slot, t.control, line::outline, kSlotDash, radius::token);
    streams(t.runs[static_cast<size_t>(colour)].line);
    if (!d.second.empty()) second_stream();
    if (ghost(final_id) || target(final_id))
      slot(centred(d.final_slot.centre(), d.narrow ? 26.f : 32.f, 18), final_id, t.panel);
    else if (stack.wiring.final != NormKind::None)
      end_norm(d.final_slot, final_id);
    const view::SlotId embedding_id = at(view::kEmbedding, view::Sub::Attention, Slot::Stream);
    const std::string embedding = "diagram/" + view::slot_name(embedding_id);
    if (stack.wiring.embedding != NormKind::None)
      end_norm(d.embedding_slot, embedding_id);
    else if (ui.focused() == embedding || d.embedding_slot.inset(-2).contains(ui.mouse()))
      p.dashed_outline(d.embedding_slot, t.control, line::outline, kSlotDash, radius::token);
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
    reading_lines();
  }
};

}  // namespace

void paint_diagram(Ui& ui, const DiagramState& state, const DiagramInput& input, const DiagramLayout& layout,
                   const view::Stacks& stacks, int run) {
  const RunView& view = input.view.runs[static_cast<size_t>(run)];
  const int letter = state.pending && state.selected == 'D' ? 3 : view.letter - 'A';
  std::vector<StackPainter> stacks_drawn;
  for (const StackLayout& stack_layout : layout.stack_layouts)
    stacks_drawn.push_back(
        {ui, state, input, stacks, stacks.of(stack_layout.side, state.locked), stack_layout, view, letter});
  for (StackPainter& each : stacks_drawn) each.back();
  for (StackPainter& each : stacks_drawn) each.stream();
  if (!stacks_drawn.empty()) stacks_drawn.front().memory_line(layout);
  for (StackPainter& each : stacks_drawn) each.front();
  if (!layout.memory.empty()) {
    const Rect& label = layout.memory_label;
    ui.paint().text({label.x, label.bottom() - 3}, {Face::Sans, type::tick}, ui.theme().ink3,
                    tr("memory: keys and values"));
  }
  if (!stacks_drawn.empty()) stacks_drawn.front().held_token(layout);
}

}  // namespace normscope::diagram
