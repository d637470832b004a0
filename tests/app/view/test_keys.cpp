// The one table of shortcuts lists what works, and the sheet shows all of it.
#include <imgui.h>

#include "app/support/lab_driver.h"
#include "app/support/lab_fixture.h"
#include "app/ui/keys.h"
#include "app/view/shortcuts.h"
#include "catch.hpp"
#include "training/files/command_text.h"

using namespace normscope;
using fixture::LabDriver;

TEST_CASE("every chord of the table can be parsed and stands once") {
  std::set<std::string> seen;
  for (const view::Shortcut& s : view::shortcuts())
    for (const std::string_view chord : {s.chord, s.second}) {
      if (chord.empty()) continue;
      INFO(chord);
      CHECK_NOTHROW(ui::parse_chord(chord));
      CHECK(seen.insert(std::string(chord)).second);
    }
  CHECK(seen.size() > 15);
}

TEST_CASE("Ctrl+Shift+C copies the command that makes these runs") {
  LabDriver lab(fixture::lab_view());
  lab.driver.key("Ctrl+Shift+C");
  CHECK(lab.state.shell.clipboard.starts_with(program_word()));
}

TEST_CASE("the sheet lists every key of the table") {
  LabDriver lab(fixture::lab_view());
  lab.key("?");
  CHECK(lab.ui.popup_open("app/help"));
  for (const view::Shortcut& s : view::shortcuts())
    if (!view::keys_text(s).empty())
      CHECK(lab.driver.value("sheet/" + std::string(s.title)) == view::keys_text(s));
}

TEST_CASE("a chord whose modifier is let go first, in the frame of its key, is still the chord") {
  LabDriver lab(fixture::lab_view());
  ImGuiIO& io = ImGui::GetIO();
  const auto ctrl = [&](bool down) {
    io.AddKeyEvent(ImGuiMod_Ctrl, down);
    io.AddKeyEvent(ImGuiKey_LeftCtrl, down);
  };
  for (const bool one_frame : {false, true, false}) {
    ctrl(true);
    if (!one_frame) lab.driver.frames(1);
    io.AddKeyEvent(ImGuiKey_K, true);
    ctrl(false);
    io.AddKeyEvent(ImGuiKey_K, false);
    lab.driver.frames(1);
    CHECK(lab.ui.popup_open("app/palette"));
    lab.driver.frames(3);
    CHECK_FALSE(io.KeyCtrl);
    CHECK_FALSE(ImGui::IsKeyDown(ImGuiKey_K));
    lab.key("Escape");
    CHECK_FALSE(lab.ui.popup_open("app/palette"));
  }
}
