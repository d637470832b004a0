// Lays out the architecture diagram in logical px, from the rows and the free area, before anything
// is drawn. Each stack has a column: a single one takes the whole width, the two of an encoder-decoder stand side by
// side. Spare height goes between the rows and between the sub-layers of the open layer; when there is too little,
// content_height exceeds the area and the diagram scrolls.
#pragma once

#include <optional>
#include <vector>

#include "app/ui/geometry.h"
#include "app/view/diagram_model.h"

namespace normscope::diagram {

// One sub-layer of the open layer.
struct SublayerLayout {
  view::Sub sub = view::Sub::Attention;
  ui::Rect box, before, after, stream;  // the function and its three slots
  ui::Vec plus;                         // where the branch is added back
  ui::Rect pill;                        // skip scale, between fork and add
  ui::Rect branch_pill;                 // the branch's scale, on its way back
  float fork_y = 0;                     // where the branch leaves the residual stream
  float return_x = 0;                   // right end of the branch's way back
  ui::Rect size_bar, bar;               // micro-bars: variance going up (may be empty), gradient coming down
  const ui::Rect& slot(Slot which) const {
    return which == Slot::Before ? before : which == Slot::After ? after : stream;
  }
};

// The marks of a collapsed row: three for each sub-layer, those for attention lowest.
struct SmallSlots {
  view::Sub sub = view::Sub::Attention;
  ui::Rect before, after, stream;
  ui::Rect enter;   // a norm at the entrance of the sub-layer's stream
  ui::Rect inside;  // room for what stands inside the function, right of the row's name
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
  ui::Rect size_head, gradient_head;  // above the columns of bars
  ui::Rect output, embedding;         // output is empty where the residual stream becomes memory
  ui::Rect final_slot, embedding_slot;
  ui::Rect segment;  // states of the segment before, beside the embedding; empty without a memory
  ui::Rect second;   // the norm of a second stream, left of its line or on it; empty without one
  ui::Vec join;
  float stream_top = 0, stream_bottom = 0;
  std::vector<RowLayout> rows;  // as diagram_rows() has them: bottom up
  float content_height = 0;
};

struct DiagramLayout {
  bool compact = false;
  std::vector<StackLayout> stack_layouts;  // encoder first
  std::vector<ui::Vec> memory;             // from the encoder's top to the cross-attention, arrow at the end
  ui::Rect memory_label;
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

// Where a slot is drawn: large in an open layer, small in a collapsed row (a group shares its
// marks).
std::optional<ui::Rect> place_of(const DiagramLayout&, view::SlotId at);

}  // namespace normscope::diagram
