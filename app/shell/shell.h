// Everything that works the same on every screen: shortcuts, palette, undo, glossary, the
// quiet bar of the top line. draw_app calls begin_shell before the screens and draw_shell after them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/shell/gesture.h"
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
  bool strip = false;     // the welcome's room over the Lab stays while the hand holds something
  bool lesson = false;    // the first lesson, after the welcome
  bool answered = false;  // set when the person answered one: the window remembers

  std::string last_session;  // a folder that can be restored; empty: none
  // Sessions whose window did not close, the newest first: offered one after the other.
  std::vector<std::string> lost;
  std::string restoring;               // the folder asked for and not restored yet
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
  Gestures gestures;
  session::Hand hand;                   // in this frame
  session::Ticket step_back_shown = 0;  // of LabView::step_back
};

// Gives the trainer this frame's commands so far, and passes on their tickets.
void post_commands(AppState&);
// Handles the keys of the whole app; it may add commands.
void begin_shell(AppState&, ui::Ui&);
// Draws palette and glossary, and notes the screens' requests.
void draw_shell(AppState&, ui::Ui&);
// Copies to the clipboard and says so.
void copy_text(const std::string& text, const char* what, Shell&, Message& notice);
// Carries out the act of a key, the palette or a button, or says why it is refused.
void run_act(AppState&, ui::Ui&, view::Act);
// Why an act would be refused now; empty: it would not.
std::string refusal_of(const AppState&, const ui::Ui&, view::Act);
std::string refusal_of(const AppState&, const ui::Ui&, const PaletteItem&);
// Whether the Lab must be shown first: for a placement, or a control that this frame has not drawn.
bool is_hidden(const ui::Ui&, const PaletteItem&);

// The search box of the top bar; `wide`: with its text. It returns true when it was clicked, which asks
// for the palette.
bool search_box(ui::Ui&, const ui::Rect&, bool wide);
// One line with an offer and its answers, right-aligned in `room`; an offer stays until it is answered. It returns
// what an accepted offer asks for.
std::optional<view::Act> quiet_bar(ui::Ui&, const ui::Rect& room, Offers&, const LabView&);

// The welcome stands above the Lab at the first start: a sentence on what trains and what to do, and two equal
// buttons, for a tour of the Lab and for the first lesson.

/// Takes a strip off the top of `area` while the welcome is unanswered and three runs of letters are shown, then while
/// the tour goes on. Returns Act::FirstLesson if it was chosen. Dragging a norm, which adds a run, counts as an answer.
std::optional<view::Act> draw_welcome(ui::Ui& ui, ui::Rect& area, Offers& offers, const LabView& view);

/// Lights up the controls of the tour's stop; called after the Lab.
void draw_tour(ui::Ui& ui, const Offers& offers);

}  // namespace normscope::shell
