// Key chords as text ("Ctrl+Shift+Z", "Space", "?"): the one notation of shortcuts, the shortcut sheet and
// the UI driver.
#pragma once

#include <string_view>

#include "app/ui/geometry.h"

namespace normscope::ui {

struct Chord {
  int key = 0;             // an ImGuiKey, or 0 when it is only a character
  unsigned character = 0;  // what a text field would receive; 0: nothing
  bool ctrl = false, shift = false, alt = false;
};

// Throws Error for an unknown key name.
Chord parse_chord(std::string_view text);

// ImGui::NewFrame for a hand that is quicker than a frame: a modifier that is let go after the key waits for
// the next frame, or Ctrl+K would come as K. Called by the window's loop and by Frame. A window that shows a part of what
// is drawn says where that begins and how far it has just moved (Ui::pan, Ui::panned): its mouse is told in window px.
void new_frame(Vec pan = {}, Vec panned = {});

}  // namespace normscope::ui
