// The linked parts make a link (app/link) of what a frame shows, and show the view of a link.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "app/link/link.h"
#include "app/shell/parts/appearance.h"
#include "app/shell/parts/screens.h"
#include "app/shell/shown_session.h"
#include "engine/core/error.h"

namespace normscope::shell {

struct AppState;

/// Runs with their edits, step, cursor, screen and theme.
link::LinkedView linked_view(const ShownSession&, const Screens&, const Appearance&);
/// Copies the link of what is shown now to the clipboard, after shell.page or as a command for a terminal. Where
/// something does not fit it says so and copies nothing.
void copy_link(AppState&);

/// Commands that replace the present runs by the view's, trained to its step.
std::vector<session::Command> linked_commands(const link::LinkedView&);
/// Shows screen, theme, bookmarks and the chosen run, and the cursor once the runs have come that far.
/// `runs` is the ticket of the command that brings them; none where it is posted with the next frame. A lesson whose
/// prediction the learner has not made opens at the prediction, so that nothing is given away; the link's own
/// prediction is filled in there. Returns what is to be said about it; empty: nothing. Throws Error for a lesson that is
/// not in the course.
Message show_linked(const link::LinkedView&, std::optional<session::Ticket> runs, Screens&, Appearance&,
                    Lab*);
/// Opens a link from outside: an address or its fragment. Where it cannot be used it says so, starts the
/// default comparison if there are no runs yet, and returns false.
bool open_link(AppState&, std::string_view text);

/// Runs once a frame: it moves the cursor that waits for the runs of a link.
void follow_linked(Screens&, const LabView&);

}  // namespace normscope::shell
