// Where the names of the timeline's events are placed: over their markers, in two rows, clear of the playhead's
// flag, of the bookmarks and of each other. Used by the transport bar; no window.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/ui/geometry.h"
#include "training/session/lab.h"

namespace normscope::lab {

struct TimelineMark {
  int run, step;
  std::string text;     // "B leaves the plateau", "Runs A–C: learning rate 0.003 → 0.001"
  std::string letters;  // of the runs that it is of
  bool found = false;   // by a comparison, not something that the run did: a ring
};
// What the runs did, and what was found of them, in the order of the steps.
std::vector<TimelineMark> timeline_marks(const LabView& view, const std::vector<TimelineMark>& found = {});

struct TimelineRoom {
  ui::Rect bar;
  float playhead, flag_left, flag_right;  // what its flag and the button beside it take of the lower row
  std::vector<float> bookmarks;           // their middles, in the lower row too
  int rows = 2;                           // that labels may stand in
};

struct TimelineLabel {
  float x, w, left;  // of the marker; of the text
  int row;           // 0: next to the bar
  std::string text;
  bool upright = false;  // a line leads from the second row through the first down to the marker
};

// A label stands over its marker, or is pushed along it to either side. What finds no room there stands in a
// second row over the first; where both are full, the run's letter does, and where even that has no place nothing
// does.
std::vector<TimelineLabel> place_timeline_labels(const std::vector<TimelineMark>& marks,
                                                 const TimelineRoom& room,
                                                 const std::function<float(int)>& x_of_step,
                                                 const std::function<float(const std::string&)>& width_of);

}  // namespace normscope::lab
