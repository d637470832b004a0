// The undo log undoes and redoes the commands given to the trainer. Runs that were edited, restarted or forked are
// stashed; they come back as they were left and catch up with the others. Training alone is never undone. The trainer
// says what undoes a command, because only the trainer knows what the command found; until it has answered,
// session::TakeBack names the command by its ticket. The app owns the log and passes it the commands of the screen
// after each frame.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/view/commands.h"
#include "training/io/input_value.h"

namespace normscope::shell {

// Names the runs in texts that are kept.
inline constexpr std::string_view kLetters[] = {"A", "B", "C", "D"};

class UndoLog {
 public:
  // Takes the commands of this frame and their tickets. `held`: the mouse has been down since the frame before,
  // so that one drag of a field is one entry. `selected_before` and `selected_after` are the run shown in the diagram.
  void note(const LabView& view, std::span<const session::Command> made,
            std::span<const session::Ticket> tickets, char selected_before, char selected_after, bool held);
  // Takes in the trainer's answers: a command that was refused, or changed nothing, is no entry.
  void settle(const LabView& view);
  // Appends the commands that undo the last entry and sets the run to show; false when there is nothing to undo.
  bool undo(std::vector<session::Command>& commands, char& selected);
  bool redo(std::vector<session::Command>& commands, char& selected);
  // Notes that the command with this ticket replaces the whole session, which is stashed in the folder
  // `stash`. One entry brings the session back, with its own undo log. The newest kSlots - 1 of these are kept; their
  // folders come from next_slot(). Without a stash nothing earlier can be undone once the command was carried out.
  void replaced(const LabView& view, const std::string& stash, session::Ticket ticket, char selected_before,
                char selected_after);
  static constexpr int kSlots = 4;
  // Sets the folder below which replaced sessions are stashed. Empty, as at first: none are kept, and a
  // replacement cannot be undone.
  void stash_in(std::string folder) { stash_ = std::move(folder); }
  bool keeps_sessions() const { return !stash_.empty(); }
  // A folder in it that no entry needs any more; empty where none are kept.
  std::string next_slot();
  bool can_undo() const { return !done_.empty() && !done_.back().for_good(); }
  bool can_redo() const { return !undone_.empty(); }
  void clear() {
    done_.clear();
    undone_.clear();
    ++changes_;
  }
  uint64_t changes() const { return changes_; }  // grows with every entry made, undone or forgotten

  // Writes the newest entries for the session file, and `restore` reads them. Entries before another session
  // took this one's place are left out, because its folder will be gone. Unreadable text leaves the log empty.
  nlohmann::json to_json() const;
  void restore(const InputValue& json);

 private:
  struct Done {
    session::Change change{};  // as far as the trainer has answered
    char selected_before = 'A', selected_after = 'A';
    bool replaces = false;  // replaces the whole session
    std::string gesture{};  // fields that a drag changes, so that its next frame joins this entry
    session::Ticket first = 1, last = 0;  // the commands that are not answered yet
    std::vector<Done> undone_before{};    // what could be redone before this entry, in case it is refused

    bool open() const { return first <= last; }
    bool for_good() const { return replaces && change.undo.empty(); }
  };
  void add(Done done);

  std::vector<Done> done_, undone_;
  uint64_t changes_ = 0;
  std::string stash_;
  int slots_ = 0;  // number given so far
};

}  // namespace normscope::shell
