// ImGuiStyle from the theme's numbers, rebuilt at each scale (ScaleAllSizes would cut 1 px borders to nothing
// below 100 %). Called by Ui when theme or scale change.
#pragma once

#include "app/ui/theme.h"

namespace normscope::ui {

void apply_style(const Theme&, float scale);

}  // namespace normscope::ui
