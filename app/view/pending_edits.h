// Edits that the user has requested and the trainer has not answered yet. Building a network takes a while, and
// meanwhile the settings must show the requested value. The Lab screen owns it; an edit noted in one frame is shown
// from the next one until it is answered.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/view/screen.h"

namespace normscope::view {

class PendingEdits {
 public:
  /// Records the edits among the commands of this frame.
  void note(const LabView& view, std::span<const session::Command> made);
  /// Must be called after the noted edits were posted, with the ticket of the last one.
  void posted(session::Ticket ticket);
  /// Drops edits that were answered: the view has them, or they were refused.
  void settle(const LabView& view);
  bool empty() const { return asked_.empty(); }
  /// The view with the requested values in place of the present ones.
  LabView applied(const LabView& view) const;
  bool has(char letter, std::string_view key) const;
  /// Whether a pending edit of the run is structural, so that the run is being built anew.
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
