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

}  // namespace normscope::lab
