// The diagram without a pixel: which stacks and rows it has, which norms may go where, and what a drop, a key
// or a stroke of the brush does to a wiring. Pure functions, used by the drawn diagram, by the run cards, by
// the plots (which stack of an encoder-decoder they speak of) and by the tests.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/model_config.h"

namespace normscope::lab {

// Which stack: the decoder (or the only stack), or the encoder of an encoder-decoder.
enum class Side : uint8_t { Main, Encoder };
enum class Sub : uint8_t { Attention, Cross, FeedForward };
inline constexpr Slot kSlots[] = {Slot::Before, Slot::After, Slot::Stream};
// Sub-layers of a layer from the bottom up.
std::span<const Sub> subs_of(bool cross);

// One place where a norm can sit. Layers count from 0 here and from 1 in every name; kFinal: the norm after
// the last layer, kEmbedding: the one on the embedding.
inline constexpr int kFinal = -1, kEmbedding = -2;
struct SlotId {
  int layer = 0;
  Sub sub = Sub::Attention;
  Slot slot = Slot::Stream;
  Side side = Side::Main;
  bool in_layer() const { return layer >= 0; }
  friend bool operator==(const SlotId&, const SlotId&) = default;
};

// A stack as the diagram sees it: its wiring, whether its layers have cross-attention, and which norms stay
// where they are whatever the others do. Refers to what it was made of.
struct Stack {
  Stack(const StackWiring& w, bool has_cross = false, Side s = Side::Main, std::span<const SlotId> kept = {})
      : wiring(w), cross(has_cross), side(s), locked(kept) {}
  const StackWiring& wiring;
  bool cross;
  Side side;
  std::span<const SlotId> locked;

  int layers() const { return static_cast<int>(wiring.layers.size()); }
  std::span<const Sub> subs() const { return subs_of(cross); }
  bool is_locked(SlotId at) const;
};

// The one or two stacks of a model.
struct Stacks {
  StackWiring main, encoder;
  bool both = false;  // an encoder-decoder: `encoder` counts and the layers of `main` have cross-attention

  StackWiring& wiring(Side side) { return side == Side::Encoder ? encoder : main; }
  const StackWiring& wiring(Side side) const { return side == Side::Encoder ? encoder : main; }
  Stack of(Side side, std::span<const SlotId> locked = {}) const {
    return {wiring(side), both && side == Side::Main, side, locked};
  }
};
Stacks stacks_of(const ModelConfig& model);
bool has_both(const ModelConfig& model);
StackWiring& stack_of(ModelConfig& model, Side side);
// Of a convolutional network and a parser with that of the classes.
int layers_of(const ModelConfig& model, Side side);
// In front of the names of values and parameters: "", "dec." or "enc.".
const char* name_prefix(const ModelConfig& model, Side side);
// Place of a sub-layer among all of the model, as Run::skip_scales() counts them.
size_t sublayer_index(const ModelConfig& model, Side side, int layer, Sub sub);

Wiring& wiring_of(StackWiring& stack, int layer, Sub sub);
const Wiring& wiring_of(const StackWiring& stack, int layer, Sub sub);
NormKind norm_at(const StackWiring& stack, SlotId at);
// Norms in the sub-layers; embedding and final norm are not counted.
int count_norms(const Stack& stack);
// Those that stand where no slot is, inside a function or where a sub-layer's stream begins.
int count_fixed_norms(const Stack& stack);
const char* to_string(Sub sub);      // "attn", "cross", "ffn"
const char* to_string(Slot slot);    // "before", "after", "trunk"
std::string slot_name(SlotId at);    // "layer2/attn/trunk", "enc/layer2/attn/trunk", "final", "embedding"
std::string side_prefix(Side side);  // "" or "enc/"

// A row of the picture: one open layer, or a run of equal neighbours drawn as one collapsed box.
struct DiagramRow {
  int first = 0, last = 0;  // inclusive
  bool open = false;
  int count() const { return last - first + 1; }
  friend bool operator==(const DiagramRow&, const DiagramRow&) = default;
};
// From the bottom (layer 1) up. open_layer -1: everything collapsed. A layer with a locked norm that its
// neighbour does not lock stands alone.
std::vector<DiagramRow> diagram_rows(const Stack& stack, int open_layer);

bool same_layer(const Stack& stack, int a, int b);
// All layers that are wired like this one (itself included).
std::vector<int> alike_layers(const Stack& stack, int layer);

// Whether every sub-layer of both is wired alike (what a stack does not have is not compared).
bool same_wiring(const StackWiring& a, const StackWiring& b, bool cross = false);

// What an edit of the diagram makes of a wiring.
struct WiringChange {
  StackWiring wiring;
  std::vector<SlotId> from{};  // slots that lose a norm
  std::vector<SlotId> to{};    // slots that gain one, or change its kind
  std::string note{};          // "12 norms moved"
  Side side = Side::Main;
  int count() const { return static_cast<int>(to.empty() ? from.size() : to.size()); }
  bool empty() const { return from.empty() && to.empty(); }
};

// A norm may move along its own branch to a slot that is free, unless it is locked.
bool legal_move(const Stack& stack, SlotId from, Slot to);
// Moves the norm, and unless `only_this` that of every sub-layer of every alike layer that has one in the
// same slot and the target free. An illegal move changes nothing.
WiringChange move_norm(const Stack& stack, SlotId from, Slot to, bool only_this);
// The same move in these layers alone, alike or not: in all their sub-layers, or in this kind of sub-layer.
WiringChange paint_move(const Stack& stack, SlotId from, Slot to, std::span<const int> layers, bool only_sub);
// Fills a slot, empties it (None) or changes the kind of its norm; the alike ones that are in the same state
// follow. Those of the stack, final and embedding, follow nothing.
WiringChange set_norm(const Stack& stack, SlotId at, NormKind kind, bool only_this);
// Gives a layer the norms of another.
WiringChange copy_layer(const Stack& stack, int from, int to);

// "norm on stream", "norm in branch", "before, after", "no norm", "norms mixed": for glyphs and captions.
std::string placement_caption(const Stack& stack);
// The glyph of a run card: where the norms of the first layer sit, when all layers agree on it.
struct GlyphSlots {
  bool before = false, after = false, stream = false;
  bool inside = false;  // norms where no slot is, in any layer
};
GlyphSlots glyph_slots(const Stack& stack);

// "all 12 norms before their branch", "this norm after its branch", "all 12 norms onto the stream"; `what`
// stands after "norms": " of the decoder".
std::string drop_text(const WiringChange& change, Slot to, bool only_this, const std::string& what = {});
// What a slot is and what the hand may do with it.
std::string slot_help(const Stack& stack, SlotId at);
// "layers 2 to 4" of a stroke.
std::string layers_text(std::vector<int> layers);

// How a kind of norm is described: on its token ("LN"), in the list of kinds (name and one line), and with whom it
// is listed. Every kind of the engine has an entry in assets/words/diagram.toml, by its short name.
struct KindWords {
  std::string_view token, name, help, group;
};
const KindWords& kind_words(NormKind kind);
std::string_view token_text(NormKind kind);

}  // namespace normscope::lab
