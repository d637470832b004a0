// Everything that works the same on every screen: shortcuts, palette, undo, glossary, guessing game, the quiet bar
// of the top line. draw_app calls begin_shell before the screens and draw_shell after them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/shell/guessing_game.h"
#include "app/shell/palette.h"
#include "app/view/commands.h"

namespace normscope {
struct AppState;
}

namespace normscope::shell {

// What the quiet bar of the top line offers, and the sessions that can be restored.
struct Offers {
  bool restore = false;   // the first of the lost sessions
  bool game = false;      // the first run: the guessing game
  bool lesson = false;    // the guessing game was played: what comes next
  bool answered = false;  // set when the person answered one: the window remembers

  std::string last_session;  // a folder that can be restored; empty: none
  // Sessions whose window did not close, the newest first: offered one after the other.
  std::vector<std::string> lost;
  std::string restoring;  // asked for, not answered yet
  lab::Ticket restore_ticket = 0;
};

// The folder that is restored next; empty: there is none.
inline const std::string& next_to_restore(const Offers& offers) {
  return offers.lost.empty() ? offers.last_session : offers.lost.front();
}

struct Shell {
  PaletteState palette;
  GuessingGame guessing_game;
  Offers offers;
  std::string glossary;          // the entry that is kept open
  std::optional<double> person;  // nats a letter of the guessing game
  std::string clipboard;         // what was copied last (a window puts it on the clipboard too)
  std::string page;  // the address that a copied link begins with; empty: none, a command is copied
  char selected_before = 'A';
  size_t own_commands = 0;  // of this frame: they are not noted again
};

// Gives the trainer what was asked for so far in this frame, and the tickets to those who asked.
void post_commands(AppState&);
// Keys of the whole app; may add commands.
void begin_shell(AppState&, ui::Ui&);
// Palette, glossary, guessing game; notes what the screens asked for.
void draw_shell(AppState&, ui::Ui&);
// Into the clipboard, and said.
void copy_text(const std::string& text, const char* what, Shell&, std::string& notice);
// What a key, the palette or a button asks for; what is refused is said.
void run_act(AppState&, ui::Ui&, Act);
// Why it would be refused now; empty: it would not. refusals.cpp.
std::string refusal_of(const AppState&, const ui::Ui&, Act);
std::string refusal_of(const AppState&, const ui::Ui&, const PaletteItem&);
// It stands on the Lab's screen, and not on the one that is shown.
bool is_hidden(const ui::Ui&, const PaletteItem&);

// The search box of the top bar; `wide`: with its text. True when it was clicked: it asks for the palette.
bool search_box(ui::Ui&, const ui::Rect&, bool wide);
// One line with an offer and its answers, right-aligned in `room`; an offer stands there as long as it fits what the
// runs do. Returns what an accepted one asks for.
std::optional<Act> quiet_bar(ui::Ui&, const ui::Rect& room, Offers&, const LabView&);

}  // namespace normscope::shell
