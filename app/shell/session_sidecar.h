// What the window itself adds to a saved session: bookmarks, the undo log, which run is shown, what Compare holds
// against what, where the Tape stands. It travels as a text (Lab::keep) beside the runs and comes back when the session is restored. Called by draw_app once a frame.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/compare_screen/compare_screen.h"
#include "app/lab/lab_screen.h"
#include "app/shell/parts/screens.h"
#include "app/shell/parts/shown_session.h"
#include "app/tape_screen/tape_screen.h"

namespace normscope {

// What was handed over last, so that a frame in which nothing changed costs two comparisons.
struct SidecarState {
  std::vector<int> bookmarks;
  uint64_t undo_changes = 0;
  char selected = 'A';
  comparison::KeptChoice compare;
  tape_screen::KeptTape tape;
  uint64_t restored = 0;  // LabView::restored that was taken in
};

std::string sidecar_text(const lab::LabScreen&, const shell::UndoLog&, const comparison::KeptChoice& = {},
                         const tape_screen::KeptTape& = {});
// Damaged text is left out: the runs are what counts. What was compared comes back where there is a place for it.
void apply_sidecar(lab::LabScreen&, ShownSession&, const std::string& text, ComparePlace* compare = nullptr,
                   TapePart* tape = nullptr);
// Takes in what a restored session brought, hands over what changed.
void keep_sidecar(SidecarState&, Screens&, ShownSession&);

}  // namespace normscope
