// The row of run cards: who runs, how it is wired, how it stands, what it writes now. Run D's card is the
// place where a fork begins. Drawn by the Lab screen. Controls: run/A ... run/D.
#pragma once

#include "app/lab/diagram.h"
#include "app/ui/ui.h"

namespace normscope::lab {

enum class Size { full, medium, compact };

struct CardOptions {
  Size size = Size::full;
  bool writes = true;  // the line of sampled text (compact windows below 640 have no room)
};

void draw_run_cards(ui::Ui&, DiagramState&, const LabView&, const ui::Rect&, const CardOptions&);

}  // namespace normscope::lab
