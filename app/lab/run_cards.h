// The row of run cards: for each run its name, wiring, progress and the text it writes now. Run D's card is the
// place where a fork begins. Drawn by the Lab screen. Controls: run/A ... run/D.
#pragma once

#include <string>
#include <string_view>

#include "app/diagram/diagram.h"
#include "app/panels/panels.h"
#include "app/ui/ui.h"

namespace normscope::lab {

struct CardOptions {
  Size size = Size::Full;
  bool writes = true;    // the line of sampled text (compact windows below 640 have no room)
  std::string building;  // letters of the runs that are being built for a setting
};

/// What of a written line stands in `room` characters, cut between characters and without an ellipsis: the
/// line is a window on an endless text. Of "translation ← source" the source stays in sight, on at most 3/5
/// of the room.
std::string line_that_fits(std::string_view text, size_t room);

void draw_run_cards(ui::Ui&, DiagramState&, const LabView&, const ui::Rect&, const CardOptions&);

}  // namespace normscope::lab
