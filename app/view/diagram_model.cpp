#include "app/view/diagram_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "app/view/glossary.h"
#include "app/words/words.h"
#include "engine/model/residual.h"

namespace normscope::view {
namespace {

/// By Slot: its name in controls, its position in words, and the text for a drop there.
constexpr struct {
  const char *name, *place, *dropped;
} kSlotWords[] = {
    {"before", "before the branch",
     "this norm before its branch | all {count} norms{what} before their branch"},
    {"after", "after the branch", "this norm after its branch | all {count} norms{what} after their branch"},
    {"stream", "on the stream", "this norm onto the stream | all {count} norms{what} onto the stream"}};

constexpr std::array<Sub, 2> kTwo{Sub::Attention, Sub::FeedForward};
constexpr std::array<Sub, 3> kThree{Sub::Attention, Sub::Cross, Sub::FeedForward};

bool in_range(const Stack& stack, int layer) { return layer >= 0 && layer < stack.layers(); }

// The sub-layers that an edit of a slot applies to: all those of alike layers, or the slot's own alone.
std::vector<std::pair<int, Sub>> followers(const Stack& stack, SlotId at, bool only_this) {
  std::vector<std::pair<int, Sub>> result;
  if (!in_range(stack, at.layer)) return result;
  if (only_this) return {{at.layer, at.sub}};
  for (int layer : alike_layers(stack, at.layer))
    for (Sub sub : stack.subs()) result.emplace_back(layer, sub);
  return result;
}

bool norms_stream(const Stack& stack, const StackWiring& wiring) {
  for (int layer = 0; layer < stack.layers(); ++layer)
    for (const Sub sub : stack.subs())
      if (norm_at(wiring, {layer, sub, Slot::Stream}) != NormKind::None) return true;
  return false;
}

// Adds a final norm to a stream that loses its last norm, because otherwise the output would read states of any size,
// and removes the final norm when norms return onto the stream.
void bring_final(const Stack& stack, WiringChange& change) {
  const SlotId at{kFinal, Sub::Attention, Slot::Stream, stack.side};
  const bool was = norms_stream(stack, stack.wiring), is = norms_stream(stack, change.wiring);
  WiredNorm& norm = change.wiring.final;
  if (was == is || stack.is_locked(at) || (norm == NormKind::None) == is) return;
  norm = is ? WiredNorm{NormKind::None} : norm_at(change.wiring, change.to.front());
  change.note += ", " + tr(is ? "final norm removed" : "final norm added");
}

// Moves the norms of these sub-layers from one slot to another where that is possible.
WiringChange move_all(const Stack& stack, Slot from, Slot to, std::span<const std::pair<int, Sub>> where) {
  WiringChange change{stack.wiring};
  change.side = stack.side;
  for (auto [layer, sub] : where) {
    const SlotId here{layer, sub, from, stack.side}, there{layer, sub, to, stack.side};
    if (!legal_move(stack, here, to)) continue;
    Wiring& wiring = wiring_of(change.wiring, layer, sub);
    std::swap(slot(wiring, from), slot(wiring, to));
    change.from.push_back(here);
    change.to.push_back(there);
  }
  change.note = tr("{count} norm moved | {count} norms moved", {{"count", change.to.size()}});
  bring_final(stack, change);
  return change;
}

bool same_locks(const Stack& stack, int a, int b) {
  for (Sub sub : stack.subs())
    for (Slot which : kSlots)
      if (stack.is_locked({a, sub, which, stack.side}) != stack.is_locked({b, sub, which, stack.side}))
        return false;
  return true;
}

/// The slots that hold a norm in every sub-layer, for the glyph of a run card.
struct GlyphSlots {
  bool before = false, after = false, stream = false;
  bool inside = false;  // some sub-layer has a norm outside the slots
};

GlyphSlots glyph_slots(const Stack& stack) {
  GlyphSlots all{true, true, true, count_fixed_norms(stack) > 0};
  for (int layer = 0; layer < stack.layers(); ++layer)
    for (Sub sub : stack.subs()) {
      const Wiring& wiring = wiring_of(stack.wiring, layer, sub);
      all.before &= wiring.before != NormKind::None;
      all.after &= wiring.after != NormKind::None;
      all.stream &= wiring.stream != NormKind::None;
    }
  if (stack.layers() == 0) all = {};
  return all;
}

}  // namespace

std::span<const Sub> subs_of(bool cross) {
  if (cross) return kThree;
  return kTwo;
}

bool Stack::is_locked(SlotId at) const {
  at.side = side;
  return std::ranges::find(locked, at) != locked.end();
}

Stacks stacks_of(const ModelConfig& model) {
  if (has_both(model)) return {model.decoder, model.encoder, true};
  return {model.stack(), {}, false};
}

StackWiring& stack_of(ModelConfig& model, Side side) {
  return side == Side::Encoder && has_both(model) ? model.encoder : model.stack();
}

int layers_of(const ModelConfig& model, Side side) {
  if (!is_transformer(model.architecture)) return chain_of(model).layers(model);
  const bool encoder = side == Side::Encoder && has_both(model);
  return encoder && model.encoder_layers > 0 ? model.encoder_layers : model.layers;
}

const char* name_prefix(const ModelConfig& model, Side side) {
  return !has_both(model) ? "" : side == Side::Encoder ? "enc." : "dec.";
}

size_t sublayer_index(const ModelConfig& model, Side side, int layer, Sub sub) {
  const auto subs = subs_of(has_both(model) && side == Side::Main);
  size_t index = static_cast<size_t>(layer) * subs.size();
  index += static_cast<size_t>(std::ranges::find(subs, sub) - subs.begin());
  if (has_both(model) && side == Side::Main)
    index += 2 * static_cast<size_t>(layers_of(model, Side::Encoder));
  return index;
}

Wiring& wiring_of(StackWiring& stack, int layer, Sub sub) {
  LayerWiring& wiring = stack.layers.at(static_cast<size_t>(layer));
  return sub == Sub::Attention ? wiring.attention : sub == Sub::Cross ? wiring.cross : wiring.feed_forward;
}

const Wiring& wiring_of(const StackWiring& stack, int layer, Sub sub) {
  return wiring_of(const_cast<StackWiring&>(stack), layer, sub);  // the caller only reads it
}

WiredNorm norm_at(const StackWiring& stack, SlotId at) {
  if (at.layer == kFinal) return stack.final;
  if (at.layer == kEmbedding) return stack.embedding;
  return slot(wiring_of(stack, at.layer, at.sub), at.slot);
}

int count_norms(const Stack& stack) {
  int n = 0;
  for (int layer = 0; layer < stack.layers(); ++layer)
    for (Sub sub : stack.subs())
      for (Slot which : kSlots) n += norm_at(stack.wiring, {layer, sub, which}) != NormKind::None;
  return n;
}

int count_fixed_norms(const Stack& stack) {
  int n = 0;
  for (int layer = 0; layer < stack.layers(); ++layer)
    for (Sub sub : stack.subs())
      for (NormKind kind : norms_of(wiring_of(stack.wiring, layer, sub))) n += kind != NormKind::None;
  return n - count_norms(stack);
}

const char* to_string(Sub sub) {
  return sub == Sub::Attention ? "attn" : sub == Sub::Cross ? "cross" : "ffn";
}

const char* to_string(Slot slot) { return kSlotWords[static_cast<size_t>(slot)].name; }

std::string side_prefix(Side side) { return side == Side::Encoder ? "enc/" : ""; }

std::string slot_name(SlotId at) {
  if (at.layer == kFinal) return side_prefix(at.side) + "final";
  if (at.layer == kEmbedding) return side_prefix(at.side) + "embedding";
  return fmt::format("{}layer{}/{}/{}", side_prefix(at.side), at.layer + 1, to_string(at.sub),
                     to_string(at.slot));
}

bool same_layer(const Stack& stack, int a, int b) {
  // The factors of LayerNorm Scaling and of SiameseNorm's branches depend on the layer's index: layers that differ only
  // in them are alike.
  const bool beside_read = stream_layout(stack.wiring).beside_read;
  const auto same = [&](Sub sub) {
    Wiring x = wiring_of(stack.wiring, a, sub), y = wiring_of(stack.wiring, b, sub);
    x.pre_scale = y.pre_scale = 1;
    if (beside_read) x.branch = y.branch;
    return x == y;
  };
  const auto subs = stack.subs();
  return std::ranges::all_of(subs, same);
}

std::vector<DiagramRow> diagram_rows(const Stack& stack, int open_layer) {
  std::vector<DiagramRow> rows;
  for (int layer = 0; layer < stack.layers(); ++layer) {
    if (layer == open_layer)
      rows.push_back({layer, layer, true});
    else if (!rows.empty() && !rows.back().open && same_layer(stack, layer, rows.back().first) &&
             same_locks(stack, layer, rows.back().first))
      rows.back().last = layer;
    else
      rows.push_back({layer, layer, false});
  }
  return rows;
}

std::vector<int> alike_layers(const Stack& stack, int layer) {
  std::vector<int> result;
  if (!in_range(stack, layer)) return result;
  for (int other = 0; other < stack.layers(); ++other)
    if (same_layer(stack, other, layer)) result.push_back(other);
  return result;
}

bool same_wiring(const StackWiring& a, const StackWiring& b, bool cross) {
  if (a.layers.size() != b.layers.size() || norms_of(a) != norms_of(b) || a.slots != b.slots) return false;
  for (int layer = 0; layer < static_cast<int>(a.layers.size()); ++layer)
    for (Sub sub : subs_of(cross))
      if (wiring_of(a, layer, sub) != wiring_of(b, layer, sub)) return false;
  return true;
}

bool legal_move(const Stack& stack, SlotId from, Slot to) {
  if (!in_range(stack, from.layer) || from.slot == to || stack.is_locked(from)) return false;
  if (to == Slot::Stream && !stream_layout(stack.wiring).one())
    return false;  // no norm stands on several streams
  const Wiring& wiring = wiring_of(stack.wiring, from.layer, from.sub);
  return slot(wiring, from.slot) != NormKind::None && slot(wiring, to) == NormKind::None;
}

WiringChange move_norm(const Stack& stack, SlotId from, Slot to, bool only_this) {
  if (!legal_move(stack, from, to)) return move_all(stack, from.slot, to, {});
  return move_all(stack, from.slot, to, followers(stack, from, only_this));
}

WiringChange paint_move(const Stack& stack, SlotId from, Slot to, std::span<const int> layers,
                        bool only_sub) {
  std::vector<std::pair<int, Sub>> where;
  for (int layer : layers)
    for (Sub sub : stack.subs())
      if (!only_sub || sub == from.sub) where.emplace_back(layer, sub);
  return move_all(stack, from.slot, to, where);
}

WiringChange set_norm(const Stack& stack, SlotId at, const WiredNorm& norm, bool only_this) {
  WiringChange change{stack.wiring};
  change.side = at.side = stack.side;
  if ((at.in_layer() && !in_range(stack, at.layer)) || stack.is_locked(at)) return change;
  const WiredNorm was = norm_at(stack.wiring, at);
  if (was == norm) return change;
  if (at.in_layer() && at.slot == Slot::Stream && !stream_layout(stack.wiring).one()) {
    change.note = tr("several streams have no norm on them");
    return change;
  }
  auto& changed = norm == NormKind::None ? change.from : change.to;
  const bool removed = norm == NormKind::None, added = was == NormKind::None;
  if (!at.in_layer()) {
    (at.layer == kFinal ? change.wiring.final : change.wiring.embedding) = norm;
    changed.push_back(at);
    change.note = at.layer == kFinal ? tr(removed ? "final norm removed"
                                          : added ? "final norm added"
                                                  : "final norm changed")
                                     : tr(removed ? "embedding norm removed"
                                          : added ? "embedding norm added"
                                                  : "embedding norm changed");
    return change;
  }
  for (auto [layer, sub] : followers(stack, at, only_this)) {
    const SlotId there{layer, sub, at.slot, at.side};
    WiredNorm& here = slot(wiring_of(change.wiring, layer, sub), at.slot);
    if (here != was || stack.is_locked(there)) continue;
    here = norm;
    changed.push_back(there);
  }
  change.note = tr(removed ? "{count} norm removed | {count} norms removed"
                   : added ? "{count} norm added | {count} norms added"
                           : "{count} norm changed | {count} norms changed",
                   {{"count", change.count()}});
  return change;
}

WiringChange copy_layer(const Stack& stack, int from, int to) {
  WiringChange change{stack.wiring};
  change.side = stack.side;
  if (!in_range(stack, from) || !in_range(stack, to)) return change;
  for (Sub sub : stack.subs())
    for (Slot which : kSlots) {
      const SlotId there{to, sub, which, stack.side};
      const WiredNorm wanted = slot(wiring_of(stack.wiring, from, sub), which);
      WiredNorm& here = slot(wiring_of(change.wiring, to, sub), which);
      if (here == wanted || stack.is_locked(there)) continue;
      here = wanted;
      (wanted == NormKind::None ? change.from : change.to).push_back(there);
    }
  change.note = tr("layer {layer} as layer {from}", {{"layer", to + 1}, {"from", from + 1}});
  return change;
}

// ---- Captions and phrases; the texts of every kind of norm come from assets/words/norms.toml

std::string placement_caption(const Stack& stack) {
  const GlyphSlots all = glyph_slots(stack);
  const int per_sublayer = all.before + all.after + all.stream;
  const int total = count_norms(stack);
  if (total == 0) return tr(count_fixed_norms(stack) > 0 ? "norms inside" : "no norm");
  if (total != per_sublayer * static_cast<int>(stack.subs().size()) * stack.layers())
    return tr("norms mixed");
  if (per_sublayer == 3) return tr("in every slot");
  if (per_sublayer == 2) return tr(all.stream ? "branch, stream" : "before, after");
  if (all.stream) return tr("norm on stream");
  return tr(all.before ? "norm in branch" : "after branch");
}

std::string drop_text(const WiringChange& change, Slot to, bool only_this, const std::string& what) {
  return tr(kSlotWords[static_cast<size_t>(to)].dropped,
            {{"count", only_this ? 1 : change.count()}, {"what", what}});
}

std::string layers_text(std::vector<int> layers) {
  std::ranges::sort(layers);
  layers.erase(std::unique(layers.begin(), layers.end()), layers.end());
  if (layers.empty()) return tr("no layer");
  if (layers.size() == 1) return tr("layer {layer}", {{"layer", layers.front() + 1}});
  if (layers.back() - layers.front() + 1 == static_cast<int>(layers.size()))
    return tr("layers {first} to {last}", {{"first", layers.front() + 1}, {"last", layers.back() + 1}});
  return tr("{number} layers", {{"number", layers.size()}});
}

const KindWords& kind_words(NormKind kind) {
  static words::Table<std::vector<KindWords>> all([](const words::Language& language) {
    std::vector<KindWords> rows;
    for (const NormKind one : kNormKinds) {
      const auto of = [&](std::string_view what) -> std::string_view {
        const std::string* text = language.find(fmt::format("norms.{}.{}", short_name(one), what));
        return text ? std::string_view(*text) : std::string_view{};
      };
      rows.push_back({of("token"), of("name"), of("help"), of("group")});
    }
    return rows;
  });
  return all.in()[static_cast<size_t>(kind)];
}

std::string_view token_text(NormKind kind) {
  return kind_words(kind == NormKind::None ? NormKind::LayerNorm : kind).token;
}

namespace {

const std::string& slot_place(SlotId at) {
  if (at.layer == kFinal) return tr("after the last layer");
  if (at.layer == kEmbedding) return tr("on the embedding");
  return tr(kSlotWords[static_cast<size_t>(at.slot)].place);
}

}  // namespace

std::string slot_help(const Stack& stack, SlotId at) {
  const NormKind kind = norm_at(stack.wiring, at);
  const words::Place place{"place", slot_place(at)};
  const Term* const term = term_at(fmt::format("diagram/kind/{}", short_name(kind)));
  const std::string what = kind == NormKind::None || !term ? first_sentence("slot") : std::string(term->text);
  std::string how;
  if (stack.is_locked(at))
    how = tr("The norm {place} is locked: it stays when others move. L unlocks it.", {place});
  else if (at.layer == kFinal)
    how = tr(kind == NormKind::None
                 ? "No final norm. Enter puts one after the last layer, as Pre-LN has it."
                 : "The final norm, after the last layer. Enter takes it off, T chooses its kind, L locks "
                   "it.");
  else if (at.layer == kEmbedding)
    how = tr(kind == NormKind::None
                 ? "No norm on the embedding. Enter puts one there, as Peri-LN has it."
                 : "The norm on the embedding. Enter takes it off, T chooses its kind, L locks it.");
  else if (kind == NormKind::None)
    how =
        tr("Empty slot {place}. Enter fills it in all identical layers, Alt+Enter in this one; I, "
           "O, P: before, after, stream.",
           {place});
  else
    how =
        tr("The norm {place}: {kind}. Drag it along its branch: identical layers follow, Alt moves "
           "this one, Ctrl paints the layers that you pass, Shift starts run D from step 0. Keys: I "
           "before, O after, P stream, Enter off, T its kind, L lock, Ctrl+Up paints the layer "
           "above.",
           {place, {"kind", kind_words(kind).name}});
  return fmt::format("{}\n{}", what, how);
}

namespace {

constexpr const Chain* kChains[] = {
    nullptr,
#define ARCHITECTURE(Name, name) &name##_chain,
#include "chosen/architectures.def"
#undef ARCHITECTURE
};

}  // namespace

const Chain& chain_of(const ModelConfig& model) {
  return *kChains[static_cast<size_t>(model.architecture) -
                  static_cast<size_t>(Architecture::EncoderDecoder)];
}

Placement chain_placement(const ModelConfig& model, const StackWiring& stack) {
  return placement_of(stack, context_of(model, true));
}

std::string preset_refusal(const ModelConfig& model, Placement placement) {
  if (is_transformer(model.architecture) || placement == Placement::None || placement == Placement::Pre)
    return "";
  return chain_of(model).refusal(placement);
}

std::string chain_caption(const ModelConfig& model) {
  const Placement placement = chain_placement(model, model.stack());
  return placement == Placement::None ? tr("no norm") : chain_of(model).caption(model, placement);
}

const std::string& first_move(const ModelConfig& model) {
  if (is_transformer(model.architecture)) {
    const Stacks stacks = stacks_of(model);
    const int norms =
        count_norms(stacks.of(Side::Main)) + (stacks.both ? count_norms(stacks.of(Side::Encoder)) : 0);
    return tr(norms > 0 ? "Drag a norm" : "Choose a preset");
  }
  if (chain_placement(model, model.stack()) == Placement::None) return tr("Click a free slot");
  return tr(chain_of(model).dragged ? "Drag a norm" : "Click a norm");
}

using namespace ui;

namespace {

// Draws a chain: two boxes on a line, without a skip path around them, and a norm between them.
void draw_chain_glyph(Ui& ui, Vec at, const ModelConfig& model, Colour line) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const float y = at.y + 20;
  p.fill({at.x, y - 3, 70, 6}, line);
  const Vec head[] = {{at.x + 70, y - 6.5f}, {at.x + 79, y}, {at.x + 70, y + 6.5f}};
  p.polygon(head, line);
  for (const float x : {12.f, 52.f}) {
    const Rect box = centred({at.x + x, y}, 18, 18);
    p.fill(box, t.sunk, 3);
    p.outline(box, t.wire, 1.4f, 3);
  }
  if (chain_placement(model, model.stack()) == Placement::None) return;
  p.fill({at.x + 25, y - 4, 14, 8}, t.panel);
  p.accent_box(t, centred({at.x + 32, y}, 12, 17), 3.5f);
}

}  // namespace

void draw_wiring_glyph(Ui& ui, Vec at, const ModelConfig& model, Colour line, Side side) {
  if (!is_transformer(model.architecture)) return draw_chain_glyph(ui, at, model, line);
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const GlyphSlots slots = glyph_slots(stacks_of(model).of(side));
  const float stream = at.y + 31;
  const float left = at.x + 8, right = at.x + 53, roof = at.y + 8;
  const Vec path[] = {{left, stream - 3}, {left, roof + 4},  {left + 4, roof},
                      {right - 4, roof},  {right, roof + 4}, {right, stream - 3}};
  p.polyline(path, t.wire, 1.6f);
  p.fill({at.x, stream - 3, 70, 6}, line);
  const Vec head[] = {{at.x + 70, stream - 6.5f}, {at.x + 79, stream}, {at.x + 70, stream + 6.5f}};
  p.polygon(head, line);
  const float shift = slots.after ? (slots.before ? 1.f : -6.f) : 9.f;
  const Rect box = centred({at.x + 30 + shift, roof}, 19, 14);
  p.fill(box, t.sunk, 3);
  p.outline(box, t.wire, 1.4f, 3);
  auto norm = [&](Vec centre) { p.accent_box(t, centred(centre, 12, 17), 3.5f); };
  if (slots.inside && !slots.before && !slots.after && !slots.stream) {  // not yellow: they cannot be moved
    const Rect inside = centred(box.centre(), 8, 8);
    p.fill(inside, t.panel, 2);
    p.outline(inside, t.ink2, 1.2f, 2);
  }
  if (slots.before) norm({left + 10 - (slots.after ? 4.f : 0.f), roof + 1});
  if (slots.after) norm({right - 5, roof + 1});
  if (slots.stream) {
    p.fill({at.x + 54, stream - 4, 17, 8}, t.panel);
    norm({at.x + 62.5f, stream});
  }
}

}  // namespace normscope::view
