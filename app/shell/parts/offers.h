// What the quiet bar of the top line offers, and the sessions that can be restored.
#pragma once

#include <string>
#include <vector>

#include "app/view/commands.h"

namespace normscope::shell {

struct Offers {
  bool restore = false;   // the first of the lost sessions
  bool game = false;      // the first run: the guessing game
  bool lesson = false;    // the guessing game was played: what comes next
  bool answered = false;  // set when the person answered one: the window remembers

  std::string last_session;  // a folder that can be restored; empty: none
  // Sessions whose window did not close, the newest first: offered one after the other.
  std::vector<std::string> lost;
  std::string restoring;  // asked for, not answered yet
  session::Ticket restore_ticket = 0;
};

// The folder that is restored next; empty: there is none.
inline const std::string& next_to_restore(const Offers& offers) {
  return offers.lost.empty() ? offers.last_session : offers.lost.front();
}

}  // namespace normscope::shell
