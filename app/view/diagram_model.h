// The model of the diagram, without drawing: its stacks and rows, the legal moves of norms, and what a drop, a key or a
// stroke of the brush does to a wiring. Its functions are pure. The drawn diagram, the run cards, the plots (to name a
// stack) and the tests use them.
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

/// A view of a stack: its wiring, whether its layers have cross-attention, and its locked norms, which the edits below
/// leave in place. Wiring and norms are referred to and must outlive it.
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
/// The prefix of the names of a stack's values and parameters: "", "dec." or "enc.".
const char* name_prefix(const ModelConfig& model, Side side);
/// The index of a sub-layer among all of the model's, the encoder's first: the order of Run::skip_scales().
size_t sublayer_index(const ModelConfig& model, Side side, int layer, Sub sub);

Wiring& wiring_of(StackWiring& stack, int layer, Sub sub);
const Wiring& wiring_of(const StackWiring& stack, int layer, Sub sub);
WiredNorm norm_at(const StackWiring& stack, SlotId at);
/// Counts the norms in the sub-layers; embedding and final norm are left out.
int count_norms(const Stack& stack);
/// Counts norms outside the slots, which cannot be moved: inside a function, or where a sub-layer's stream begins.
int count_fixed_norms(const Stack& stack);
const char* to_string(Sub sub);      // "attn", "cross", "ffn"
const char* to_string(Slot slot);    // "before", "after", "stream"
std::string slot_name(SlotId at);    // "layer2/attn/stream", "enc/layer2/attn/stream", "final", "embedding"
std::string side_prefix(Side side);  // "" or "enc/"

/// A row of the diagram: an open layer, or neighbouring layers that are wired alike, drawn as one collapsed box.
struct DiagramRow {
  int first = 0, last = 0;  // inclusive
  bool open = false;
  int count() const { return last - first + 1; }
  friend bool operator==(const DiagramRow&, const DiagramRow&) = default;
};
/// The rows from the bottom (layer 1) up. open_layer -1: every layer is collapsed. Layers that differ in their locked
/// norms do not share a row.
std::vector<DiagramRow> diagram_rows(const Stack& stack, int open_layer);

bool same_layer(const Stack& stack, int a, int b);
/// All layers that are wired like this one, itself included.
std::vector<int> alike_layers(const Stack& stack, int layer);

/// Whether two stacks are wired alike, with the same final and embedding norms; `cross`: cross-attention counts too.
bool same_wiring(const StackWiring& a, const StackWiring& b, bool cross = false);

/// A wiring after an edit of the diagram.
struct WiringChange {
  StackWiring wiring;
  std::vector<SlotId> from{};  // slots that lose a norm
  std::vector<SlotId> to{};    // slots that gain a norm, or whose norm changes its kind or epsilon
  std::string note{};          // "12 norms moved"
  Side side = Side::Main;
  int count() const { return static_cast<int>(to.empty() ? from.size() : to.size()); }
  bool empty() const { return from.empty() && to.empty(); }
};

/// Lets a norm move along its own branch to a free slot, unless it is locked.
bool legal_move(const Stack& stack, SlotId from, Slot to);
/// Moves a norm and, unless `only_this`, the norms in the same slot of all sub-layers of alike layers, where the target
/// is free. A stream that loses its last norm gets a final norm, and vice versa. An illegal move changes nothing.
WiringChange move_norm(const Stack& stack, SlotId from, Slot to, bool only_this);
/// Makes the same move in exactly these layers, alike or not; `only_sub`: only in sub-layers of the kind from.sub.
WiringChange paint_move(const Stack& stack, SlotId from, Slot to, std::span<const int> layers, bool only_sub);
/// Fills a slot, empties it (None) or changes the kind or the epsilon of its norm. Unless `only_this`, the same slot of
/// all sub-layers of alike layers follows where it held the same; final and embedding norm have no followers.
WiringChange set_norm(const Stack& stack, SlotId at, const WiredNorm& norm, bool only_this);
WiringChange copy_layer(const Stack& stack, int from, int to);

/// Where the stack's norms are, in a few words for captions: "norm on stream", "before, after", "norms mixed".
std::string placement_caption(const Stack& stack);
/// The result of a drop in words: "all 12 norms before their branch", "this norm onto the stream". `what` is inserted
/// after "norms": " of the decoder".
std::string drop_text(const WiringChange& change, Slot to, bool only_this, const std::string& what = {});
/// The help of a slot: its norm or that it is empty, and which mouse and key actions change it.
std::string slot_help(const Stack& stack, SlotId at);
/// The layers (from 0) that the brush has painted, in words: "layers 2 to 4", "3 layers".
std::string layers_text(std::vector<int> layers);

/// The texts of a kind of norm: on its token ("LN"), and in the list of kinds its name, a line of help and its group.
/// Every kind of the engine has an entry in assets/words/norms.toml, by its short name.
struct KindWords {
  std::string_view token, name, help, group;
};
const KindWords& kind_words(NormKind kind);
std::string_view token_text(NormKind kind);

}  // namespace normscope::view

// What the app needs of an add-on's network without a residual stream: a chain of layers with norms between them. The
// diagram, the run cards and the tests use it.

namespace normscope::diagram {
struct DiagramInput;
struct DiagramState;
}  // namespace normscope::diagram

namespace normscope::view {

using DrawChain = void(ui::Ui&, diagram::DiagramState&, const diagram::DiagramInput&, int run, const Stacks&,
                       const ui::Rect& area, std::vector<session::Command>&);

struct Chain {
  int (*layers)(const ModelConfig&);  ///< how many layers have a matrix; the last one outputs the classes
  std::string (*refusal)(Placement);  ///< see preset_refusal
  std::string (*caption)(const ModelConfig&, Placement);  ///< of a placement with norms
  DrawChain* draw;      ///< draws and handles the chain instead of the diagram
  bool dragged = true;  ///< whether norms can be dragged to other positions; else only added and removed
};
#define ARCHITECTURE(Name, name) extern const Chain name##_chain;
#include "chosen/architectures.def"
#undef ARCHITECTURE
const Chain& chain_of(const ModelConfig& model);

Placement chain_placement(const ModelConfig& model, const StackWiring& stack);
/// Why a preset cannot be applied to a model; empty where it can, as to every transformer.
std::string preset_refusal(const ModelConfig& model, Placement placement);
/// Where a chain's norms are: "before ReLU", "before layer", "no norm".
std::string chain_caption(const ModelConfig& model);
/// The first step of changing a model's norms in its diagram: "Drag a norm", "Click a norm", "Click a free slot",
/// "Choose a preset".
const std::string& first_move(const ModelConfig& model);

// The wiring in miniature: a branch over the residual stream, with norms in the slots that all sub-layers fill. The run
// cards of the Lab and the cells of a sweep show it.

/// Draws 79 x 42 px with the upper left corner `at`. `line` colours the stream; `side` chooses one of two stacks.
void draw_wiring_glyph(ui::Ui& ui, ui::Vec at, const ModelConfig& model, ui::Colour line,
                       Side side = Side::Main);

}  // namespace normscope::view
