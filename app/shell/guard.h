// The guard is the boundary of what is drawn: a part of a frame that throws is left out and the frame goes on.
#pragma once

#include <functional>
#include <string_view>

#include "app/ui/ui.h"
#include "engine/core/error.h"

namespace normscope::shell {

// Draws a part between begin_frame and end_frame. It returns an empty string when all went well, or the
// line that says why not (see engine/core/boundary.h). Whatever the part left open (popups, clips, styles) is closed.
Message draw_guarded(ui::Ui& ui, std::string_view doing, const std::function<void()>& draw);

}  // namespace normscope::shell
