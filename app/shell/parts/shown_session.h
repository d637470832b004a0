// The session that is shown and commanded, what the hand asks of it and how that is taken back.
#pragma once

#include <memory>
#include <vector>

#include "app/shell/undo.h"
#include "app/view/commands.h"

namespace normscope {

// A session that is on its way back.
struct ComingBack {
  session::Ticket ticket = 0;
  bool by_undo = false;  // or redo: the screen stays
};

struct ShownSession {
  // Without one, `view` is shown and commands only land in `commands`.
  Lab* lab = nullptr;
  std::shared_ptr<const LabView> view;
  // What the hand asked for in the last frame; already posted when lab is set.
  std::vector<session::Command> commands;
  std::vector<session::Ticket>
      tickets;  // of those that were posted; without a Lab numbers that nobody answers
  session::Ticket last_ticket = 0;
  std::vector<session::Command> asked;  // between two frames, by a file that was dropped
  std::vector<lab::SavePlot> saves;     // plots of the last frame that became files
  shell::UndoLog undo;
  std::vector<ComingBack>
      coming_back;  // with these `undo` goes on, and the log that they were kept with is left out
};

}  // namespace normscope
