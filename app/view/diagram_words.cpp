// What the diagram says: captions, the footer's phrases, the words of every kind of norm. See diagram_model.h.
#include <fmt/format.h>

#include <algorithm>

#include "app/view/diagram_model.h"

namespace normscope::lab {

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

std::string placement_caption(const Stack& stack) {
  const GlyphSlots all = glyph_slots(stack);
  const int per_sublayer = all.before + all.after + all.stream;
  const int total = count_norms(stack);
  if (total == 0) return count_fixed_norms(stack) > 0 ? "norms inside" : "no norm";
  if (total != per_sublayer * static_cast<int>(stack.subs().size()) * stack.layers()) return "norms mixed";
  if (per_sublayer == 3) return "norms in all slots";
  if (per_sublayer == 2) return all.stream ? "branch, stream" : "before, after";
  if (all.stream) return "norm on stream";
  return all.before ? "norm in branch" : "norm after branch";
}

std::string drop_text(const WiringChange& change, Slot to, bool only_this, const std::string& what) {
  const bool one = only_this || change.count() == 1;
  const std::string which = one ? "this norm" : fmt::format("all {} norms{}", change.count(), what);
  switch (to) {
    case Slot::Before:
      return which + (one ? " before its branch" : " before their branch");
    case Slot::After:
      return which + (one ? " after its branch" : " after their branch");
    case Slot::Stream:
      break;
  }
  return which + " onto the stream";
}

std::string layers_text(std::vector<int> layers) {
  std::sort(layers.begin(), layers.end());
  layers.erase(std::unique(layers.begin(), layers.end()), layers.end());
  if (layers.empty()) return "no layer";
  if (layers.size() == 1) return fmt::format("layer {}", layers.front() + 1);
  if (layers.back() - layers.front() + 1 == static_cast<int>(layers.size()))
    return fmt::format("layers {} to {}", layers.front() + 1, layers.back() + 1);
  return fmt::format("{} layers", layers.size());
}

const KindWords& kind_words(NormKind kind) {
  static constexpr const char* kLearned = "with a learned gain";
  static constexpr const char* kPlain = "without parameters";
  static constexpr const char* kHeld = "statistics held constant going back";
  static constexpr KindWords kLayerNorm{"LN", "layer norm", "centred, divided by its spread", kLearned};
  static constexpr KindWords kRms{"RMS", "RMSNorm", "divided by its root mean square", kLearned};
  static constexpr KindWords kDyT{"DyT", "dynamic tanh", "tanh(αx), no statistics", kLearned};
  static constexpr KindWords kSimple{"LN-s", "LN-simple", "without gain and bias", kPlain};
  static constexpr KindWords kAda{"Ada", "AdaNorm", "its gain is a function of x", kPlain};
  static constexpr KindWords kDetach{"det", "DetachNorm", "mean and spread", kHeld};
  static constexpr KindWords kDetachMean{"dμ", "detach-mean", "the mean alone", kHeld};
  static constexpr KindWords kDetachVariance{"dσ", "detach-variance", "the spread alone", kHeld};
  static constexpr KindWords kNone{"off", "no norm", "the slot is empty", ""};
  switch (kind) {
    case NormKind::LayerNorm:
      return kLayerNorm;
    case NormKind::Rms:
      return kRms;
    case NormKind::Simple:
      return kSimple;
    case NormKind::AdaNorm:
      return kAda;
    case NormKind::Detach:
      return kDetach;
    case NormKind::DetachMean:
      return kDetachMean;
    case NormKind::DetachVariance:
      return kDetachVariance;
    case NormKind::DyT:
      return kDyT;
    case NormKind::None:
      break;
  }
  return kNone;
}

const char* token_text(NormKind kind) {
  return kind_words(kind == NormKind::None ? NormKind::LayerNorm : kind).token;
}

namespace {

const char* slot_place(SlotId at) {
  if (at.layer == kFinal) return "after the last layer";
  if (at.layer == kEmbedding) return "on the embedding";
  switch (at.slot) {
    case Slot::Before:
      return "before the branch";
    case Slot::After:
      return "after the branch";
    case Slot::Stream:
      break;
  }
  return "on the stream";
}

}  // namespace

std::string slot_help(const Stack& stack, SlotId at) {
  const NormKind kind = norm_at(stack.wiring, at);
  if (stack.is_locked(at))
    return fmt::format("The norm {} is locked: it stays when others move. L unlocks it.", slot_place(at));
  if (at.layer == kFinal)
    return kind == NormKind::None
               ? "No final norm. Enter puts one after the last layer, as Pre-LN has it."
               : "The final norm, after the last layer. Enter takes it off, T chooses its kind, L locks it.";
  if (at.layer == kEmbedding)
    return kind == NormKind::None
               ? "No norm on the embedding. Enter puts one there, as Peri-LN has it."
               : "The norm on the embedding. Enter takes it off, T chooses its kind, L locks it.";
  if (kind == NormKind::None)
    return fmt::format(
        "Empty slot {}. Enter fills it in all identical layers, Alt+Enter in this one; I, O, P: before, "
        "after, stream.",
        slot_place(at));
  return fmt::format(
      "The norm {}: {}. Drag it along its branch: identical layers follow, Alt moves this one, Ctrl paints the layers "
      "that you pass, Shift starts run D from step 0. Keys: I before, O after, P stream, Enter off, T its kind, "
      "L lock, Ctrl+Up paints the layer above.",
      slot_place(at), kind_words(kind).name);
}

}  // namespace normscope::lab
