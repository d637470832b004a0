// The rows of the settings panel: a shared setting, a setting that differs between the runs, the data, a setting that
// is typed as text. Internal to app/settings: settings.cpp lays them out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/settings/settings.h"
#include "app/ui/widgets.h"

namespace normscope::settings {

std::string field_label(const Field& field);
// The fields that users change most, in the order of their rows; the others follow in table order.
std::vector<const Field*> first_fields();

bool differs(const Field& field, const LabView& view);
// A field's value as the screen shows it: "post" -> "Post-LN", "adam" -> "Adam", 16000 -> "16 000".
std::string display(const Field& field, const std::string& value);
// The same of a run's value. What a file has given, no rule has drawn: its weights are said to be the file's.
std::string display(const Field& field, const RunSpec& spec);
// One line that says why a text cannot be the value of a field in all runs, or in run `only`, without the field's key;
// empty where it can. Also refuses a path without a file.
std::string refusal_of(const Field& field, const std::string& text, const LabView& view, int only);

// Draws the strip of the dial, over the rows.
void draw_dial(ui::Ui&, const SettingsState&, const LabView&);

struct Rows {
  ui::Ui& ui;
  SettingsState& state;
  const LabView& view;
  const view::PendingEdits& pending;
  ui::Rect clip;  // a row that is not entirely inside is not drawn
  std::vector<session::Command>& commands;

  void shared(const Field& field, const ui::Rect& rect);
  void differing(const Field& field, const ui::Rect& rect);
  void data(const ui::Rect& rect);  // settings/data.name

  // Posts a change for run `only`, or for the runs in state.edits: one command for all runs, else one for each.
  void edit(const Field& field, const std::string& value, int only = -1);
  // Marks the row while a run is still being built with its value.
  void mark_pending(const Field& field, const ui::Rect& rect);
  void dial(const Field& field, const ui::Rect& rect, int only);
  // Announces that a change restarts the runs, while the row is under the mouse or in focus.
  void hint(const Field& field, const ui::Rect& rect);
  // Sets the hint to the time and memory of a step with this value. The cost never refuses a value.
  void predict(const Field& field, const std::string& value, int only);
  std::string help(const Field& field) const;
  void number_field(const Field& field, const std::string& name, const ui::Rect& rect, std::string_view words,
                    int only);
  void choice_field(const Field& field, const std::string& name, const ui::Rect& rect);
  // Draws the list of a choice or a flag below its row while it is open; `only`: for this run, -1: the edited runs.
  void choice_list(const Field& field, const std::string& name, const ui::Rect& row, int only);
  // Whether the value replaces all runs by comparison_of() its architecture, as no data fits both architectures.
  bool replaces(const Field& field, const std::string& value) const;
  void text_row(const Field& field, const std::string& name, const ui::Rect& rect);
  // Draws the text box below its row while it is open, with a line that says why the text is refused.
  void text_box(const Field& field, const std::string& name, const ui::Rect& row, int only);
  void take_text(const Field& field, const std::string& control, const std::string& popup, int only);
  void open_text(const Field& field, const std::string& name, int only);
  void run_names(const ui::Rect& rect);  // settings/run.name
  void run_value(const Field& field, size_t i, const ui::Rect& rect, const std::string& text);
  void data_list(const ui::Rect& row, const std::string& name);
};

}  // namespace normscope::settings
