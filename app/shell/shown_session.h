// The undo log undoes and redoes the commands given to the trainer. Runs that were edited, restarted or forked are
// stashed; they come back as they were left and catch up with the others. Training alone is never undone. The trainer
// says what undoes a command, because only the trainer knows what the command found; until it has answered,
// session::TakeBack names the command by its ticket. The app owns the log and passes it the commands of the screen
// after each frame. It lives as long as the window.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/view/screen.h"

namespace normscope::shell {

class UndoLog {
 public:
  // Takes the commands of this frame and their tickets. `held`: the mouse has been down since the frame before,
  // so that one drag of a field is one entry. `selected_before` and `selected_after` are the run shown in the diagram.
  void note(std::span<const session::Command> made, std::span<const session::Ticket> tickets,
            char selected_before, char selected_after, bool held);
  // Takes in the trainer's answers: a command that was refused, or changed nothing, is not an entry.
  void settle(const LabView& view);
  // The effect of undoing an entry, or of making it again.
  struct UndoEffect {
    char selected = 'A';      // the run to show
    bool other_runs = false;  // the whole session comes back
  };
  // Appends the commands that undo the last entry; nothing when there is nothing to undo.
  std::optional<UndoEffect> undo(std::vector<session::Command>& commands);
  std::optional<UndoEffect> redo(std::vector<session::Command>& commands);
  bool can_undo() const { return !done_.empty(); }
  bool can_redo() const { return !undone_.empty(); }
  void clear() {
    done_.clear();
    undone_.clear();
  }

 private:
  struct UndoEntry {
    session::Change change{};  // as far as the trainer has answered
    char selected_before = 'A', selected_after = 'A';
    bool replaces = false;      // put another session in the place of one
    std::string gesture{};      // fields that a drag changes, so that its next frame joins this entry
    session::Ticket begun = 0;  // the first of its commands
    session::Ticket first = 1, last = 0;  // those that are not answered yet
    // Entries that could be redone before this one, in case it is refused.
    std::vector<UndoEntry> undone_before{};

    bool open() const { return first <= last; }
  };
  void add(UndoEntry done);

  std::vector<UndoEntry> done_, undone_;
};

// The shown session is the session that is shown and commanded, what the user asks of it and how that is undone.

struct ShownSession {
  // Null where `view` is shown alone and commands only land in `commands`.
  Lab* lab = nullptr;
  std::shared_ptr<const LabView> view;
  // The user's requests in the last frame; already posted when `lab` is set.
  std::vector<session::Command> commands;
  std::vector<session::Ticket> tickets;  // of the posted commands; without a Lab, numbers that nobody answers
  session::Ticket last_ticket = 0;
  std::vector<session::Command> asked;  // between two frames, by a dropped file
  std::vector<view::SavePlot> saves;    // plots of the last frame that became files
  UndoLog undo;
};

}  // namespace normscope::shell
