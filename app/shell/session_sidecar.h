// The session sidecar is what the window itself adds to a saved session: bookmarks, the undo log, which run and which
// screen is shown, how the screens of add-ons are set, a teacher's rules. It travels as a text (Lab::keep) beside the runs and comes back when the session is restored. draw_app calls
// it once a frame.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "app/lab/lab_screen.h"
#include "app/shell/classroom/teaching.h"
#include "app/shell/parts/screens.h"
#include "app/shell/parts/shown_session.h"

namespace normscope::shell {

// What the screens and the teacher keep with a session. A part that the file does not mention has none.
struct KeptWindow {
  std::optional<Screen> shown = Screen::Lab;
  std::array<ScreenSettings, kScreens> screens{};  // empty: the screen was never opened
  classroom::KeptTeaching teaching{};
  bool operator==(const KeptWindow&) const = default;
};

// What was handed over last, so that a frame in which nothing changed costs only a few comparisons.
struct SidecarState {
  std::vector<int> bookmarks;
  uint64_t undo_changes = 0;
  char selected = 'A';
  KeptWindow window;
  session::Ticket restored = 0;  // the LabView::restored that was taken in last
  bool operator==(const SidecarState&) const = default;
};

std::string sidecar_text(const lab::LabScreen&, const UndoLog&, const KeptWindow& = {});
// Ignores damaged text, because the runs matter more. A teacher's rules come back where `teaching` has
// room for them. With `own` the window's own undo log goes on.
void apply_sidecar(Screens&, ShownSession&, const std::string& text, classroom::Teaching* teaching = nullptr,
                   const ComingBack* own = nullptr);
// Takes in what a restored session brought, and hands over what changed.
void keep_sidecar(SidecarState&, Screens&, ShownSession&, classroom::Teaching&);

}  // namespace normscope::shell
