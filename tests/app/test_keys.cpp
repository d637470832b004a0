// One table of shortcuts: what it lists is what works, and the sheet shows all of it.
#include <imgui.h>

#include <set>

#include "app/hands/shortcuts.h"
#include "app/session/command_text.h"
#include "app/ui/keys.h"
#include "catch.hpp"
#include "lab_fixture.h"
#include "lab_robot.h"

using namespace normscope;
using namespace normscope::hands;
using fixture::LabRobot;

TEST_CASE("every chord of the table can be parsed and stands once") {
  std::set<std::string> seen;
  for (const Shortcut& s : shortcuts())
    for (const std::string_view chord : {s.chord, s.second}) {
      if (chord.empty()) continue;
      INFO(chord);
      CHECK_NOTHROW(ui::parse_chord(chord));
      CHECK(seen.insert(std::string(chord)).second);
    }
  CHECK(seen.size() > 15);
}

TEST_CASE("the sheet lists every key of the table") {
  LabRobot lab(fixture::lab_view());
  lab.robot.key("?");
  lab.robot.frames(3);
  CHECK(lab.ui.popup_open("app/help"));
  for (const Shortcut& s : shortcuts())
    if (!keys_text(s).empty()) CHECK(lab.robot.value("sheet/" + std::string(s.title)) == keys_text(s));
}

TEST_CASE("the keys of the app do what the table says") {
  LabRobot lab(fixture::lab_view());
  lab.robot.key("Ctrl+=");
  CHECK(lab.state.scale == Approx(1.1f));
  lab.robot.key("Ctrl+-");
  lab.robot.key("Ctrl+-");
  CHECK(lab.state.scale == Approx(0.9f));
  lab.robot.key("Ctrl+0");
  CHECK(lab.state.scale == Approx(1.f));
  lab.robot.key("Space");
  CHECK(lab.last<lab::Pause>());
  lab.robot.key("Right");
  CHECK(lab.last<lab::StepOnce>());
  lab.robot.key("Ctrl+Shift+C");
  CHECK(lab.state.hands.clipboard.starts_with(program_word()));
  lab.robot.key("Ctrl+K");
  lab.robot.frames(2);
  CHECK(lab.ui.popup_open("app/palette"));
}

TEST_CASE("a chord whose modifier is let go first, in the frame of its key, is still the chord") {
  LabRobot lab(fixture::lab_view());
  ImGuiIO& io = ImGui::GetIO();
  const auto ctrl = [&](bool down) {
    io.AddKeyEvent(ImGuiMod_Ctrl, down), io.AddKeyEvent(ImGuiKey_LeftCtrl, down);
  };
  for (const bool one_frame : {false, true, false}) {
    ctrl(true);
    if (!one_frame) lab.robot.frames(1);
    io.AddKeyEvent(ImGuiKey_K, true);
    ctrl(false);
    io.AddKeyEvent(ImGuiKey_K, false);
    lab.robot.frames(1);
    CHECK(lab.ui.popup_open("app/palette"));
    lab.robot.frames(3);
    CHECK_FALSE(io.KeyCtrl);
    CHECK_FALSE(ImGui::IsKeyDown(ImGuiKey_K));
    lab.robot.key("Escape");
    lab.robot.frames(1);
    CHECK_FALSE(lab.ui.popup_open("app/palette"));
  }
}
