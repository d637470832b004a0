// The gate of a session folder: session.json, and the log of undo and the bookmarks that the window keeps in it.
#include "app/shell/app_state.h"
#include "fuzz.h"
#include "training/session/session_file.h"

using namespace normscope;

FUZZ_TARGET(session, fuzz::mutate_json) {
  static shell::AppState state;
  state.session.view = std::make_shared<const LabView>();
  std::string sidecar(input);
  fuzz::accepts([&] { sidecar = parse_session(input, "session.json").sidecar; });
  fuzz::accepts([&] { shell::apply_sidecar(state.screens, state.session, sidecar); });
  std::vector<session::Command> commands;
  char selected = 'A';
  for (int i = 0; i < 3; ++i) state.session.undo.undo(commands, selected);
  for (int i = 0; i < 3; ++i) state.session.undo.redo(commands, selected);
  state.session.undo.to_json();
}
