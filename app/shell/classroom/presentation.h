// Presentation mode, for a projector: everything a quarter larger, a ring around the mouse, no top bar; a click makes
// a ring that grows. F5, the palette or Escape; the tabs by their keys. Drawn by draw_app, switched by run_act.
#pragma once

#include <optional>

#include "app/ui/ui.h"

namespace normscope::classroom {

inline constexpr float kLarger = 1.25f;  // of the size that was chosen, as far as the window allows

struct Presentation {
  bool on = false;
  std::optional<double> since;  // UI time of its first frame
  ui::Vec click{};              // the last one in it
  std::optional<double> clicked;
};

void switch_presentation(Presentation&);
// At the beginning of a frame: Escape ends it, unless something else is open, typed or held.
void presentation_keys(ui::Ui&, Presentation&);
// At the end of a frame, above everything.
void draw_presentation(ui::Ui&, Presentation&);

}  // namespace normscope::classroom
