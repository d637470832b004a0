// The rows of the settings panel: one shared setting, one that differs between the runs, the data. Internal
// to app/lab: settings.cpp lays them out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/lab/settings.h"
#include "app/ui/widgets.h"

namespace normscope::lab {

// How a field is named and dragged here.
struct Shown {
  const char *key, *label, *unit;
  double lo = 0, hi = 0, step = 1;
  bool log = false;
};
Shown shown_as(const Field& field);
// The fields that are touched most, in the order of their rows; the others follow in table order.
std::vector<const Field*> first_fields();

bool differs(const Field& field, const LabView& view);
// "post" -> "Post-LN", "adam" -> "Adam": names as the rest of the screen writes them.
std::string display(const Field& field, const std::string& value);

struct Rows {
  ui::Ui& ui;
  SettingsState& state;
  const LabView& view;
  ui::Rect clip;  // rows outside are left out whole
  std::vector<Command>& commands;

  void shared(const Field& field, const ui::Rect& rect);
  void differing(const Field& field, const ui::Rect& rect);
  void data(const ui::Rect& rect);  // settings/data.name

  // A change for the runs that are to be edited: one command for all, or one each.
  void edit(const Field& field, const std::string& value, int only = -1);
  double held_value(const std::string& name, double now);
  // Says before a change that it restarts: under the mouse or in focus.
  void hint(const Field& field, const ui::Rect& rect);
  // What a step would cost with this value: soft, nothing is refused for it.
  void predict(const Field& field, const std::string& value, int only);
  std::string help(const Field& field) const;
  ui::FieldOptions options_of(const Field& field, const Shown& shown) const;
  void number_field(const Field& field, const std::string& name, const ui::Rect& rect, std::string_view words,
                    int only);
  void choice_field(const Field& field, const std::string& name, const ui::Rect& rect);
  void run_value(const Field& field, size_t i, const ui::Rect& rect, const std::string& text);
  void data_list(const ui::Rect& row, const std::string& name);
};

}  // namespace normscope::lab
