// The diagram before any drawing: which stacks and rows it has, which norms may go where, and what a
// drop, a key or a stroke of the brush does to a wiring. Its functions are pure. The drawn diagram, the run cards, the
// plots (for the stack that they speak of) and the tests use them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/ui/ui.h"
#include "engine/model/model_config.h"
#include "training/session/command.h"

namespace normscope::view {

/// Names a stack: the decoder (or the only stack), or the encoder of an encoder-decoder.
enum class Side : uint8_t { Main, Encoder };
enum class Sub : uint8_t { Attention, Cross, FeedForward };
inline constexpr Slot kSlots[] = {Slot::Before, Slot::After, Slot::Stream};
/// The sub-layers of a layer from the bottom up.
std::span<const Sub> subs_of(bool cross);

/// One place where a norm can sit. Layers count from 0 here and from 1 in every name; kFinal is the norm
/// after the last layer, kEmbedding the norm on the embedding.
inline constexpr int kFinal = -1, kEmbedding = -2;
struct SlotId {
  int layer = 0;
  Sub sub = Sub::Attention;
  Slot slot = Slot::Stream;
  Side side = Side::Main;
  bool in_layer() const { return layer >= 0; }
  friend bool operator==(const SlotId&, const SlotId&) = default;
};

/// A stack as the diagram sees it: its wiring, whether its layers have cross-attention, and its locked
/// norms, which stay whatever the others do. It refers to what it was made of.
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

/// The one or two stacks of a model.
struct Stacks {
  StackWiring main, encoder;
  bool both = false;  // an encoder-decoder: `encoder` counts, and layers of `main` have cross-attention

  StackWiring& wiring(Side side) { return side == Side::Encoder ? encoder : main; }
  const StackWiring& wiring(Side side) const { return side == Side::Encoder ? encoder : main; }
  Stack of(Side side, std::span<const SlotId> locked = {}) const {
    return {wiring(side), both && side == Side::Main, side, locked};
  }
};
Stacks stacks_of(const ModelConfig& model);
StackWiring& stack_of(ModelConfig& model, Side side);
/// Includes the layer of the classes for a convolutional network or a parser.
int layers_of(const ModelConfig& model, Side side);
/// Stands before the names of values and parameters: "", "dec." or "enc.".
const char* name_prefix(const ModelConfig& model, Side side);
/// The place of a sub-layer among all of the model, as Run::skip_scales() counts them.
size_t sublayer_index(const ModelConfig& model, Side side, int layer, Sub sub);

Wiring& wiring_of(StackWiring& stack, int layer, Sub sub);
const Wiring& wiring_of(const StackWiring& stack, int layer, Sub sub);
WiredNorm norm_at(const StackWiring& stack, SlotId at);
/// Counts the norms in the sub-layers; embedding and final norm are left out.
int count_norms(const Stack& stack);
/// Counts norms that stand in no slot: inside a function or where a sub-layer's stream begins.
int count_fixed_norms(const Stack& stack);
const char* to_string(Sub sub);      // "attn", "cross", "ffn"
const char* to_string(Slot slot);    // "before", "after", "stream"
std::string slot_name(SlotId at);    // "layer2/attn/stream", "enc/layer2/attn/stream", "final", "embedding"
std::string side_prefix(Side side);  // "" or "enc/"

/// A row of the picture: one open layer, or a group of equal neighbours drawn as one collapsed box.
struct DiagramRow {
  int first = 0, last = 0;  // inclusive
  bool open = false;
  int count() const { return last - first + 1; }
  friend bool operator==(const DiagramRow&, const DiagramRow&) = default;
};
/// Goes from the bottom (layer 1) up. open_layer -1: every layer is collapsed. A layer with a locked
/// norm that its neighbour does not lock stands alone.
std::vector<DiagramRow> diagram_rows(const Stack& stack, int open_layer);

bool same_layer(const Stack& stack, int a, int b);
/// All layers that are wired like this one (itself included).
std::vector<int> alike_layers(const Stack& stack, int layer);

/// Whether all sub-layers of both are wired alike; cross-attention is compared only where `cross`.
bool same_wiring(const StackWiring& a, const StackWiring& b, bool cross = false);

/// A wiring after an edit of the diagram.
struct WiringChange {
  StackWiring wiring;
  std::vector<SlotId> from{};  // slots that lose a norm
  std::vector<SlotId> to{};    // slots that gain one, or change its kind
  std::string note{};          // "12 norms moved"
  Side side = Side::Main;
  int count() const { return static_cast<int>(to.empty() ? from.size() : to.size()); }
  bool empty() const { return from.empty() && to.empty(); }
};

/// Lets a norm move along its own branch to a free slot, unless it is locked.
bool legal_move(const Stack& stack, SlotId from, Slot to);
/// Moves the norm. Unless `only_this`, it moves the norm in the same slot of every sub-layer of every alike
/// layer too, where the target is free. An illegal move changes nothing.
WiringChange move_norm(const Stack& stack, SlotId from, Slot to, bool only_this);
/// Makes the same move in these layers alone, alike or not: in all their sub-layers, or in this kind only.
WiringChange paint_move(const Stack& stack, SlotId from, Slot to, std::span<const int> layers, bool only_sub);
/// Fills a slot, empties it (None) or changes the kind or the epsilon of its norm. Alike slots in the same
/// state follow; the final and the embedding norm have no followers.
WiringChange set_norm(const Stack& stack, SlotId at, const WiredNorm& norm, bool only_this);
WiringChange copy_layer(const Stack& stack, int from, int to);

/// Returns "norm on stream", "norm in branch", "before, after", "no norm", "norms mixed": for glyphs and captions.
std::string placement_caption(const Stack& stack);
/// Returns "all 12 norms before their branch", "this norm after its branch", "all 12 norms onto the
/// stream". `what` stands after "norms": " of the decoder".
std::string drop_text(const WiringChange& change, Slot to, bool only_this, const std::string& what = {});
/// Describes a slot, and says whether the user may drag from it or drop on it.
std::string slot_help(const Stack& stack, SlotId at);
/// Names the layers of a stroke: "layers 2 to 4".
std::string layers_text(std::vector<int> layers);

/// A kind of norm in words: on its token ("LN"), in the list of kinds (name, one line and group). Every
/// kind of the engine has an entry in assets/words/norms.toml, by its short name.
struct KindWords {
  std::string_view token, name, help, group;
};
const KindWords& kind_words(NormKind kind);
std::string_view token_text(NormKind kind);

}  // namespace normscope::view

// An add-on's network without a residual stream, for the app: a chain of layers with norms between them. The
// diagram, the run cards and the tests use it.

namespace normscope::diagram {
struct DiagramInput;
struct DiagramState;
}  // namespace normscope::diagram

namespace normscope::view {

using DrawChain = void(ui::Ui&, diagram::DiagramState&, const diagram::DiagramInput&, int run, const Stacks&,
                       const ui::Rect& area, std::vector<session::Command>&);

struct Chain {
  int (*layers)(const ModelConfig&);  ///< those that have a matrix; the last one makes the classes
  std::string (*refusal)(Placement);  ///< see preset_refusal
  std::string (*caption)(const ModelConfig&, Placement);  ///< of a placement with norms
  DrawChain* draw;                                        ///< draws and handles it in the diagram's place
  bool dragged = true;  ///< whether norms go to other places; otherwise they are only put in and taken out
};
#define ARCHITECTURE(Name, name) extern const Chain name##_chain;
#include "chosen/architectures.def"
#undef ARCHITECTURE
const Chain& chain_of(const ModelConfig& model);

Placement chain_placement(const ModelConfig& model, const StackWiring& stack);
/// Why a preset cannot stand in a model; empty where it can, and for every transformer.
std::string preset_refusal(const ModelConfig& model, Placement placement);
/// Returns "before ReLU", "before layer", "no norm".
std::string chain_caption(const ModelConfig& model);
/// How a user begins to change the norms of any model in its diagram: "Drag a norm", "Click a norm",
/// "Click a free slot", "Choose a preset".
const std::string& first_move(const ModelConfig& model);

// Draws the wiring in miniature: a branch over the residual stream, with the norm where it sits.
// The run cards of the Lab and the cells of a sweep show it.

/// Takes 79 x 42 px from `at`. `line` colours the stream; `side` chooses one of two stacks.
void draw_wiring_glyph(ui::Ui& ui, ui::Vec at, const ModelConfig& model, ui::Colour line,
                       Side side = Side::Main);

}  // namespace normscope::view
