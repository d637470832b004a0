// `apply_style` builds the ImGuiStyle from the theme's numbers, anew at each scale: ScaleAllSizes would cut borders of
// 1 px to nothing below 100 %. Ui calls it when theme or scale change.
#pragma once

#include "app/ui/theme.h"

namespace normscope::ui {

void apply_style(const Theme&, float scale);

}  // namespace normscope::ui
