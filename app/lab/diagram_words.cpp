// What the diagram says: captions, the footer's phrases, the words of every kind of norm. See
// diagram_model.h.
#include <fmt/format.h>

#include <algorithm>

#include "app/lab/diagram_model.h"

namespace normscope::lab {

GlyphSlots glyph_slots(const Stack& stack) {
  GlyphSlots all{true, true, true};
  for (int layer = 0; layer < stack.layers(); ++layer)
    for (Sub sub : stack.subs()) {
      const Wiring& wiring = wiring_of(stack.wiring, layer, sub);
      all.before &= wiring.before != NormKind::None;
      all.after &= wiring.after != NormKind::None;
      all.trunk &= wiring.trunk != NormKind::None;
    }
  if (stack.layers() == 0) all = {};
  return all;
}

std::string placement_caption(const Stack& stack) {
  const GlyphSlots all = glyph_slots(stack);
  const int per_sublayer = all.before + all.after + all.trunk;
  const int total = count_norms(stack);
  if (total == 0) return count_fixed_norms(stack) > 0 ? "norms inside" : "no norm";
  if (total != per_sublayer * static_cast<int>(stack.subs().size()) * stack.layers()) return "norms mixed";
  if (per_sublayer == 3) return "norms in all slots";
  if (per_sublayer == 2) return all.trunk ? "branch and trunk" : "before and after";
  if (all.trunk) return "norm on trunk";
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
    case Slot::Trunk:
      break;
  }
  return which + " onto the trunk";
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

}  // namespace normscope::lab
