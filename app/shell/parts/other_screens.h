// The screens as draw_app draws them, and the one place where what they laid on their Desk is carried out.
#pragma once

#include "app/shell/files.h"
#include "app/shell/parts/screens.h"
#include "app/ui/ui.h"

namespace normscope {

struct AppState;

// The screen that is shown, and what it asks of the rest.
Desk draw_screen(AppState&, ui::Ui&, const ui::Rect& area);
// What a frame of that screen asked for. Its commands join those of the frame, which draw_app posts.
void carry_out(Desk, AppState&, ui::Ui&);

// What was recognised as a log or a saved run is shown where it can be compared.
void open_recorded(Screens&, shell::Files&, const LabView&);

}  // namespace normscope
