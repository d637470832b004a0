// What the window itself adds to a saved session: bookmarks, the undo log, which run is shown, which screen and what it
// holds (Compare's choice, the sweep's plan, where the Tape stands), a teacher's rules. It travels as a text (Lab::keep)
// beside the runs and comes back when the session is restored. Called by draw_app once a frame.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/compare_screen/compare_screen.h"
#include "app/lab/lab_screen.h"
#include "app/shell/classroom/teaching.h"
#include "app/shell/parts/screens.h"
#include "app/shell/parts/shown_session.h"
#include "app/tape_screen/tape_screen.h"

namespace normscope {

// What the screens and the teacher keep with a session: what its file does not say is none.
struct KeptWindow {
  std::optional<Screen> shown = Screen::Lab;
  std::optional<compare_screen::KeptChoice> compare = compare_screen::KeptChoice{};
  std::optional<sweep::KeptSweep> sweep{};  // none: the screen was never opened
  std::optional<tape_screen::KeptTape> tape = tape_screen::KeptTape{};
  classroom::KeptTeaching teaching{};
  bool operator==(const KeptWindow&) const = default;
};

// What was handed over last, so that a frame in which nothing changed costs some comparisons.
struct SidecarState {
  std::vector<int> bookmarks;
  uint64_t undo_changes = 0;
  char selected = 'A';
  KeptWindow window;
  session::Ticket restored = 0;  // LabView::restored that was taken in
  bool operator==(const SidecarState&) const = default;
};

std::string sidecar_text(const lab::LabScreen&, const shell::UndoLog&, const KeptWindow& = {});
// Damaged text is left out: the runs are what counts. The rules of a teacher come back where there is a place for them.
// `own`: the window's own log goes on.
void apply_sidecar(Screens&, ShownSession&, const std::string& text, classroom::Teaching* teaching = nullptr,
                   const ComingBack* own = nullptr);
// Takes in what a restored session brought, hands over what changed.
void keep_sidecar(SidecarState&, Screens&, ShownSession&, classroom::Teaching&);

}  // namespace normscope
