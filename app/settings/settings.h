// The settings panel: first the fields that differ between the runs, then the shared ones, all from the table of
// specification fields. A change is a command; live fields act at once, structural ones restart the runs, which a hint
// announces before the click. Controls: settings/KEY (shared), settings/KEY/A (one run's value of a field that
// differs), settings/edits/A, settings/scroll.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/ui/ui.h"
#include "app/ui/widgets.h"
#include "app/view/pending_edits.h"
#include "training/session/lab.h"
#include "training/spec/backend_choice.h"

namespace normscope::settings {

// The number field under the mouse while runs are instant; a strip above it plots each run's last loss over its range.
struct Dial {
  std::string key;             // of the specification field
  ui::Rect place{};            // of the number field
  int only = -1;               // index of the run that it changes; -1: the runs in SettingsState::edits
  std::vector<double> values;  // tried for the strip, ascending
};

struct SettingsState {
  std::optional<Dial> dial;
  // The change that a click on the hovered entry of an open list would make, while runs are instant.
  std::optional<session::EditField> choice_hovered;
  unsigned edits = 0xF;  // one bit per letter: the runs that a change to a shared setting applies to
  float scroll = 0;
  std::string reveal;   // key of a row to scroll into view
  std::string path;     // path typed into the list of data
  std::string typed;    // text in the open text box
  std::string refusal;  // why the typed text was not taken; shown below the box
  // Shown instead of the panel's note: a change restarts the runs, or its cost, while the field is under the mouse.
  std::string restart_hint;
};

// Whether place_of() is empty: the field has a row, settings/KEY, in every Lab of transformers.
bool listed(const Field& field);
// Whether the field has a row now: some fields only while a run reads them (place_of() names the field they depend on).
bool has_row(const Field& field, const LabView& view);
// The control that changes a field without a row of its own, "transport/budget", or decides whether it has one.
std::string_view place_of(const Field& field);
/// The help of a setting in the window's language, with the sentences that add-ons append.
std::string spoken_help(const Field& field);
// The fields whose values differ between the runs: the placement first, then fields with a row, in table order.
std::vector<const Field*> differing_fields(const LabView& view);
// Returns "restarts: about 62 ms a step, 41 MB" for all runs together: the measured seconds of a step, scaled by the
// floating-point operations after and before the change. "heavy: ..." above half a second or 2 GiB, "too large: ..."
// where the machine has less memory (machine_bytes; 0: not known).
std::string cost_text(double seconds_now, double flop_now, double flop_then, int64_t bytes,
                      int64_t machine_bytes = 0);
// The cost of measuring with this value of a live field, "6 forward passes every 10 steps: about 20 % more time"; empty
// for fields that cost nothing.
std::string live_cost_text(const Field& field, const std::string& value);
std::string settings_note(const SettingsState& state, const LabView& view);

// A specification tried for the dial, with the indices of its value and of the run that it varies.
struct DialRun {
  size_t value, run;
  RunSpec spec;
};
// The specifications for the whole dial, value by value, without values that validate() refuses.
std::vector<DialRun> dial_runs(const SettingsState& state, const LabView& view);

// The specifications with the next value up and down of the edited setting: the user's next change is likely there.
std::vector<RunSpec> runs_beside(const session::EditField& edit, const LabView& view);
// The specification that the hovered entry of a list would give run `shown`, or the first run that it would change.
std::optional<RunSpec> spec_in_question(const SettingsState& state, const LabView& view, int shown);

// Draws the tiles "edits A B C" of the panel's head and returns their width.
float draw_edit_tiles(ui::Ui&, SettingsState&, const LabView&, ui::Vec right_centre);
// Draws "Is it luck?", which starts reruns with other seeds, or the remaining time or share of these; lab/luck.
void draw_seeds_button(ui::Ui&, const LabView&, const ui::Rect&, bool narrow, bool clock,
                       std::vector<session::Command>&);
// Draws the rows in 1 or 2 `columns`. `view` already has the requested values; settings/pending/KEY marks those of
// `pending`, which the trainer has not answered yet.
void draw_settings(ui::Ui&, SettingsState&, const LabView&, const view::PendingEdits&, const ui::Rect&,
                   int columns, std::vector<session::Command>&);

// The switch of the top bar between CPU and CUDA, with a button for TF32 next to it while CUDA is on. Where CUDA is not
// available, its half is grey, and its help and the palette give the reason. Controls: app/backend, app/backend/CPU,
// app/backend/CUDA, app/tf32.

struct BackendSwitch {
  BackendChoice now;   // where the runs train
  std::string reason;  // why CUDA is not available; empty: it is
  std::string note;    // why the runs have left the chosen device; empty: they have not
};

// Returns "Not here: there is no NVIDIA GPU."
std::string not_here(const std::string& reason);

inline constexpr float kBackendWidth = 104, kTf32Width = 50;

// Draws the switch at the right of `room`, and `note` in at most `words` px left of the switch. Returns the left end of
// both; a click sets `choice`.
float draw_backend_switch(ui::Ui&, const BackendSwitch&, const ui::Rect& room, float words,
                          std::optional<BackendChoice>& choice);

}  // namespace normscope::settings
