// Where everything of the architecture diagram stands, in logical px: computed from the rows and the free
// area, before anything is drawn. Spare height goes between the rows and between the two sub-layers of the
// open layer; when there is too little, content_height exceeds the area and the diagram scrolls.
#pragma once

#include <array>
#include <vector>

#include "app/lab/diagram_model.h"
#include "app/ui/geometry.h"

namespace normscope::lab {

// One sub-layer of the open layer.
struct SublayerLayout {
  Sub sub = Sub::attention;
  ui::Rect box, before, after, trunk;  // the function and its three slots
  ui::Vec plus;                        // where the branch is added back
  ui::Rect pill;                       // skip scale, between fork and add
  float fork_y = 0;                    // where the branch leaves the trunk
  float return_x = 0;                  // right end of the way back
  ui::Rect bar;                        // gradient micro-bar
  const ui::Rect& slot(Slot which) const {
    return which == Slot::Before ? before : which == Slot::After ? after : trunk;
  }
};

// The marks of a collapsed row: upper pair feed-forward, lower pair attention.
struct SmallSlots {
  Sub sub = Sub::attention;
  ui::Rect branch, trunk;
};

struct RowLayout {
  DiagramRow row;
  ui::Rect box;
  std::array<SublayerLayout, 2> subs;  // open rows, [0] = attention (below)
  std::array<SmallSlots, 2> small;     // collapsed rows
  int sheets = 0;                      // drawn behind a collapsed group
  std::vector<ui::Rect>
      bars;  // collapsed: one a layer from the top, or attention/feed-forward of a single one
  std::vector<int> bar_layers;
};

struct DiagramLayout {
  bool compact = false;
  float left = 0, trunk_x = 0, bars_x = 0, bars_w = 0;
  ui::Rect output, embedding, final_slot;
  float trunk_top = 0, trunk_bottom = 0;
  std::vector<RowLayout> rows;  // as diagram_rows: bottom up
  float content_height = 0;
};

DiagramLayout layout_diagram(const ui::Rect& area, const std::vector<DiagramRow>& rows, bool compact);

}  // namespace normscope::lab
