// Presentation mode is for a projector: everything is a quarter larger, with a ring around the mouse and no top bar; a
// click makes a ring that grows. F5, the palette or Escape switch it; tabs have their keys. draw_app draws it, run_act
// switches it.
#pragma once

#include <optional>

#include "app/ui/ui.h"

namespace normscope::shell::classroom {

inline constexpr float kLarger = 1.25f;  // times the chosen size, as far as the window allows

struct Presentation {
  bool on = false;
  std::optional<double> since;  // UI time of its first frame
  ui::Vec click{};              // the last click while it was on
  std::optional<double> clicked;
};

void switch_presentation(Presentation&);
// Runs at the beginning of a frame: Escape ends the mode, unless something else is open, typed or
// held.
void presentation_keys(ui::Ui&, Presentation&);
// Runs at the end of a frame, above everything.
void draw_presentation(ui::Ui&, Presentation&);

}  // namespace normscope::shell::classroom
