// Draws the bar at the bottom: first, play, step, reset, speed, budget, clock figures and the
// timeline with events and playhead. Controls: transport/{first,play,step,reset,speed,budget}, timeline,
// timeline/event..., timeline/bookmark/STEP (B), timeline/fork while the cursor stands behind the newest step. Without
// room for speed and budget they stand in a list behind the step counter, transport/pace.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/ui/geometry.h"
#include "app/ui/ui.h"
#include "training/session/lab.h"

namespace normscope::lab {

struct TimelineMark {
  int run, step;
  std::string text;       // "B leaves the plateau", "Runs A–C: learning rate 0.003 → 0.001"
  std::string letters;    // of its runs
  bool found = false;     // found by a comparison, not an event of the run; drawn as a ring
  const char* term = "";  // glossary entry of the event
};
// Lists events and findings of the runs, in the order of the steps.
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

struct TransportState {
  int speed = 2;                   // slow, 1x, max
  double budget = 0;               // as it is being edited; 0: as the view says
  bool open_pace = false;          // the list behind the step counter is to open
  std::vector<int> bookmarks;      // steps, ascending
  int fork_source = 0;             // index of the run that "play on from here" forks
  std::optional<int> pinned_step;  // the step cursor where a user has set it; none: the newest step
};

// The steps per second of the speed choices; 0: as fast as possible.
inline constexpr double kSpeeds[] = {4, 20, 0};

void toggle_bookmark(TransportState&, int step);

// The step at which the depth plots and the flags stand.
int cursor_step(const TransportState&, const LabView&);

// Puts the cursor at a step that was trained; at the newest it follows the training.
void pin_cursor(TransportState&, const LabView&, int step);
void step_cursor(TransportState&, const LabView&, int by);

// Prints a dash for figures that depend on the machine's speed when `clock` is false (reproducible
// pictures). `found` are marks that a screen shows beside the runs' events.
void draw_transport(ui::Ui&, TransportState&, const LabView&, const ui::Rect&, ui::Size, bool clock,
                    std::vector<session::Command>&, const std::vector<TimelineMark>& found = {});
// Handles Space, Left, Right, End and the like, while nothing is being typed. Without `bookmarks` it
// leaves B to others.
void transport_keys(ui::Ui&, TransportState&, const LabView&, std::vector<session::Command>&,
                    bool bookmarks = true);

// Places the names of the timeline's events over their markers, in two rows, clear of the
// playhead's flag, of the bookmarks and of each other. The transport bar uses it; it needs no window.

}  // namespace normscope::lab
