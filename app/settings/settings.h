// The settings panel: what differs between the runs first, then what they share. Everything comes from the
// table of specification fields; a change is a command, live fields act at once, structural ones restart and
// say so before. Controls: settings/KEY (shared), settings/KEY/A (one run's value of a field that differs),
// settings/edits/A, settings/scroll.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/ui/ui.h"
#include "app/view/pending_edits.h"

namespace normscope::lab {

struct SettingsState {
  unsigned edits = 0xF;  // bit per letter: which runs a change is for
  float scroll = 0;
  std::string reveal;   // key of a row that is to be scrolled into sight
  std::string path;     // typed into the list of data
  std::string typed;    // into the open box of a text
  std::string refusal;  // why it was not taken; shown below the box
  std::string
      restart_hint;  // set while a structural field is under the hand: shown instead of the panel's note
};

// A field has a row of its own, settings/KEY, unless another place is named for it.
bool listed(const Field& field);
// Whether it has one now: where no run is a transformer, what their architecture reads and nothing else.
bool has_row(const Field& field, const LabView& view);
// Where a field without a row is changed: "transport/budget"; empty for those that have one.
std::string_view place_of(const Field& field);
// Rows of fields that differ between the runs, in table order (name and budget are not settings).
std::vector<const Field*> differing_fields(const LabView& view);
// "restarts: about 62 ms a step, 41 MB", from the measured time of a step and the arithmetic now and then;
// "heavy: ..." where a step would take more than half a second or 2 GiB, "too large: ..." where the machine
// has less memory (0: not known). All runs together.
std::string cost_text(double seconds_now, double flop_now, double flop_then, int64_t bytes,
                      int64_t machine_bytes = 0);
// What a live field with this value costs, "6 forward passes every 10 steps: about 20 % more time"; empty for what is
// free.
std::string live_cost_text(const Field& field, const std::string& value);
std::string settings_note(const SettingsState& state, const LabView& view);

// The tiles "edits A B C" of the panel's head; returns their width.
float draw_edit_tiles(ui::Ui&, SettingsState&, const LabView&, ui::Vec right_centre);
// "Is it luck?" (seed variability), and the share that is done while the reruns go on; lab/luck.
void draw_seeds_button(ui::Ui&, const LabView&, const ui::Rect&, bool narrow, std::vector<session::Command>&);
// The rows; columns: 2 in the full layout, 1 where it is narrow. The view has the values that were asked for;
// those of `pending` are marked: settings/pending/KEY.
void draw_settings(ui::Ui&, SettingsState&, const LabView&, const PendingEdits&, const ui::Rect&, int columns,
                   std::vector<session::Command>&);

}  // namespace normscope::lab
