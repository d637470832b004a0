// Draws the settings panel: first what differs between the runs, then what they share. Everything
// comes from the table of specification fields. A change is a command; live fields act at once, structural ones
// restart and say so before. Controls: settings/KEY (shared), settings/KEY/A (one run's value of a field that
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

// The number under the mouse while runs are instant: a strip above it shows how each run would end over its range.
struct Dial {
  std::string key;
  ui::Rect place{};            // of the number
  int only = -1;               // index of the run that it changes; -1: those that are to be edited
  std::vector<double> values;  // from low to high
};

struct SettingsState {
  std::optional<Dial> dial;
  // The change of a click in the open list, while runs are instant.
  std::optional<session::EditField> choice_hovered;
  unsigned edits = 0xF;  // one bit per letter: the runs that a change is for
  float scroll = 0;
  std::string reveal;   // key of a row to scroll into sight
  std::string path;     // typed into the list of data
  std::string typed;    // typed into the open box of a text
  std::string refusal;  // why the typed text was not taken; shown below the box
  // Set while a structural field is under the mouse: shown instead of the panel's note.
  std::string restart_hint;
};

// Whether a field has a row of its own, settings/KEY; the others have another place.
bool listed(const Field& field);
// Whether it has one now: where no run is a transformer, only fields that its architecture reads do.
bool has_row(const Field& field, const LabView& view);
// Where a field without a row is changed: "transport/budget"; empty for a field with a row.
std::string_view place_of(const Field& field);
// Returns fields that differ between the runs, in table order (name and budget are not settings).
/// The help of a setting in the language of the window, with what add-ons say of it.
std::string spoken_help(const Field& field);
std::vector<const Field*> differing_fields(const LabView& view);
// Returns "restarts: about 62 ms a step, 41 MB", from the measured time of a step and the arithmetic now
// and then, for all runs together. It returns "heavy: ..." where a step would take more than half a second or 2 GiB,
// and "too large: ..." where the machine has less memory (0: not known).
std::string cost_text(double seconds_now, double flop_now, double flop_then, int64_t bytes,
                      int64_t machine_bytes = 0);
// The cost of a live field with this value, "6 forward passes every 10 steps: about 20 % more
// time"; empty for a free one.
std::string live_cost_text(const Field& field, const std::string& value);
std::string settings_note(const SettingsState& state, const LabView& view);

// A run along the dial, by the index of its value and of the run that it would replace.
struct DialRun {
  size_t value, run;
  RunSpec spec;
};
// All of them, value by value; none of a value that a run cannot have.
std::vector<DialRun> dial_runs(const SettingsState& state, const LabView& view);

// The runs at the next values up and down of a setting that the user has changed, as the next change is likely there.
std::vector<RunSpec> runs_beside(const session::EditField& edit, const LabView& view);
// The run as the choice under the mouse would change it; of several runs the `shown` one. Nothing without a choice.
std::optional<RunSpec> spec_in_question(const SettingsState& state, const LabView& view, int shown);

// Draws the tiles "edits A B C" of the panel's head and returns their width.
float draw_edit_tiles(ui::Ui&, SettingsState&, const LabView&, ui::Vec right_centre);
// Draws "Is it luck?" (seed variability), and the share that is done while the reruns go on; lab/luck.
void draw_seeds_button(ui::Ui&, const LabView&, const ui::Rect&, bool narrow, bool clock,
                       std::vector<session::Command>&);
// Draws the rows in 2 `columns` in the full layout, in 1 where it is narrow. The view has the
// requested values, and the values of `pending` are marked: settings/pending/KEY.
void draw_settings(ui::Ui&, SettingsState&, const LabView&, const view::PendingEdits&, const ui::Rect&,
                   int columns, std::vector<session::Command>&);

// Draws the switch of the top bar: whether the runs train on CPU or CUDA, and TF32 beside it
// while CUDA is on. Where there is no CUDA its half is grey, with the reason on hover and in the palette. Controls:
// app/backend, app/backend/CPU, app/backend/CUDA, app/tf32.

struct BackendSwitch {
  BackendChoice now;   // where the runs are
  std::string reason;  // why there is no CUDA; empty: there is
  std::string note;    // why the runs are no longer where they were asked to be
};

// Returns "Not here: there is no NVIDIA GPU."
std::string not_here(const std::string& reason);

inline constexpr float kBackendWidth = 104, kTf32Width = 50;

// Stands at the right of `room`; what is to be said of a lost device takes `words` px to its
// left. It returns its left end, and what was chosen in `choice`.
float draw_backend_switch(ui::Ui&, const BackendSwitch&, const ui::Rect& room, float words,
                          std::optional<BackendChoice>& choice);

}  // namespace normscope::settings
