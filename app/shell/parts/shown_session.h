// The session that is shown and commanded, what the hand asks of it and how that is taken back.
#pragma once

#include <memory>
#include <vector>

#include "app/shell/undo.h"
#include "app/view/commands.h"

namespace normscope {

struct ShownSession {
  // Without one, `view` is shown and commands only land in `commands`.
  Lab* lab = nullptr;
  std::shared_ptr<const LabView> view;
  // What the hand asked for in the last frame; already posted when lab is set.
  std::vector<lab::Command> commands;
  std::vector<lab::Command> asked;   // between two frames, by a file that was dropped
  std::vector<lab::SavePlot> saves;  // plots of the last frame that became files
  shell::UndoLog undo;
  bool undoing = false;   // a session comes back by undo or redo: the screen stays
  bool swapping = false;  // a session comes back whole: `undo` goes on, the log kept with it is left out
};

}  // namespace normscope
