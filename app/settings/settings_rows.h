// Draws the rows of the settings panel: one shared setting, one that differs between the runs, the data, what
// is typed as text. Internal to app/settings: settings.cpp lays them out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/settings/settings.h"
#include "app/ui/widgets.h"

namespace normscope::settings {

std::string field_label(const Field& field);
// The fields that are touched most, in the order of their rows; the others follow in table order.
std::vector<const Field*> first_fields();

bool differs(const Field& field, const LabView& view);
// Writes names as the rest of the screen does: "post" -> "Post-LN", "adam" -> "Adam".
std::string display(const Field& field, const std::string& value);
// Says in one line why a text cannot be the value of a field in one of the runs, or in run `only`; empty
// where it can. The line leaves out the field's key.
std::string refusal_of(const Field& field, const std::string& text, const LabView& view, int only);

// Draws the strip of the dial, over the rows.
void draw_dial(ui::Ui&, const SettingsState&, const LabView&);

struct Rows {
  ui::Ui& ui;
  SettingsState& state;
  const LabView& view;
  const view::PendingEdits& pending;
  ui::Rect clip;  // rows outside are left out whole
  std::vector<session::Command>& commands;

  void shared(const Field& field, const ui::Rect& rect);
  void differing(const Field& field, const ui::Rect& rect);
  void data(const ui::Rect& rect);  // settings/data.name

  // Makes a change for the runs that are to be edited: one command for all, or one each.
  void edit(const Field& field, const std::string& value, int only = -1);
  // Marks a run that is still being built for the value shown here.
  void mark_pending(const Field& field, const ui::Rect& rect);
  void dial(const Field& field, const ui::Rect& rect, int only);
  // Says before a change that it restarts, while the row is under the mouse or in focus.
  void hint(const Field& field, const ui::Rect& rect);
  // Hints at what a step would cost with this value; nothing is refused for it.
  void predict(const Field& field, const std::string& value, int only);
  std::string help(const Field& field) const;
  void number_field(const Field& field, const std::string& name, const ui::Rect& rect, std::string_view words,
                    int only);
  void choice_field(const Field& field, const std::string& name, const ui::Rect& rect);
  // Opens the list of a choice or a switch below its row, for run `only` where it is one.
  void choice_list(const Field& field, const std::string& name, const ui::Rect& row, int only);
  // Whether a choice stands for other runs: comparison_of() that architecture.
  bool replaces(const Field& field, const std::string& value) const;
  void text_row(const Field& field, const std::string& name, const ui::Rect& rect);
  // Opens the box to type into below its row, with a line that says what is wrong with the text.
  void text_box(const Field& field, const std::string& name, const ui::Rect& row, int only);
  void take_text(const Field& field, const std::string& control, const std::string& popup, int only);
  void open_text(const Field& field, const std::string& name, int only);
  void run_names(const ui::Rect& rect);  // settings/run.name
  void run_value(const Field& field, size_t i, const ui::Rect& rect, const std::string& text);
  void data_list(const ui::Rect& row, const std::string& name);
};

}  // namespace normscope::settings
