// The diagram without a pixel: which rows it has, which norms may go where, and what a drop does to the
// wiring. Pure functions of StackWiring, used by the drawn diagram, by the run cards and by the tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/wiring.h"

namespace normscope::lab {

enum class Sub : uint8_t { attention, feed_forward };
inline constexpr Sub kSubs[] = {Sub::attention, Sub::feed_forward};
inline constexpr Slot kSlots[] = {Slot::Before, Slot::After, Slot::Trunk};

// One place where a norm can sit. Layers count from 0 here and from 1 in every name.
struct SlotId {
  int layer = 0;
  Sub sub = Sub::attention;
  Slot slot = Slot::Trunk;
  friend bool operator==(const SlotId&, const SlotId&) = default;
};

Wiring& wiring_of(StackWiring& stack, int layer, Sub sub);
const Wiring& wiring_of(const StackWiring& stack, int layer, Sub sub);
NormKind norm_at(const StackWiring& stack, SlotId at);
// Norms in the sub-layers; embedding and final norm are not counted.
int count_norms(const StackWiring& stack);
const char* to_string(Sub sub);    // "attn", "ffn"
const char* to_string(Slot slot);  // "before", "after", "trunk"
std::string slot_name(SlotId at);  // "layer2/attn/trunk"

// A row of the picture: one open layer, or a run of equal neighbours drawn as one collapsed box.
struct DiagramRow {
  int first = 0, last = 0;  // inclusive
  bool open = false;
  int count() const { return last - first + 1; }
  friend bool operator==(const DiagramRow&, const DiagramRow&) = default;
};
// From the bottom (layer 1) up. open_layer -1: everything collapsed.
std::vector<DiagramRow> diagram_rows(const StackWiring& stack, int open_layer);

// All layers that are wired like this one (itself included).
std::vector<int> alike_layers(const StackWiring& stack, int layer);

// Whether every sub-layer of both is wired alike (what a stack does not have is not compared).
bool same_wiring(const StackWiring& a, const StackWiring& b);

// What an edit of the diagram makes of a wiring.
struct WiringChange {
  StackWiring wiring;
  std::vector<SlotId> from;  // slots that lose a norm
  std::vector<SlotId> to;    // slots that gain one, or change its kind
  std::string note;          // "12 norms moved"
  int count() const { return static_cast<int>(to.empty() ? from.size() : to.size()); }
  bool empty() const { return from.empty() && to.empty(); }
};

// A norm may move along its own branch to a slot that is free.
bool legal_move(const StackWiring& stack, SlotId from, Slot to);
// Moves the norm, and unless `only_this` that of every sub-layer of every alike layer that has one in the
// same slot and the target free. An illegal move changes nothing.
WiringChange move_norm(const StackWiring& stack, SlotId from, Slot to, bool only_this);
// Fills a slot, empties it (None) or changes the kind of its norm; the alike ones that are in the same state
// follow.
WiringChange set_norm(const StackWiring& stack, SlotId at, NormKind kind, bool only_this);

// "norm on trunk", "norm in branch", "norm before and after", "no norm", "norms mixed": for glyphs and
// captions.
std::string placement_caption(const StackWiring& stack);
// The glyph of a run card: where the norms of the first layer sit, when all layers agree on it.
struct GlyphSlots {
  bool before = false, after = false, trunk = false;
};
GlyphSlots glyph_slots(const StackWiring& stack);

// "all 12 norms before their branch", "this norm after its branch", "all 12 norms onto the trunk".
std::string drop_text(const WiringChange& change, Slot to, bool only_this);
// What stands on a token: "LN", "RMS", "LN-s".
const char* token_text(NormKind kind);

}  // namespace normscope::lab
