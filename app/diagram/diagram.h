// Draws the architecture diagram, which is a picture and a control: flow goes up, the residual stream
// is one thick line in the run's colour, norm tokens are dragged between the slots of a branch, painted over layers,
// locked or moved from the keyboard, and the result is a fork. An encoder-decoder stands as two stacks. The Lab screen
// calls it; diagram_model says what a drop does, diagram_layout where things stand.
//
// Controls: diagram/run/A, diagram/preset/Post, diagram/stack (which stack presets change; compact: which is shown),
// diagram/layer2 and diagram/layers3-6 (open a row), diagram/collapse, diagram/layer2/attn/{before,after,stream}
// (slots, also cross and ffn; value: the norm's kind), diagram/final, diagram/embedding; the encoder beside a decoder
// has the same names with enc/ before layer; diagram/layer2/attn/{skip,branch}-scale (pills);
// diagram/kind/{lock,ln,rms,...} (the menu); diagram/layer2/skip and diagram/layer2/attn/skip (click away). A model
// without a residual stream has diagram/layer1/conv/after and the like (diagram_chain.cpp).
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

// Lays out the architecture diagram in logical px, from the rows and the free area, before anything
// is drawn. Each stack has a column: a single one takes the whole width, the two of an encoder-decoder stand side by
// side. Spare height goes between the rows and between the sub-layers of the open layer; when there is too little,
// content_height exceeds the area and the diagram scrolls.

// One sub-layer of the open layer.
struct SublayerLayout {
  view::Sub sub = view::Sub::Attention;
  ui::Rect box{}, before{}, after{}, stream{};  // the function and its three slots
  ui::Vec plus{};                               // where the branch is added back
  ui::Rect pill{};                              // skip scale, between fork and add
  ui::Rect branch_pill{};                       // the branch's scale, on its way back
  float fork_y = 0;                             // where the branch leaves the residual stream
  float return_x = 0;                           // right end of the branch's way back
  ui::Rect size_bar{}, bar{};  // micro-bars: variance going up (may be empty), gradient coming down
  const ui::Rect& slot(Slot which) const {
    return which == Slot::Before ? before : which == Slot::After ? after : stream;
  }
};

// The marks of a collapsed row: three for each sub-layer, those for attention lowest.
struct SmallSlots {
  view::Sub sub = view::Sub::Attention;
  ui::Rect before, after, stream;
  ui::Rect enter;   // a norm at the entrance of the sub-layer's stream
  ui::Rect inside;  // room for the norms inside the function, right of the row's name
  const ui::Rect& slot(Slot which) const {
    return which == Slot::Before ? before : which == Slot::After ? after : stream;
  }
};

// Micro-bars of a collapsed row: of a layer in a group, of a sub-layer otherwise.
struct BarLayout {
  ui::Rect size, gradient;
  int layer = 0;
  view::Sub sub = view::Sub::FeedForward;
};

struct RowLayout {
  view::DiagramRow row;
  ui::Rect box;
  std::vector<SublayerLayout> subs;  // of an open row; attention, the lowest, comes first
  std::vector<SmallSlots> small;     // of a collapsed row
  int sheets = 0;                    // drawn behind a collapsed group
  std::vector<BarLayout> bars;       // of a collapsed row
  ui::Rect collapse, skip;           // of an open row (`skip`: the square); empty where there is no room
  // The layer at this height: the rows of a group share its height, the first lowest.
  int layer_at(float y) const;
};

struct StackLayout {
  view::Side side = view::Side::Main;
  bool cross = false, narrow = false;  // narrow: one of two
  float left = 0, right = 0, stream_x = 0;
  ui::Rect size_head{}, gradient_head{};  // above the columns of bars
  ui::Rect output{}, embedding{};         // output is empty where the residual stream becomes memory
  ui::Rect final_slot{}, embedding_slot{};
  ui::Rect segment{};  // states of the segment before, beside the embedding; empty without a memory
  ui::Rect second{};   // the norm of a second stream, left of its line or on it; empty without one
  ui::Vec join{};
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
  bool embedding_norm = false;  // needs room under the lowest row
  bool second = false;          // a second stream needs room where it joins the residual stream
  bool segment = false;         // a memory stands beside the embedding
};

DiagramLayout layout_diagram(const ui::Rect& area, const std::vector<StackRows>& stack_layouts, bool compact);
// This `layout_diagram` lays out a single stack without cross-attention.
DiagramLayout layout_diagram(const ui::Rect& area, const std::vector<view::DiagramRow>& rows, bool compact);

// Lays out one stack or both in small, without controls, each as narrow as in an encoder-decoder.
DiagramLayout layout_small(const ui::Rect& area, const std::vector<StackRows>& stack_layouts);

// Where a slot is drawn: large in an open layer, small in a collapsed row (a group shares its marks).
std::optional<ui::Rect> place_of(const DiagramLayout&, view::SlotId at);

struct DiagramState {
  char selected = 'A';  // run that is shown and edited
  // `open_layer` and `open_encoder` are 0-based; -1: all layers are collapsed; kUnset: nobody has opened or closed one
  // yet.
  static constexpr int kUnset = -2;
  int open_layer = kUnset, open_encoder = kUnset;
  int& open(view::Side side) { return side == view::Side::Encoder ? open_encoder : open_layer; }
  view::Side shown = view::Side::Main;  // compact: the one stack that has room
  int preset_stack = 0;  // the stacks of an encoder-decoder that a preset changes: both, encoder, decoder
  std::optional<Placement> preset_hovered;  // the one under the mouse
  std::optional<Placement> preset_asked;    // asked for elsewhere, as if it had been pressed here
  // The change that Enter would make on the empty slot, or the kind, under the mouse.
  std::optional<view::WiringChange> slot_hovered;
  bool placement_asked = false;  // the diagram is to become a placement of a file
  float scroll = 0;

  // The members below follow the mouse.
  std::optional<view::SlotId> dragging;    // token that is held
  ui::Vec grip;                            // from its slot to where it is now
  std::optional<Slot> target;              // legal slot under the mouse
  std::optional<view::SlotId> hovered;     // token under the mouse
  std::optional<int> hovered_layer;        // 0-based; row under the mouse
  std::optional<view::SlotId> focus_next;  // slot that the keyboard goes to
  std::optional<view::SlotId> menu;        // slot whose kind is being chosen
  std::optional<double> epsilon;           // of its norm, while it is being set there
  bool only_this = false;                  // Alt
  bool from_start = false;                 // Shift
  bool brush = false;                      // Ctrl: only the layers that the user passed
  std::vector<int> painted;                // layers painted by the brush so far
  bool cancelled = false;                  // Escape during a drag, so that the release is not a drop
  std::optional<view::WiringChange> preview;
  std::vector<view::SlotId> locked;  // norms that stay whatever the others do
  // Layers clicked away to see the loss without them, "L03", "dec.L02.cross", in run `left_out_of`.
  std::vector<std::string> left_out;
  char left_out_of = 0;

  // A fork that was requested and has not appeared yet. It is shown at once, so that a drop stays where it fell.
  struct PendingFork {
    view::Stacks stacks;
    std::string note;
    session::Ticket ticket = 0;  // of the fork; 0: not posted yet
  };
  std::optional<PendingFork> pending;
  char source = 'A';  // run of the last fork, to which an undo returns
};

struct DiagramInput {
  const LabView& view;
  view::LabData& data;
  int step = 0;  // the cursor's step, for the micro-bars
  bool compact = false;
  std::optional<int> hover_layer{};  // 0-based; under the mouse in a plot
};

// The run whose diagram is shown: the selected one, or the source while D is still being built. -1: there are no runs.
int shown_run(const DiagramState& state, const LabView& view);
// The run's wiring as it is to be drawn.
view::Stacks shown_stacks(const DiagramState& state, const LabView& view, int run);
// Says "Fork of A" / "12 norms moved" while something is held over a target; empty otherwise.
std::string fork_title(const DiagramState& state, const LabView& view);

// A stack of the diagram with its place in the model.
struct ShownStack {
  StackWiring stack;
  NormKind norm = NormKind::LayerNorm;
  StackContext context;
};
// The one that presets change, of both the decoder. Nothing without runs.
std::optional<ShownStack> shown_stack(const DiagramState&, const LabView&);

// Whether the preset is held, under either of its names.
bool preset_held(const ui::Ui&, Placement);
// Draws the row of presets for the panel's head (or, in a small rectangle, a list), `draw_run_tiles`
// the tiles of the runs.
void draw_presets(ui::Ui&, DiagramState&, const DiagramInput&, const ui::Rect&, bool as_list,
                  std::vector<session::Command>&);
void draw_run_tiles(ui::Ui&, DiagramState&, const DiagramInput&, ui::Vec right_centre);
// Draws and handles the picture in `area` and the footer in `footer`.
void draw_diagram(ui::Ui&, DiagramState&, const DiagramInput&, const ui::Rect& area, const ui::Rect& footer,
                  std::vector<session::Command>&);

// The run that would be, if the held norm were dropped where it is, or the preset, the empty slot or the kind of norm
// under the mouse were chosen. Nothing without any.
std::optional<RunSpec> spec_in_question(const DiagramState&, const DiagramInput&);

// Posts the change as a fork of the shown run. The diagram then shows run D.
void commit_change(DiagramState&, const DiagramInput&, const ModelConfig* model, const view::WiringChange&,
                   bool from_start, std::vector<session::Command>&);

// Registers every slot and row, moves tokens, and leaves in `state` what to draw.
void handle_diagram(ui::Ui&, DiagramState&, const DiagramInput&, const DiagramLayout&, const view::Stacks&,
                    const ui::Rect& clip, std::vector<session::Command>&);
// The choice in the list of kinds, which kind_menu() draws while it is open.
struct KindChoice {
  std::optional<NormKind> kind, hovered;
  bool epsilon = false;  // a value was settled
  bool lock = false;
};
// The epsilon of the norm, to be changed where it has one; null: it is not offered.
KindChoice kind_menu(ui::Ui&, const ui::Rect& anchor, NormKind now, bool locked, bool may_lock = true,
                     double* epsilon = nullptr);
// Layers and sub-layers that are clicked away. Names are as in
// training/session/analysis.h.
std::string place_name(const ModelConfig&, view::Side, int layer, std::optional<view::Sub> sub = {});
bool is_left_out(const DiagramState&, const std::string& name);
void toggle_left_out(DiagramState&, int run, const std::string& name, std::vector<session::Command>&);
void leave_out_controls(ui::Ui&, DiagramState&, const DiagramInput&, int run, const StackLayout&,
                        const ui::Rect& clip, std::vector<session::Command>&);
struct LeftOutWords {
  std::string lead, text;
};
LeftOutWords left_out_words(const DiagramState&, const RunView&, bool compact);
// The scales of a sub-layer in words: the text and the help of its pills. Empty where it has no such scale.
struct ScaleWords {
  std::string text, help;  // "α 0.034"
};
// A sub-layer's learned scales as far as they are known: of a fork that is being built, only how they start.
struct ScalesNow {
  std::optional<float> skip{}, branch{}, factor{};
  int step = -1;  // the step of the values; -1: now
};
// The scales at a step: at the newest step as they are, at an earlier one as its frame in the history has them.
ScalesNow scales_at(view::LabData&, const RunView&, view::Side, int layer, view::Sub, int step);
ScaleWords skip_words(const Wiring&, const ScalesNow&);
ScaleWords branch_words(const Wiring&, const ScalesNow&);
// The pills of an open layer, with help on each.
void tell_scales(ui::Ui&, const DiagramState&, const DiagramInput&, const StackLayout&, const view::Stacks&,
                 const ui::Rect& clip);
// The words and signs of the picture, with help on each.
void explain_parts(ui::Ui&, const DiagramInput&, const ModelConfig&, const StackLayout&,
                   const ui::Rect& clip);
inline constexpr ui::Dash kSlotDash{3, 2.5f};
// Draws on a log scale, a millionth to 3, in the colour of the layer (from 0). `lit`: the layer is under the mouse
// elsewhere.
void paint_gradient_bar(ui::Ui&, const ui::Rect&, float value, int layer, int layers, bool lit);
// Draws what handle_diagram() left in `state`.
void paint_diagram(ui::Ui&, const DiagramState&, const DiagramInput&, const DiagramLayout&,
                   const view::Stacks&, int run);

}  // namespace normscope::diagram
