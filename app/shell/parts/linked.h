// Links (app/link) and what a frame works on: a link of what is shown, and the view that a link shows.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/link/link.h"
#include "app/shell/parts/appearance.h"
#include "app/shell/parts/screens.h"
#include "app/shell/parts/shown_session.h"

namespace normscope {

struct AppState;

/// Runs with their edits, step, cursor, screen, theme.
LinkedView linked_view(const ShownSession&, const Screens&, const Appearance&);
/// Begins to pack the link of what is shown now, in place of one that is still being packed.
void copy_link(AppState&);
/// Once a frame: the link that was packed onto the clipboard, behind shell.page or as a command for a terminal. What does
/// not fit is said, and nothing copied.
void finish_copying(AppState&);

/// Its runs in the place of those that there are, trained to its step.
std::vector<session::Command> linked_commands(const LinkedView&);
/// Screen, theme, bookmarks, the run shown; the cursor when the runs have come there. `runs`: the ticket of the command
/// that brings them; none where it is posted with the next frame. A lesson whose prediction the learner has not made is opened there: nothing is given away. Throws Error for a
/// lesson that is not in the course.
void show_linked(const LinkedView&, std::optional<session::Ticket> runs, Screens&, Appearance&, Lab*);
/// Opens a link from outside: an address or its fragment. One that cannot be used is said, and where there are no runs
/// yet the default comparison begins; false then.
bool open_link(AppState&, std::string_view text);

/// Once a frame: the cursor that waits for the runs of a link.
void follow_linked(Screens&, const LabView&);

}  // namespace normscope
