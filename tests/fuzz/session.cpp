// The gate of a session folder: session.json, and the log of undo and the bookmarks that the window keeps in it.
#include "app/shell/app_state.h"
#include "fuzz.h"
#include "training/session/lab_session.h"

using namespace normscope;

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  return fuzz::mutate_json(data, size, max_size, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static shell::AppState state;
  state.session.view = std::make_shared<const LabView>();
  std::string sidecar(fuzz::text_of(data, size));
  fuzz::accepts([&] { sidecar = parse_session(fuzz::text_of(data, size), "session.json").sidecar; });
  fuzz::accepts([&] { shell::apply_sidecar(state.screens, state.session, sidecar); });
  std::vector<session::Command> commands;
  char selected = 'A';
  for (int i = 0; i < 3; ++i) state.session.undo.undo(commands, selected);
  for (int i = 0; i < 3; ++i) state.session.undo.redo(commands, selected);
  state.session.undo.to_json();
  return 0;
}
