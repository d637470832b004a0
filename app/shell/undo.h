// Undo and redo of the commands given to the trainer. An undo gives the specification back from now on, as
// an edit that is logged with the run; forks and restarted runs are stashed and come back as they were
// left; nothing is untrained. Owned by the app, which passes it the commands of the screen after each frame.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/view/commands.h"

namespace normscope::shell {

class UndoLog {
 public:
  // The commands of this frame; `held`: the mouse is still down from the frame before, so that one drag of
  // a field is one entry. selected: the run shown in the diagram before and after.
  void note(const LabView& view, std::span<const lab::Command> made, char selected_before,
            char selected_after, bool held);
  // Appends the commands of the last entry and says which run is to be shown; false when there is nothing.
  bool undo(const LabView& view, std::vector<lab::Command>& commands, char& selected);
  bool redo(const LabView& view, std::vector<lab::Command>& commands, char& selected);
  // The whole session was replaced by another and is stashed in the folder `stash`: one entry brings it back,
  // with what was done in it before. The newest kSlots - 1 of these are kept; their folders come from next_slot().
  void replaced(const LabView& view, const std::string& stash, char selected_before, char selected_after);
  static constexpr int kSlots = 4;
  // Sessions that others replace are stashed below `folder`. Empty, as at first: none are kept, and a
  // replacement cannot be undone.
  void stash_in(std::string folder) { stash_ = std::move(folder); }
  bool keeps_sessions() const { return !stash_.empty(); }
  // A folder below it that no entry needs any more; empty where none are kept.
  std::string next_slot();
  bool can_undo() const { return !done_.empty(); }
  bool can_redo() const { return !undone_.empty(); }
  void clear() {
    done_.clear();
    undone_.clear();
    expected_.clear();
    ++changes_;
  }
  uint64_t changes() const { return changes_; }  // grows with every entry made, taken back or forgotten

  // For the session file: the newest entries as JSON, and back. Entries before another session took its place
  // are left out: its folder is gone by then. What cannot be read leaves the log empty.
  std::string to_text() const;
  void from_text(std::string_view text);

 private:
  struct Done {
    std::vector<lab::Command> undo, redo;
    char selected_before = 'A', selected_after = 'A';
    bool swap = false;    // of whole sessions
    std::string gesture;  // fields that a drag changes, so that its next frame is the same entry
  };
  void catch_up(const LabView& view);
  void note_edit(const LabView& view, const lab::EditField& edit, Done& done);
  void expect(const LabView& view, const std::vector<lab::Command>& asked);

  std::vector<Done> done_, undone_;
  // Specifications as asked for: the view is a few frames behind the hand.
  std::vector<std::shared_ptr<const RunSpec>> expected_;
  uint64_t asked_at_ = 0, changes_ = 0;
  std::string stash_;
  int slots_ = 0;  // given so far
};

}  // namespace normscope::shell
