// Everything that works the same on every screen: shortcuts, palette, undo, glossary, the
// quiet bar of the top line. draw_app calls begin_shell before the screens and draw_shell after them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/shell/palette.h"
#include "app/view/screen.h"
#include "engine/core/error.h"

namespace normscope::shell {

struct AppState;

// The offers of the quiet bar in the top line, and the sessions that can be restored.
struct Offers {
  bool restore = false;   // the first of the lost sessions
  bool welcome = false;   // the first start: a description of the program, and where to begin
  int tour = 0;           // the stop of the tour of the Lab, from 1; 0: none is made
  bool strip = false;     // the room over the Lab that its words had
  bool lesson = false;    // after the welcome comes the first lesson
  bool answered = false;  // set when the person answered one: the window remembers

  std::string last_session;  // a folder that can be restored; empty: none
  // Sessions whose window did not close, the newest first: offered one after the other.
  std::vector<std::string> lost;
  std::string restoring;               // asked for, not answered yet
  session::Ticket restore_ticket = 0;  // of the command that does; 0: not posted
};

// The folder that is restored next; empty: there is none.
inline const std::string& next_to_restore(const Offers& offers) {
  return offers.lost.empty() ? offers.last_session : offers.lost.front();
}

struct Shell {
  PaletteState palette;
  Offers offers;
  std::string glossary;   // the glossary entry that is kept open
  std::string clipboard;  // the last copied text (a window also puts it on the clipboard)
  std::string page;       // the address that a copied link begins with; empty: a command is copied instead
  char selected_before = 'A';
  size_t own_commands = 0;  // number in this frame; undo must not note them again
};

// Gives the trainer this frame's commands so far, and passes on their tickets.
void post_commands(AppState&);
// Handles the keys of the whole app; it may add commands.
void begin_shell(AppState&, ui::Ui&);
// Draws palette and glossary, and notes the screens' requests.
void draw_shell(AppState&, ui::Ui&);
// Copies to the clipboard and says so.
void copy_text(const std::string& text, const char* what, Shell&, Message& notice);
// Does the act of a key, the palette or a button, and says why it is refused.
void run_act(AppState&, ui::Ui&, view::Act);
// Why an act would be refused now; empty: it would not.
std::string refusal_of(const AppState&, const ui::Ui&, view::Act);
std::string refusal_of(const AppState&, const ui::Ui&, const PaletteItem&);
// Whether the item is on the Lab's screen while another screen is shown.
bool is_hidden(const ui::Ui&, const PaletteItem&);

// The search box of the top bar; `wide`: with its text. It returns true when it was clicked, which asks
// for the palette.
bool search_box(ui::Ui&, const ui::Rect&, bool wide);
// One line with an offer and its answers, right-aligned in `room`; an offer stays as long as it fits the
// state of the runs. It returns what an accepted offer asks for.
std::optional<view::Act> quiet_bar(ui::Ui&, const ui::Rect& room, Offers&, const LabView&);

// Says above the Lab of a first start what is training there and what to do, in one sentence, and invites
// to the course and to the Lab with equal ease.

/// Takes its strip off the top of `area` while nobody has answered and the runs are still the sentence's, and then
/// while the tour goes on. It returns the first lesson where that was chosen. A norm that was dragged is an answer too.
std::optional<view::Act> draw_welcome(ui::Ui& ui, ui::Rect& area, Offers& offers, const LabView& view);

/// Lights up the controls of the tour's stop; called after the Lab.
void draw_tour(ui::Ui& ui, const Offers& offers);

}  // namespace normscope::shell
