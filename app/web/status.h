// What the page and the tests ask of the running program, as JSON. On the browser's main thread.
#pragma once

#include <string>

#include "app/window/window_session.h"

namespace normscope::web {

/// {"step", "training", "runs": [{"letter", "name", "loss", "step"}], "screen", "lesson", "checksum", "threads", "heap",
///  "frames", "frame_ms", "tokens_per_second", "theme", "message", "storage"}; docs/web.md tells of each.
/// The checksum is empty until the sheet of keys has found it (shell/parts/about.h).
std::string status_of(WindowSession&);

/// [{"name", "value", "enabled", "x", "y", "w", "h"}] of the controls of the last frame whose names begin so, in CSS pixels.
std::string places_of(const WindowSession&, const std::string& prefix);

}  // namespace normscope::web
