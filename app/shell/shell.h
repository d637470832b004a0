// Everything that works the same on every screen: shortcuts, palette, undo, glossary, guessing game, the quiet bar
// of the top line. draw_app calls begin_shell before the screens and draw_shell after them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/shell/files.h"
#include "app/shell/guessing_game.h"
#include "app/shell/palette.h"
#include "app/shell/undo.h"

namespace normscope {
struct AppState;
}

namespace normscope::shell {

struct Shell {
  UndoLog undo;
  PaletteState palette;
  GuessingGame guessing_game;
  FilePrompt file;
  Files files;
  std::string glossary;      // the entry that is kept open
  std::string last_session;  // a folder that can be restored; empty: none
  // Sessions whose window did not close, the newest first: offered one after the other.
  std::vector<std::string> lost;
  std::string restoring;         // asked for, not answered yet
  uint64_t restore_asked = 0;    // version of the view then
  bool offer_restore = false;    // the first of these is offered
  bool offer_game = false;     // the first run: invite
  bool offer_lesson = false;     // the guessing game was played: what comes next
  bool offers_answered = false;  // set when the person answered one: the window remembers
  std::optional<double> person;  // nats a letter of the guessing game
  std::string clipboard;         // what was copied last (a window puts it on the clipboard too)
  bool swapping = false;         // an undo brings a whole session back: its own log is not to be taken
  char selected_before = 'A';
  size_t own_commands = 0;  // of this frame: they are not noted again
};

// Keys of the whole app; may add commands.
void begin_shell(AppState&, ui::Ui&);
// Palette, glossary, guessing game; notes what the screens asked for.
void draw_shell(AppState&, ui::Ui&);
// What a key, the palette or a button asks for.
void run_act(AppState&, ui::Ui&, Act);

// The search box of the top bar; `wide`: with its text.
void search_box(AppState&, ui::Ui&, const ui::Rect&, bool wide);
// One line with an offer and its answers, right-aligned in `room`; true when there was one.
bool quiet_bar(AppState&, ui::Ui&, const ui::Rect& room);

}  // namespace normscope::shell
