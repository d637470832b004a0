// What the screens laid on their Desk is carried out here for draw_app, and nowhere else.
#pragma once

#include "app/shell/files.h"
#include "app/shell/parts/screens.h"
#include "app/ui/ui.h"
#include "engine/core/error.h"

namespace normscope::shell {

struct AppState;

// What a screen is about, "the comparison": what its files show, what failed to be drawn.
const std::string& subject_of(Screen);
// Does what a frame of the screen that is shown asked for. Its commands join the frame's, which
// draw_app posts.
void carry_out(Desk, AppState&, ui::Ui&);

// Shows an opened model, log or saved run on the screen for such files, or says in `notice` that there is none.
void open_recorded(Screens&, Files&, const LabView&, Message& notice);

}  // namespace normscope::shell
