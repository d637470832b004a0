// Edits that were requested and that the runs do not have yet: building a network takes a while, and a setting
// that was just typed must not look ignored meanwhile. Owned by the Lab screen: an edit noted in one frame is
// shown in the next, until the trainer has answered it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/view/commands.h"

namespace normscope::lab {

class PendingEdits {
 public:
  // Of the commands of this frame those that change a specification.
  void note(const LabView& view, std::span<const session::Command> made);
  // They were posted; the last of them has this ticket.
  void posted(session::Ticket ticket);
  // Lets go what was answered: the view has it, or it was refused.
  void settle(const LabView& view);
  bool empty() const { return asked_.empty(); }
  // The view with the values that were asked for.
  LabView applied(const LabView& view) const;
  bool has(char letter, std::string_view key) const;
  // Whether the run is being built anew for one of them.
  bool building(char letter) const;

 private:
  struct Asked {
    char letter;
    std::string key, value;
    session::Ticket ticket;  // 0: not posted yet
  };
  void ask(const RunView& run, const std::string& key, const std::string& value);

  std::vector<Asked> asked_;
};

}  // namespace normscope::lab
