// The app state puts together the parts that a frame works on, with the one function that draws a whole frame. Window,
// screenshot command and tests all call draw_app between ImGui::NewFrame and ImGui::Render; where the frames come from
// is up to them.
#pragma once

#include <string>

#include "app/shell/classroom/presentation.h"
#include "app/shell/classroom/teaching.h"
#include "app/shell/files.h"
#include "app/shell/parts/about.h"
#include "app/shell/parts/appearance.h"
#include "app/shell/parts/backend_state.h"
#include "app/shell/parts/link_copy.h"
#include "app/shell/parts/screens.h"
#include "app/shell/parts/shown_session.h"
#include "app/shell/parts/test_switches.h"
#include "app/shell/session_sidecar.h"
#include "app/shell/shell.h"
#include "app/ui/ui.h"

namespace normscope {

// `AppState` is passed whole only to functions that use nearly all of it, such as run_act. A function below draw_app
// takes the parts that it uses.
struct AppState {
  ShownSession session;
  Appearance look;
  BackendState backend;
  Screens screens;
  shell::Files files;
  shell::Shell shell;
  LinkCopy link;
  classroom::Teaching teaching;
  classroom::Presentation presentation;
  SidecarState sidecar;  // as it was last handed over for the saved session
  shell::About about;
  TestSwitches switches;
  std::string notice;  // what the app itself has to say: saved, opened, refused
};

// `draw_app` draws one frame, window-wide, and posts its commands to the Lab.
void draw_app(AppState&, ui::Ui&);

}  // namespace normscope
