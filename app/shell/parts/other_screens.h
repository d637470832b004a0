// The screens as draw_app draws them: what each asks of the rest of the app is carried out here.
#pragma once

#include "app/shell/files.h"
#include "app/shell/parts/screens.h"
#include "app/shell/parts/shown_session.h"
#include "app/ui/ui.h"

namespace normscope {

struct AppState;

void draw_lab(ui::Ui&, const ui::Rect& area, Screens&, ShownSession&, bool clock);
void draw_lessons(ui::Ui&, const ui::Rect& area, Screens&, ShownSession&);
void draw_compare(AppState&, ui::Ui&, const ui::Rect& area);
void draw_sweep(AppState&, ui::Ui&, const ui::Rect& area);
void draw_tape(AppState&, ui::Ui&, const ui::Rect& area);

// What was recognised as a log or a saved run is shown where it can be compared.
void open_recorded(Screens&, shell::Files&, const LabView&);

}  // namespace normscope
