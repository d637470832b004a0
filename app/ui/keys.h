// Reads a key chord written as text ("Ctrl+Shift+Z", "Space", "?"). Shortcuts, the shortcut sheet and
// the UI driver all use this notation.
#pragma once

#include <string>
#include <string_view>

#include "app/ui/geometry.h"

namespace normscope::ui {

struct Chord {
  int key = 0;             // an ImGuiKey, or 0 when it is only a character
  unsigned character = 0;  // for a text field; 0: nothing
  bool ctrl = false, shift = false, alt = false;
};

/// Throws Error for an unknown key name.
Chord parse_chord(std::string_view text);

/// Writes a chord as the keys are called in the window's language: "Ctrl Shift Z", "Strg Umschalt Z".
std::string shown_keys(std::string_view chord);

/// Calls ImGui::NewFrame for a user who is quicker than a frame: a modifier released after its key waits
/// for the next frame, or Ctrl+K would arrive as K. The window's loop and Frame call it. A window that shows only part
/// of the drawing passes where that part begins and how far it has just moved (Ui::pan, Ui::panned), because its mouse
/// is reported in window px.
void new_frame(Vec pan = {}, Vec panned = {});

}  // namespace normscope::ui
