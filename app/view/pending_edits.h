// Holds edits that were requested and that the runs do not have yet: building a network takes a while,
// and a setting that was just typed must not look ignored meanwhile. The Lab screen owns it; an edit noted in one
// frame is shown from the next until the trainer has answered it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/view/screen.h"

namespace normscope::view {

class PendingEdits {
 public:
  /// Takes the commands of this frame that change a specification.
  void note(const LabView& view, std::span<const session::Command> made);
  /// Says that the noted edits were posted; the last of them has this ticket.
  void posted(session::Ticket ticket);
  /// Lets go of edits that were answered: the view has them, or they were refused.
  void settle(const LabView& view);
  bool empty() const { return asked_.empty(); }
  /// The view with the requested values.
  LabView applied(const LabView& view) const;
  bool has(char letter, std::string_view key) const;
  /// Whether the run is being built anew for a pending edit.
  bool building(char letter) const;

 private:
  struct Request {
    char letter;
    std::string key, value;
    session::Ticket ticket;  // 0: not posted yet
  };
  void ask(const RunView& run, const std::string& key, const std::string& value);

  std::vector<Request> asked_;
};

}  // namespace normscope::view
