#include "app/lab/diagram_model.h"

#include <fmt/format.h>

#include <algorithm>

namespace normscope::lab {
namespace {

std::string counted(size_t n, const char* done) {
  return fmt::format("{} norm{} {}", n, n == 1 ? "" : "s", done);
}

bool in_range(const StackWiring& stack, int layer) {
  return layer >= 0 && layer < static_cast<int>(stack.layers.size());
}

// The sub-layers that follow an edit of one: those of alike layers, or this one alone.
std::vector<std::pair<int, Sub>> followers(const StackWiring& stack, SlotId at, bool only_this) {
  std::vector<std::pair<int, Sub>> result;
  if (!in_range(stack, at.layer)) return result;
  if (only_this) return {{at.layer, at.sub}};
  for (int layer : alike_layers(stack, at.layer))
    for (Sub sub : kSubs) result.emplace_back(layer, sub);
  return result;
}

}  // namespace

Wiring& wiring_of(StackWiring& stack, int layer, Sub sub) {
  LayerWiring& wiring = stack.layers.at(static_cast<size_t>(layer));
  return sub == Sub::attention ? wiring.attention : wiring.feed_forward;
}

const Wiring& wiring_of(const StackWiring& stack, int layer, Sub sub) {
  const LayerWiring& wiring = stack.layers.at(static_cast<size_t>(layer));
  return sub == Sub::attention ? wiring.attention : wiring.feed_forward;
}

NormKind norm_at(const StackWiring& stack, SlotId at) {
  return slot(wiring_of(stack, at.layer, at.sub), at.slot);
}

int count_norms(const StackWiring& stack) {
  int n = 0;
  for (int layer = 0; layer < static_cast<int>(stack.layers.size()); ++layer)
    for (Sub sub : kSubs)
      for (Slot which : kSlots) n += norm_at(stack, {layer, sub, which}) != NormKind::None;
  return n;
}

const char* to_string(Sub sub) { return sub == Sub::attention ? "attn" : "ffn"; }

const char* to_string(Slot slot) {
  switch (slot) {
    case Slot::Before:
      return "before";
    case Slot::After:
      return "after";
    case Slot::Trunk:
      break;
  }
  return "trunk";
}

std::string slot_name(SlotId at) {
  return fmt::format("layer{}/{}/{}", at.layer + 1, to_string(at.sub), to_string(at.slot));
}

std::vector<DiagramRow> diagram_rows(const StackWiring& stack, int open_layer) {
  std::vector<DiagramRow> rows;
  const int layers = static_cast<int>(stack.layers.size());
  for (int layer = 0; layer < layers; ++layer) {
    if (layer == open_layer) {
      rows.push_back({layer, layer, true});
    } else if (!rows.empty() && !rows.back().open &&
               stack.layers[static_cast<size_t>(layer)] ==
                   stack.layers[static_cast<size_t>(rows.back().first)]) {
      rows.back().last = layer;
    } else {
      rows.push_back({layer, layer, false});
    }
  }
  return rows;
}

std::vector<int> alike_layers(const StackWiring& stack, int layer) {
  std::vector<int> result;
  if (!in_range(stack, layer)) return result;
  for (int other = 0; other < static_cast<int>(stack.layers.size()); ++other)
    if (stack.layers[static_cast<size_t>(other)] == stack.layers[static_cast<size_t>(layer)])
      result.push_back(other);
  return result;
}

bool same_wiring(const StackWiring& a, const StackWiring& b) {
  if (a.layers.size() != b.layers.size() || a.final != b.final) return false;
  for (size_t i = 0; i < a.layers.size(); ++i)
    if (a.layers[i].attention != b.layers[i].attention ||
        a.layers[i].feed_forward != b.layers[i].feed_forward)
      return false;
  return true;
}

bool legal_move(const StackWiring& stack, SlotId from, Slot to) {
  if (!in_range(stack, from.layer) || from.slot == to) return false;
  const Wiring& wiring = wiring_of(stack, from.layer, from.sub);
  return slot(wiring, from.slot) != NormKind::None && slot(wiring, to) == NormKind::None;
}

WiringChange move_norm(const StackWiring& stack, SlotId from, Slot to, bool only_this) {
  WiringChange change{stack, {}, {}, {}};
  if (!legal_move(stack, from, to)) return change;
  for (auto [layer, sub] : followers(stack, from, only_this)) {
    Wiring& wiring = wiring_of(change.wiring, layer, sub);
    NormKind& origin = slot(wiring, from.slot);
    NormKind& target = slot(wiring, to);
    if (origin == NormKind::None || target != NormKind::None) continue;
    target = origin, origin = NormKind::None;
    change.from.push_back({layer, sub, from.slot});
    change.to.push_back({layer, sub, to});
  }
  change.note = counted(change.to.size(), "moved");
  return change;
}

WiringChange set_norm(const StackWiring& stack, SlotId at, NormKind kind, bool only_this) {
  WiringChange change{stack, {}, {}, {}};
  if (!in_range(stack, at.layer)) return change;
  const NormKind was = norm_at(stack, at);
  if (was == kind) return change;
  for (auto [layer, sub] : followers(stack, at, only_this)) {
    NormKind& here = slot(wiring_of(change.wiring, layer, sub), at.slot);
    if (here != was) continue;
    here = kind;
    (kind == NormKind::None ? change.from : change.to).push_back({layer, sub, at.slot});
  }
  const char* done = kind == NormKind::None ? "removed" : was == NormKind::None ? "added" : "changed";
  change.note = counted(static_cast<size_t>(change.count()), done);
  return change;
}

GlyphSlots glyph_slots(const StackWiring& stack) {
  GlyphSlots all{true, true, true};
  for (const LayerWiring& layer : stack.layers)
    for (const Wiring* wiring : {&layer.attention, &layer.feed_forward}) {
      all.before &= wiring->before != NormKind::None;
      all.after &= wiring->after != NormKind::None;
      all.trunk &= wiring->trunk != NormKind::None;
    }
  if (stack.layers.empty()) all = {};
  return all;
}

std::string placement_caption(const StackWiring& stack) {
  const GlyphSlots all = glyph_slots(stack);
  const int per_sublayer = all.before + all.after + all.trunk;
  const int total = count_norms(stack);
  if (total == 0) return "no norm";
  if (total != per_sublayer * 2 * static_cast<int>(stack.layers.size())) return "norms mixed";
  if (per_sublayer == 3) return "norms in all slots";
  if (per_sublayer == 2) return all.trunk ? "branch and trunk" : "before and after";
  if (all.trunk) return "norm on trunk";
  return all.before ? "norm in branch" : "norm after branch";
}

std::string drop_text(const WiringChange& change, Slot to, bool only_this) {
  const bool one = only_this || change.count() == 1;
  const std::string which = one ? "this norm" : fmt::format("all {} norms", change.count());
  switch (to) {
    case Slot::Before:
      return which + (one ? " before its branch" : " before their branch");
    case Slot::After:
      return which + (one ? " after its branch" : " after their branch");
    case Slot::Trunk:
      break;
  }
  return which + " onto the trunk";
}

const char* token_text(NormKind kind) {
  switch (kind) {
    case NormKind::Rms:
      return "RMS";
    case NormKind::Simple:
      return "LN-s";
    case NormKind::AdaNorm:
      return "Ada";
    case NormKind::Detach:
    case NormKind::DetachMean:
    case NormKind::DetachVariance:
      return "det";
    case NormKind::LayerNorm:
    case NormKind::None:
      break;
  }
  return "LN";
}

}  // namespace normscope::lab
