// The shown session is the session that is shown and commanded, what the user asks of it and how that is undone.
#pragma once

#include <memory>
#include <vector>

#include "app/shell/undo.h"
#include "app/view/commands.h"

namespace normscope::shell {

struct ShownSession {
  // Null where `view` is shown alone and commands only land in `commands`.
  Lab* lab = nullptr;
  std::shared_ptr<const LabView> view;
  // What the user asked for in the last frame; already posted when `lab` is set.
  std::vector<session::Command> commands;
  std::vector<session::Ticket> tickets;  // of the posted commands; without a Lab, numbers that nobody answers
  session::Ticket last_ticket = 0;
  std::vector<session::Command> asked;  // between two frames, by a dropped file
  std::vector<view::SavePlot> saves;    // plots of the last frame that became files
  UndoLog undo;
};

}  // namespace normscope::shell
