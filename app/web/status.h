// These functions tell the page and the tests about the running program, as JSON. They run on the browser's main
// thread.
#pragma once

#include <string>

#include "app/window/window_session.h"

namespace normscope::web {

/// Returns {"step", "training", "runs": [{"letter", "name", "loss", "step"}], "screen", "lesson",
/// "checksum", "threads", "heap", "frames", "frame_ms", "tokens_per_second", "theme", "message", "storage"};
/// docs/web.md explains each. The checksum is empty until the sheet of keys has found it (shell/parts/about.h).
std::string status_of(window::WindowSession&);

/// Returns [{"name", "value", "enabled", "x", "y", "w", "h"}] of the controls in the last frame whose
/// names begin with `prefix`, in CSS pixels.
std::string places_of(const window::WindowSession&, const std::string& prefix);

}  // namespace normscope::web
