// The architecture diagram, a picture and a control at once: data flows upwards, and the residual stream is one thick
// line in the run's colour. The user drags norm tokens between the slots of a branch, paints them over layers, locks
// them or moves them by keys; every change forks the run. An encoder-decoder is drawn as two stacks. The Lab screen
// calls it; view/diagram_model.h decides what a drop does, layout_diagram() where everything is drawn.
//
// Controls: diagram/run/A, diagram/preset/Post, diagram/stack (the stack that presets change; compact: the one shown),
// diagram/layer2 and diagram/layers3-6 (open a row), diagram/collapse, diagram/layer2/attn/{before,after,stream}
// (slots, also cross and ffn; value: the norm's kind), diagram/final, diagram/embedding; diagram/layer2/attn/mixing
// (opens diagram/attention/{mixing,start,reads}), diagram/arrow (from the embedding to a layer); the encoder of an
// encoder-decoder has the same names with enc/ before layer; diagram/layer2/attn/{skip,branch}-scale (pills);
// diagram/kind/{lock,ln,rms,...} (the menu); diagram/layer2/skip and diagram/layer2/attn/skip (leave out). A model
// without a residual stream has diagram/layer1/conv/after and the like (addons/systems/app/diagram_chain.cpp).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/ui/geometry.h"
#include "app/ui/ui.h"
#include "app/view/diagram_model.h"
#include "app/view/lab_data.h"
#include "app/view/screen.h"

namespace normscope::diagram {

// The layout of the diagram in logical px, computed from the rows and the area before anything is drawn. Each stack is
// a column: a single stack takes the whole width, and encoder and decoder stand side by side. Spare height goes between
// the rows and between the sub-layers of the open layer; where height is lacking, content_height exceeds the area and
// the diagram scrolls.

// One sub-layer of the open layer.
struct SublayerLayout {
  view::Sub sub = view::Sub::Attention;
  ui::Rect box{}, before{}, after{}, stream{};  // the function and its three slots
  ui::Vec plus{};                               // where the branch is added back
  ui::Rect pill{};                              // skip scale, between fork and add
  ui::Rect branch_pill{};                       // the branch's scale, between its function and the add
  float fork_y = 0;                             // where the branch leaves the residual stream
  float return_x = 0;                           // right end of the branch's path back to the stream
  ui::Rect size_bar{}, bar{};  // micro-bars: variance of the stream (may be empty) and size of the gradient
  const ui::Rect& slot(Slot which) const {
    return which == Slot::Before ? before : which == Slot::After ? after : stream;
  }
};

// The marks of one sub-layer in a collapsed row; attention is lowest.
struct SmallSlots {
  view::Sub sub = view::Sub::Attention;
  ui::Rect before, after, stream;
  ui::Rect enter;   // a norm at the entrance of the sub-layer's stream
  ui::Rect inside;  // room for the norms inside the function, right of the row's name
  const ui::Rect& slot(Slot which) const {
    return which == Slot::Before ? before : which == Slot::After ? after : stream;
  }
};

// Micro-bars of a collapsed row: one per layer in a group, one per sub-layer in a single layer.
struct BarLayout {
  ui::Rect size, gradient;
  int layer = 0;
  view::Sub sub = view::Sub::FeedForward;
};

struct RowLayout {
  view::DiagramRow row;
  ui::Rect box;
  std::vector<SublayerLayout> subs;  // of an open row, from the lowest up: attention first
  std::vector<SmallSlots> small;     // of a collapsed row
  int sheets = 0;                    // drawn behind a collapsed group
  std::vector<BarLayout> bars;       // of a collapsed row
  ui::Rect collapse, skip;           // of an open row (`skip`: the square); empty where there is no room
  // The layer at height y: the layers of a group divide its box evenly, the first lowest.
  int layer_at(float y) const;
};

struct StackLayout {
  view::Side side = view::Side::Main;
  bool cross = false, narrow = false;  // cross-attention; a stack of an encoder-decoder, or small
  float left = 0, right = 0, stream_x = 0;
  ui::Rect size_head{}, gradient_head{};  // titles of the columns of micro-bars
  ui::Rect output{}, embedding{};         // output is empty for an encoder, whose states the decoder reads
  ui::Rect final_slot{}, embedding_slot{};
  ui::Rect segment{};  // memory of the previous segment's states, right of the embedding; empty: none
  ui::Rect second{};   // the norm of a second stream, left of its line or on it; empty without one
  ui::Vec join{};      // where the second stream joins the residual stream
  float stream_top = 0, stream_bottom = 0;
  std::vector<RowLayout> rows{};  // as diagram_rows() has them: bottom up
  float content_height = 0;
};

struct DiagramLayout {
  bool compact = false;
  std::vector<StackLayout> stack_layouts{};  // encoder first
  std::vector<ui::Vec> memory{};  // from the encoder's top to the cross-attention, arrow at the end
  ui::Rect memory_label{};
  float content_height = 0;
  const StackLayout* stack_layout(view::Side side) const;
};

struct StackRows {
  view::Side side = view::Side::Main;
  bool cross = false;
  std::vector<view::DiagramRow> rows;
  bool embedding_norm = false;  // room for a norm under the lowest row
  bool second = false;          // room at the top, where a second stream joins the residual stream
  bool segment = false;         // room right of the embedding for the memory of the previous segment
};

DiagramLayout layout_diagram(const ui::Rect& area, const std::vector<StackRows>& stack_layouts, bool compact);
// This `layout_diagram` lays out a single stack without cross-attention.
DiagramLayout layout_diagram(const ui::Rect& area, const std::vector<view::DiagramRow>& rows, bool compact);

// The layout of one stack or two for a small picture: narrow, as in an encoder-decoder, and without collapse buttons.
DiagramLayout layout_small(const ui::Rect& area, const std::vector<StackRows>& stack_layouts);

// The rectangle of a slot: large in an open layer, small in a collapsed row, whose layers share their marks.
std::optional<ui::Rect> place_of(const DiagramLayout&, view::SlotId at);

struct DiagramState {
  char selected = 'A';  // run that is shown and edited
  // `open_layer` and `open_encoder` are 0-based; -1: all layers are collapsed; kUnset: the user has not opened or
  // closed a layer yet.
  static constexpr int kUnset = -2;
  int open_layer = kUnset, open_encoder = kUnset;
  int& open(view::Side side) { return side == view::Side::Encoder ? open_encoder : open_layer; }
  view::Side shown = view::Side::Main;  // compact: the one stack that has room
  int preset_stack = 0;  // the stacks of an encoder-decoder that a preset changes: both, encoder, decoder
  std::optional<Placement> preset_hovered;  // under the mouse, while runs are instant
  std::optional<Placement> preset_asked;    // by the palette or a chain's picture; draw_presets() applies it
  // The change that Enter on the hovered empty slot, or a click on the hovered kind, would make.
  std::optional<view::WiringChange> slot_hovered;
  // The change that a click or a release on what is under the mouse would make to more than the norms, while runs are
  // instant: of attention, or of what a layer reads.
  std::optional<ModelConfig> model_hovered;
  bool placement_asked = false;  // "Save as a placement" was pressed: the app asks for a file name
  float scroll = 0;

  // The members below are state of the mouse and the keyboard.
  std::optional<view::SlotId> dragging;    // slot of the token that is dragged
  ui::Vec grip;                            // offset of the dragged token from its slot
  std::optional<Slot> target;              // legal slot under the mouse
  std::optional<view::SlotId> hovered;     // token under the mouse
  std::optional<int> hovered_layer;        // 0-based; row under the mouse
  std::optional<view::SlotId> focus_next;  // slot that gets the focus in the next frame
  std::optional<view::SlotId> menu;        // slot for which the list of kinds is open
  std::optional<double> epsilon;           // of that slot's norm, as edited in the list
  std::optional<view::SlotId> attention;   // a slot of the attention whose menu is open
  std::optional<view::Side> arrow;         // stack whose embedding is being dragged to a layer
  std::optional<int> arrow_layer;          // 0-based; the layer under that arrow's head
  bool only_this = false;                  // Alt: only this norm moves
  bool from_start = false;                 // Shift: D starts at step 0
  bool brush = false;                      // Ctrl: only the layers that the drag passed
  std::vector<int> painted;                // layers painted by the brush so far
  bool cancelled = false;                  // Escape during a drag, so that the release is not a drop
  std::optional<view::WiringChange> preview;
  std::vector<view::SlotId> locked;  // norms that stay when others are moved; a preset replaces them too
  // Layers and sub-layers of run `left_out_of` that the loss is measured without: "L03", "dec.L02.cross".
  std::vector<std::string> left_out;
  char left_out_of = 0;

  // A fork that the trainer has not answered yet. The diagram shows its wiring at once, so that a dropped norm stays.
  struct PendingFork {
    view::Stacks stacks;
    std::string note;
    session::Ticket ticket = 0;  // of the fork; 0: not posted yet
  };
  std::optional<PendingFork> pending;
  char source = 'A';  // run that was forked last: shown where the selected run is gone, as after an undo
};

struct DiagramInput {
  const LabView& view;
  view::LabData& data;
  int step = 0;  // the cursor's step, for the micro-bars
  bool compact = false;
  std::optional<int> hover_layer{};  // 0-based layer under the mouse in a plot
  const RunView* held{};  // the run that a drop would give, already trained: its numbers stand in the diagram
};

// The index of the run whose diagram is shown: the selected run, or its source while D is being built; -1 without runs.
int shown_run(const DiagramState& state, const LabView& view);
// The wiring to draw: the pending fork's while D is selected, else the run's.
view::Stacks shown_stacks(const DiagramState& state, const LabView& view, int run);
// The name of a run made from another one: "Fork of A", or "Variant of A" where it begins at step 0.
std::string fork_name(char source, bool from_start);
// The title of such a run of the shown one; empty without runs.
std::string fork_title(const DiagramState& state, const LabView& view);

// A stack of the diagram, with the model's kind of norm and the stack's role in the model.
struct ShownStack {
  StackWiring stack;
  NormKind norm = NormKind::LayerNorm;
  StackContext context;
};
// The stack that presets change; the decoder where they change both. Nothing without runs.
std::optional<ShownStack> shown_stack(const DiagramState&, const LabView&);

// Whether the frame's policy locks or hides the preset (ui::Hold), as a segment or as an entry of the list.
bool preset_held(const ui::Ui&, Placement);
// Draws the presets for the panel's head, as a row of segments or `as_list`, and commits the chosen one.
// draw_run_tiles() draws the tiles that choose the shown run.
void draw_presets(ui::Ui&, DiagramState&, const DiagramInput&, const ui::Rect&, bool as_list,
                  std::vector<session::Command>&);
void draw_run_tiles(ui::Ui&, DiagramState&, const DiagramInput&, ui::Vec right_centre);
// Draws the picture in `area` and one sentence in `footer`, and handles mouse and keyboard.
void draw_diagram(ui::Ui&, DiagramState&, const DiagramInput&, const ui::Rect& area, const ui::Rect& footer,
                  std::vector<session::Command>&);

// The specification that would result from dropping the dragged norm where it is, or from choosing the preset, empty
// slot or kind of norm under the mouse. Empty if none applies.
std::optional<RunSpec> spec_in_question(const DiagramState&, const DiagramInput&);

// Requests a fork of the shown run with `model`, or with the change's wiring where that is null; then shows run D.
void commit_change(DiagramState&, const DiagramInput&, const ModelConfig* model, const view::WiringChange&,
                   bool from_start, std::vector<session::Command>&);

// Registers every slot and row as a control and handles mouse and keys; paint_diagram() draws the resulting `state`.
void handle_diagram(ui::Ui&, DiagramState&, const DiagramInput&, const DiagramLayout&, const view::Stacks&,
                    const ui::Rect& clip, std::vector<session::Command>&);
// What the user chose in this frame in the list of kinds.
struct KindChoice {
  std::optional<NormKind> kind, hovered;
  bool epsilon = false;  // a new epsilon was committed
  bool lock = false;     // the lock was toggled
};
// Draws the list of kinds while it is open. `epsilon`: edited for a kind that has one; null: not offered.
KindChoice kind_menu(ui::Ui&, const ui::Rect& anchor, NormKind now, bool locked, bool may_lock = true,
                     double* epsilon = nullptr);
// Layers and sub-layers that the user leaves out of the model, to see the loss without them (ablation). place_name():
// "L03" or "dec.L02.cross", as in training/session/analysis.h.
std::string place_name(const ModelConfig&, view::Side, int layer, std::optional<view::Sub> sub = {});
bool is_left_out(const DiagramState&, const std::string& name);
void toggle_left_out(DiagramState&, int run, const std::string& name, std::vector<session::Command>&);
void leave_out_controls(ui::Ui&, DiagramState&, const DiagramInput&, int run, const StackLayout&,
                        const ui::Rect& clip, std::vector<session::Command>&);
// Registers the functions that a click changes and the embedding, which is dragged to a layer; draws the menu of
// attention.
void function_controls(ui::Ui&, DiagramState&, const DiagramInput&, const DiagramLayout&,
                       const ui::Rect& clip, std::vector<session::Command>&);
// Whether a layer's branches also read the embedding.
bool reads_embedding(const StackWiring&, int layer);
// "layer 6 reads the embedding too", or its input alone.
std::string reading_words(bool reads, int layer);
// "mixing 0.5", "each token to itself", "W_O × 0.3": how attention differs from the usual one.
std::vector<std::string> attention_words(const ModelConfig&);
// Registers what a click on attention and a drag from the embedding change, and draws attention's menu.
void function_controls(ui::Ui&, DiagramState&, const DiagramInput&, const DiagramLayout&,
                       const ui::Rect& clip, std::vector<session::Command>&);
// Whether a layer's branches also read the embedding.
bool reads_embedding(const StackWiring&, int layer);
// "mixing 0.5", "each to itself", "W_O × 0.3": how attention differs from the usual one.
std::vector<std::string> attention_words(const ModelConfig&);
struct LeftOutWords {
  std::string lead, text;
};
LeftOutWords left_out_words(const DiagramState&, const RunView&, bool compact);
// The text and the help of the pill with a sub-layer's scale; both empty where the sub-layer has no such scale.
struct ScaleWords {
  std::string text, help;  // "α 0.034"
};
// A sub-layer's learned scales. Unset ones are not known, as in a fork that is being built: the initial value is shown.
struct ScalesNow {
  std::optional<float> skip{}, branch{}, factor{};
  int step = -1;  // the step of the values; -1: the newest
};
// The scales at a step: the run's present values at the newest step, else the history's at that step.
ScalesNow scales_at(view::LabData&, const RunView&, view::Side, int layer, view::Sub, int step);
ScaleWords skip_words(const Wiring&, const ScalesNow&);
ScaleWords branch_words(const Wiring&, const ScalesNow&);
// Registers the scale pills of the open layers with their help.
void tell_scales(ui::Ui&, const DiagramState&, const DiagramInput&, const StackLayout&, const view::Stacks&,
                 const ui::Rect& clip);
// Registers the other parts of the picture with their help: stream, branches, functions, sums, ends, columns of bars.
void explain_parts(ui::Ui&, const DiagramInput&, const ModelConfig&, const StackLayout&,
                   const ui::Rect& clip);
// Where an open layer says its token identity: right of the norm below its feed-forward network. Empty: it has no room.
ui::Rect identity_place(const RowLayout&);
inline constexpr ui::Dash kSlotDash{3, 2.5f};
// Draws a gradient norm as a bar on a log scale from a millionth to 3, in the depth colour of `layer` (0-based). `lit`:
// the layer is under the mouse in a plot.
void paint_gradient_bar(ui::Ui&, const ui::Rect&, float value, int layer, int layers, bool lit);
// Draws the picture with the hovers, drags and previews that handle_diagram() stored in `state`.
void paint_diagram(ui::Ui&, const DiagramState&, const DiagramInput&, const DiagramLayout&,
                   const view::Stacks&, int run);

}  // namespace normscope::diagram
