// The bar at the bottom: first, play, step, reset, speed, budget, clock figures and the timeline with events
// and playhead. Controls: transport/{first,play,step,reset,speed,budget}, timeline, timeline/event...,
// timeline/bookmark/STEP (B), timeline/fork while the cursor stands behind the newest step. Where there is no
// room for speed and budget they stand in a list behind the step counter, transport/pace.
#pragma once

#include <optional>
#include <vector>

#include "app/lab/run_cards.h"
#include "app/lab/timeline_labels.h"
#include "app/view/commands.h"

namespace normscope::lab {

struct TransportState {
  int speed = 2;                   // slow, 1x, max
  double budget = 0;               // being edited; 0 = as the view says
  bool open_pace = false;          // the list behind the step counter is to open
  std::vector<int> bookmarks;      // steps, in order
  int fork_source = 0;             // index of the run that "play on from here" forks
  std::optional<int> pinned_step;  // the step cursor when set by hand; otherwise it is the newest step
};

// Steps per second of the speed choices; 0 = as fast as possible.
inline constexpr double kSpeeds[] = {4, 20, 0};

// Sets a bookmark at the cursor, or takes the one that is there away.
void toggle_bookmark(TransportState&, int step);

// The step at which the depth plots and the flags stand.
int cursor_step(const TransportState&, const LabView&);

// Puts the cursor at a step that was trained; at the newest it follows the training.
void pin_cursor(TransportState&, const LabView&, int step);
void step_cursor(TransportState&, const LabView&, int by);

// `clock` false: figures that depend on the machine's speed print as a dash (reproducible pictures). `found`: places
// of the runs that a screen has to show beside their events.
void draw_transport(ui::Ui&, TransportState&, const LabView&, const ui::Rect&, Size, bool clock,
                    std::vector<session::Command>&, const std::vector<TimelineMark>& found = {});
// Space, Left, Right, End and the like, while nothing is being typed. Without `bookmarks` B is somebody else's.
void transport_keys(ui::Ui&, TransportState&, const LabView&, std::vector<session::Command>&,
                    bool bookmarks = true);

}  // namespace normscope::lab
