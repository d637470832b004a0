// Undo and redo of the commands given to the trainer. An undo gives the specification back from now on, as
// an edit that is logged with the run; forks and restarted runs are stashed and come back as they were
// left; nothing is untrained. What takes a command back is said by the trainer, which alone knows what the command
// found; until it has answered, session::TakeBack names the command by its ticket. Owned by the app, which passes it the
// commands of the screen after each frame.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/view/commands.h"
#include "training/io/input_value.h"

namespace normscope::shell {

class UndoLog {
 public:
  // The commands of this frame and their tickets; `held`: the mouse is still down from the frame before, so that one
  // drag of a field is one entry. selected: the run shown in the diagram before and after.
  void note(const LabView& view, std::span<const session::Command> made,
            std::span<const session::Ticket> tickets, char selected_before, char selected_after, bool held);
  // Takes in what the trainer has answered: what was refused, or changed nothing, is no entry.
  void settle(const LabView& view);
  // Appends the commands of the last entry and says which run is to be shown; false when there is nothing.
  bool undo(std::vector<session::Command>& commands, char& selected);
  bool redo(std::vector<session::Command>& commands, char& selected);
  // The command with this ticket replaces the whole session, which is stashed in the folder `stash`: one entry brings
  // it back, with what was done in it before. The newest kSlots - 1 of these are kept; their folders come from
  // next_slot(). Without a stash nothing of before can be taken back once the command was carried out.
  void replaced(const LabView& view, const std::string& stash, session::Ticket ticket, char selected_before,
                char selected_after);
  static constexpr int kSlots = 4;
  // Sessions that others replace are stashed below `folder`. Empty, as at first: none are kept, and a
  // replacement cannot be undone.
  void stash_in(std::string folder) { stash_ = std::move(folder); }
  bool keeps_sessions() const { return !stash_.empty(); }
  // A folder below it that no entry needs any more; empty where none are kept.
  std::string next_slot();
  bool can_undo() const { return !done_.empty() && !done_.back().for_good(); }
  bool can_redo() const { return !undone_.empty(); }
  void clear() {
    done_.clear();
    undone_.clear();
    ++changes_;
  }
  uint64_t changes() const { return changes_; }  // grows with every entry made, taken back or forgotten

  // For the session file: the newest entries as JSON, and back. Entries before another session took its place
  // are left out: its folder is gone by then. What cannot be read leaves the log empty.
  nlohmann::json to_json() const;
  void restore(const InputValue& json);

 private:
  struct Done {
    session::Change change{};  // as far as the trainer has answered
    char selected_before = 'A', selected_after = 'A';
    bool replaces = false;  // the whole session
    std::string gesture{};  // fields that a drag changes, so that its next frame is the same entry
    session::Ticket first = 1, last = 0;  // commands that are not answered yet
    std::vector<Done> undone_before{};    // what could be made again until then: for an entry that is refused

    bool open() const { return first <= last; }
    bool for_good() const { return replaces && change.undo.empty(); }
  };
  void add(Done done);

  std::vector<Done> done_, undone_;
  uint64_t changes_ = 0;
  std::string stash_;
  int slots_ = 0;  // given so far
};

}  // namespace normscope::shell
