// The transport, the bar at the bottom of a screen: first, play, step, reset, speed, budget, clock figures, and the
// timeline with events and playhead. Controls: transport/{first,play,step,reset,speed,budget}, timeline,
// timeline/event..., timeline/bookmark/STEP (B), timeline/fork while the cursor is at an earlier step than the newest.
// In the compact layout, speed and budget are in a list that the step counter opens, transport/pace.
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
  int run, step;          // run: 0 = A, the first of `letters`
  std::string text;       // "B leaves the plateau", "Runs A–C: learning rate 0.003 → 0.001"
  std::string letters;    // of the runs
  bool found = false;     // a comparison's finding, not an event of the run; drawn as a ring
  const char* term = "";  // glossary entry of the event
  bool change = false;    // the text says what was changed, not what the run does
};
// The runs' events and the findings of a comparison, ordered by step. An edit of several runs at a step is one mark.
std::vector<TimelineMark> timeline_marks(const LabView& view, const std::vector<TimelineMark>& found = {});

struct TransportState {
  int speed = 2;                   // index in kSpeeds: slow, 1x, max
  double budget = 0;               // while it is edited; 0: take the view's
  bool open_pace = false;          // opens transport/pace in the next frame
  std::vector<int> bookmarks;      // steps, ascending
  int fork_source = 0;             // index of the run that "play on from here" forks
  std::optional<int> pinned_step;  // to which the user set the cursor; none: it follows the newest step
};

// Steps per second of each speed; 0: as fast as possible.
inline constexpr double kSpeeds[] = {4, 20, 0};

void toggle_bookmark(TransportState&, int step);

// The step of the cursor: the pinned one, at most the newest.
int cursor_step(const TransportState&, const LabView&);

// Pins the cursor to a step, clamped to the trained ones; at the newest step it follows the training instead.
void pin_cursor(TransportState&, const LabView&, int step);
void step_cursor(TransportState&, const LabView&, int by);

// Draws the transport and handles its controls. Without `clock`, figures that depend on the machine's speed print as a
// dash, for reproducible pictures. `marks`: of the timeline.
void draw_transport(ui::Ui&, TransportState&, const LabView&, const ui::Rect&, ui::Size, bool clock,
                    std::vector<session::Command>&, std::vector<TimelineMark> marks);
/// What the way to the small size changes, or the way back: "width 64 → 32, batch 16 → 8". Of a setting that not all
/// runs change alike it says the first run's.
std::string size_changes(const LabView&, bool small);
// Handles the keys Space, Left, Right, End, N and B while no text is typed. `bookmarks` false: B has another meaning
// on this screen.
void transport_keys(ui::Ui&, TransportState&, const LabView&, std::vector<session::Command>&,
                    bool bookmarks = true);

}  // namespace normscope::lab
