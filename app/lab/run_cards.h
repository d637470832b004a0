// Draws a card for each run with its name, wiring, progress and the text it writes now. A fork begins
// on run D's card. The Lab screen calls it. Controls: run/A ... run/D.
#pragma once

#include <string>
#include <string_view>

#include "app/diagram/diagram.h"
#include "app/ui/ui.h"

namespace normscope::lab {

struct CardOptions {
  ui::Size size = ui::Size::Full;
  bool writes = true;    // show the line of sampled text (compact windows below 640 have no room)
  std::string building;  // letters of the runs that are being built for a setting
  bool held = false;     // run D is what the norm that is held would give
};

/// The part of a written line that stands in `room` characters. It cuts between characters
/// and adds no ellipsis, because the line is a window on an endless text. Of "translation ← source" the source stays
/// in sight, on at most 3/5 of the room.
std::string line_that_fits(std::string_view text, size_t room);

void draw_run_cards(ui::Ui&, diagram::DiagramState&, const LabView&, const ui::Rect&, const CardOptions&);

}  // namespace normscope::lab
