// The menu of the middle and the right panel: as a picture, as numbers. Called by their draw().
#pragma once

#include <string>
#include <string_view>

#include "app/ui/ui.h"

namespace normscope::tape_screen {

/// In the upper right corner of the panel; NAME/menu with NAME/menu/svg, png, csv, json. What was chosen in this frame;
/// empty: nothing. `what` is saved: "the tensors of this instruction".
std::string save_menu(ui::Ui& ui, const std::string& name, const ui::Rect& panel, std::string_view what);

}  // namespace normscope::tape_screen
