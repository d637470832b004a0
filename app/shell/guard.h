// The boundary of what is drawn: a part of a frame that throws is left out and the frame goes on.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "app/ui/ui.h"

namespace normscope::ui {

// Draws a part between begin_frame and end_frame. Empty when it went well; else the line that says why not
// (see engine/core/boundary.h), and whatever the part left open (popups, clips, styles) is closed.
std::string draw_guarded(Ui& ui, std::string_view doing, const std::function<void()>& draw);

}  // namespace normscope::ui
