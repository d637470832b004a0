// Places the names of the timeline's events over their markers, in two rows, clear of the
// playhead's flag, of the bookmarks and of each other. The transport bar uses it; it needs no window.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/ui/geometry.h"
#include "training/session/lab.h"

namespace normscope::lab {

struct TimelineMark {
  int run, step;
  std::string text;       // "B leaves the plateau", "Runs A–C: learning rate 0.003 → 0.001"
  std::string letters;    // of its runs
  bool found = false;     // found by a comparison, not an event of the run; drawn as a ring
  const char* term = "";  // glossary entry of what happened
};
// Lists what the runs did and what was found of them, in the order of the steps.
std::vector<TimelineMark> timeline_marks(const LabView& view, const std::vector<TimelineMark>& found = {});

struct TimelineRoom {
  ui::Rect bar;
  float playhead, flag_left, flag_right;  // the ends of its flag with the button beside it, in the lower row
  std::vector<float> bookmarks;           // their middles, also in the lower row
  int rows = 2;                           // for labels
};

struct TimelineLabel {
  float x, w, left;  // x: of the marker; w, left: of the text
  int row;           // 0: next to the bar
  std::string text;
  bool upright = false;  // a line leads from the second row through the first down to the marker
  const char* term = "";
};

// Puts a label over its marker, or pushes it to either side. Without room there, the label
// stands in the second row; where both are full, the run's letter stands for it, and where even that has no room
// nothing does.
std::vector<TimelineLabel> place_timeline_labels(const std::vector<TimelineMark>& marks,
                                                 const TimelineRoom& room,
                                                 const std::function<float(int)>& x_of_step,
                                                 const std::function<float(const std::string&)>& width_of);

}  // namespace normscope::lab
