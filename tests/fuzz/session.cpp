// The gate of a session folder: session.toml, and the window's rows in it.
#include "training/session/session_file.h"

#include "app/shell/app_state.h"
#include "fuzz.h"

using namespace normscope;

FUZZ_TARGET(session) {
  static shell::AppState state;
  state.session.view = std::make_shared<const LabView>();
  std::string rows(input);
  fuzz::accepts([&] { rows = parse_session(input, "session.toml").window; });
  fuzz::accepts([&] { shell::show_window(state.screens, state.session, state.parts, rows); });
  fuzz::accepts([&] { shell::window_rows(state.screens, state.parts); });
}
