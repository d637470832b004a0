// The offers are what the quiet bar of the top line proposes, and the sessions that can be restored.
#pragma once

#include <string>
#include <vector>

#include "app/view/commands.h"

namespace normscope::shell {

struct Offers {
  bool restore = false;   // the first of the lost sessions
  bool game = false;      // the first run: the guessing game
  bool lesson = false;    // after the guessing game: what comes next
  bool answered = false;  // the user answered one: the window remembers it

  std::string last_session;  // a folder that can be restored; empty: none
  // `lost` are the sessions whose window was not closed, newest first: offered one after the other.
  std::vector<std::string> lost;
  std::string restoring;  // asked for, not answered yet
  session::Ticket restore_ticket = 0;
};

// `next_to_restore` is the folder that is restored next; empty: there is none.
inline const std::string& next_to_restore(const Offers& offers) {
  return offers.lost.empty() ? offers.last_session : offers.lost.front();
}

}  // namespace normscope::shell
