// The session sidecar is what the window itself adds to a saved session: bookmarks, the undo log, which run and which
// screen is shown and what the screen holds (Compare's choice, the sweep's plan, the position of the Tape), what parts
// of the window keep. It travels as a text (Lab::keep) beside the runs and comes back when the session is restored. draw_app calls
// it once a frame.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/compare_screen/kept_choice.h"
#include "app/inside/inside_screen.h"
#include "app/lab/lab_screen.h"
#include "app/shell/parts/screens.h"
#include "app/shell/parts/shown_session.h"
#include "app/shell/window_part.h"
#include "app/tape_screen/tape_screen.h"

namespace normscope::shell {

// What the screens and parts of the window keep with a session. A part that the file does not mention has none.
struct KeptWindow {
  std::optional<Screen> shown = Screen::Lab;
  std::optional<compare_screen::KeptChoice> compare = compare_screen::KeptChoice{};
  std::optional<sweep::KeptSweep> sweep{};  // none: the screen was never opened
  std::optional<tape_screen::KeptTape> tape = tape_screen::KeptTape{};
  std::optional<inside::KeptInside> inside{};
  std::map<std::string, std::string, std::less<>> parts{};  // by key, as JSON
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
// Ignores damaged text, because the runs matter more. With `own` the window's own undo log goes on.
void apply_sidecar(Screens&, ShownSession&, const std::string& text, const WindowParts& parts = {},
                   const ComingBack* own = nullptr);
// Takes in what a restored session brought, and hands over what changed.
void keep_sidecar(SidecarState&, Screens&, ShownSession&, const WindowParts&);

}  // namespace normscope::shell
