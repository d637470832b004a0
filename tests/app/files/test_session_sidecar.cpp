// These tests keep a session as the window does: runs with their plots by layer, keyframes, forks that were stashed,
// bookmarks and the undo log come back, and what goes on from there is what would have gone on.
#include "app/shell/session_sidecar.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <filesystem>
#include <thread>

#include "app/panels/metrics.h"
#include "app/support/live_lab.h"
#include "app/support/program.h"
#include "app/window/desktop.h"
#include "app/window/window_memory.h"
#include "catch.hpp"

using namespace normscope::window;
using namespace normscope;
using namespace shell;
using fixture::LiveDriver;
namespace fs = std::filesystem;

namespace {

void fork_to_pre(LiveDriver& lab) {
  session::ForkRequest fork;
  fork.spec = *lab.view().runs[0].spec;
  set_field(fork.spec, "model.placement", "pre");
  fork.note = "norms moved";
  const session::Command command = fork;
  const session::Ticket ticket = lab.lab.post(command);
  lab.state.session.undo.note(lab.view(), std::span(&command, 1), std::span(&ticket, 1), 'A', 'D', false);
  lab.settle();
}

// `live_a_little` trains, edits, forks twice with one fork taken back, and sets two bookmarks.
void live_a_little(LiveDriver& lab) {
  lab.train(24);
  lab.driver.key("B");
  lab.driver.drag_by("settings/train.lr", {-30, 0}, "", 6);
  lab.settle();
  lab.train(6);
  lab.driver.key("B");
  fork_to_pre(lab);
  lab.train(10);
  lab.driver.key("Ctrl+Z");  // D is stashed
  lab.settle();
  lab.train(2);
  lab.driver.frames(2);
}

}  // namespace

TEST_CASE("a session comes back with plots, bookmarks, undo and the stashed fork") {
  const test::Folder folder;
  LiveDriver lab;
  live_a_little(lab);
  REQUIRE(lab.view().runs.size() == 3);
  REQUIRE(lab.state.session.undo.can_redo());
  lab.ask(session::SaveSession{folder.file("session")});
  REQUIRE(lab.view().message.empty());

  LiveDriver other;
  other.ask(session::RestoreSession{folder.file("session"), false});
  REQUIRE(other.view().message.empty());
  CHECK(other.view().step == lab.view().step);
  CHECK(other.state.screens.lab.transport().bookmarks == lab.state.screens.lab.transport().bookmarks);
  CHECK(other.state.screens.lab.transport().bookmarks.size() == 2);
  // Plots by layer are there at every earlier step, with the same numbers.
  view::LabData before, after;
  for (size_t run = 0; run < 3; ++run)
    for (int step : {1, 13, 24, 40}) {
      const panels::DepthPoints a =
          panels::along_depth(before, lab.view().runs[run], panels::Metric::Gradient, 0, step);
      const panels::DepthPoints b =
          panels::along_depth(after, other.view().runs[run], panels::Metric::Gradient, 0, step);
      CHECK(a.measured());
      CHECK(a.y == b.y);
      CHECK(panels::dependency(before, lab.view().runs[run], step).rows ==
            panels::dependency(after, other.view().runs[run], step).rows);
    }
  // What was taken back is done again, and then everything is undone to the start, in both.
  for (LiveDriver* driver : {&lab, &other}) {
    driver->driver.key("Ctrl+Shift+Z");
    driver->settle();
    REQUIRE(driver->view().runs.size() == 4);
    driver->train(5);
  }
  for (size_t run = 0; run < 4; ++run)
    CHECK(lab.view().runs[run].loss == other.view().runs[run].loss);  // to the bit
  for (int i = 0; i < 10 && other.state.session.undo.can_undo(); ++i) {
    other.driver.key("Ctrl+Z");
    other.settle();
  }
  CHECK(other.view().runs.size() == 3);
  CHECK(other.view().runs[0].spec->train.schedule.peak == 0.003f);
}

TEST_CASE("play on from an earlier step begins at a keyframe that was kept, and ends at the same bits") {
  const test::Folder folder;
  LiveDriver lab;
  lab.train(58);
  lab.ask(session::SaveSession{folder.file("session")});
  int keyframes = 0;
  for (const auto& file : fs::directory_iterator(folder.file("session")))
    keyframes += file.path().filename().string().find("-step") != std::string::npos;
  CHECK(keyframes == 6);  // steps 20 and 40 of three runs
  LiveDriver other;
  other.ask(session::RestoreSession{folder.file("session"), false});
  REQUIRE(other.view().message.empty());
  for (LiveDriver* driver : {&lab, &other}) {
    driver->lab.post(session::ForkFrom{1, 45});
    driver->settle();
    REQUIRE(driver->view().runs.size() == 4);
    driver->lab.post(session::PlayTo{60});
    driver->settle();
  }
  CHECK(lab.view().runs[3].loss == other.view().runs[3].loss);
}

TEST_CASE(
    "an autosave writes again only what changed, and a damaged session sidecar costs the bookmarks alone") {
  const test::Folder folder;
  LabOptions options = fixture::quiet_lab();
  options.autosave = folder.file("auto");
  options.autosave_every = 0.05;
  // As the session names it: the file of before is removed only after that.
  const auto written = [&](char letter) {
    const auto json = nlohmann::json::parse(test::read_all(folder.file("auto/session.json")));
    for (const auto& run : json.at("runs"))
      if (run.at("letter") == std::string(1, letter)) return run.at("file").get<std::string>();
    return std::string();
  };
  const auto wait_for = [&](const std::string& what) {
    for (int i = 0; i < 300; ++i) {
      if (fs::exists(folder.file("auto/session.json")) &&
          test::contains(test::read_all(folder.file("auto/session.json")), what))
        return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  };
  Lab lab(options);
  lab.post(session::ReplaceRuns{fixture::small_runs(), {}, false});
  test::view_after(lab, session::PlayTo{10});
  lab.keep("first");
  REQUIRE(wait_for("\"first\""));
  const std::string a = written('A'), b = written('B');
  lab.post(session::EditField{1, "train.lr", "0.001"});
  lab.keep("no json at all");
  REQUIRE(wait_for("no json at all"));
  CHECK(written('A') == a);
  CHECK(written('B') != b);
  LiveDriver other;
  other.ask(session::RestoreSession{folder.file("auto"), false});
  CHECK(other.view().message.empty());
  CHECK(other.view().step == 10);
  CHECK(other.state.screens.lab.transport().bookmarks.empty());
}

TEST_CASE("a session that is opened brings its screen, one that undo brings back leaves it") {
  AppState state;
  KeptWindow window;
  window.shown = Screen::Tape;
  const std::string text = sidecar_text(state.screens.lab, state.session.undo, window);
  const ComingBack opened{1, false}, undone{2, true};  // where something was done before
  apply_sidecar(state.screens, state.session, text, {}, &opened);
  CHECK(state.screens.shown == Screen::Tape);
  state.screens.shown = Screen::Compare;
  apply_sidecar(state.screens, state.session, text, {}, &undone);
  CHECK(state.screens.shown == Screen::Compare);
}

TEST_CASE("the whole batch is measured on request, marked, and changes no bit") {
  LiveDriver lab, untouched;
  lab.train(8);
  untouched.train(8);
  CHECK_FALSE(panels::of_whole_batch(lab.view().runs[0], 8));
  lab.driver.click("plot/dependency/batch");
  lab.settle();
  REQUIRE(panels::of_whole_batch(lab.view().runs[0], 8));
  CHECK(lab.view().runs[0].batch->sequences == 4);
  view::LabData data;
  const panels::Dependency whole = panels::dependency(data, lab.view().runs[0], 8);
  RunView live = lab.view().runs[0];
  live.batch.reset();
  const panels::Dependency one = panels::dependency(data, live, 8);
  REQUIRE(whole.measured());
  REQUIRE(whole.rows.size() == one.rows.size());
  CHECK(whole.rows != one.rows);
  for (size_t i = 0; i < whole.rows.size(); ++i) {
    double sum = 0;
    for (size_t j = 0; j < whole.rows[i].size(); ++j) {
      sum += whole.rows[i][j];
      CHECK(std::fabs(whole.rows[i][j] - one.rows[i][j]) < 0.25);  // the same thing, over more sequences
    }
    CHECK(sum == Approx(whole.sums[i]).epsilon(1e-4));
  }
  bool marked = false;
  for (const ui::TextRecord& text : lab.ui.texts()) marked = marked || text.text == "whole batch, step 8";
  CHECK(marked);
  lab.train(8);
  untouched.train(8);
  for (size_t run = 0; run < 3; ++run) CHECK(lab.view().runs[run].loss == untouched.view().runs[run].loss);
}

namespace {

// Puts a program of one's own in the place of gsettings, as long as this lives.
struct Gsettings {
  explicit Gsettings(const std::string& script) {
    const std::string program = folder.write("gsettings", "#!/bin/sh\n" + script + "\n");
    fs::permissions(program, fs::perms::owner_all);
  }

  test::Folder folder;
  const test::Variable path{"PATH", folder.file("") + ":" + std::getenv("PATH")},
      config{"XDG_CONFIG_HOME", folder.file("config")}, motion{"NORMSCOPE_REDUCED_MOTION"};
};

}  // namespace

TEST_CASE("GNOME's switch is asked for through gsettings, and nobody waits for it") {
  const auto ask = [](const char* script, int patience = 5000) {
    const Gsettings program(script);
    return ask_gnome_reduced_motion(std::chrono::milliseconds(patience)).get();
  };
  CHECK(ask("[ \"$1 $2 $3\" = 'get org.gnome.desktop.interface enable-animations' ] && echo false") == true);
  CHECK(ask("echo true") == false);
  CHECK_FALSE(ask("echo 'No such schema' >&2; exit 1").has_value());
  CHECK_FALSE(ask("echo false; exit 1").has_value());
  CHECK_FALSE(ask("echo false; exec sleep 60", 100).has_value());
}

TEST_CASE("an answer of GNOME that comes late is followed, unless the person chose meanwhile") {
  const Gsettings program("sleep 0.2; echo false");
  for (const bool chosen : {false, true}) {
    WindowMemory memory(true);
    AppState state;
    memory.put(state);
    CHECK_FALSE(state.look.reduced_motion);
    if (chosen) state.look.reduced_motion = true;
    for (int i = 0; i < (chosen ? 40 : 300); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      memory.keep(state, 0, 0, 0);
      if (state.look.reduced_motion && !chosen) break;
    }
    CHECK(state.look.reduced_motion);
    if (!chosen) {
      state.look.reduced_motion = false;
      memory.keep(state, 0, 0, 0);
      CHECK_FALSE(state.look.reduced_motion);
    }
  }
}

TEST_CASE(
    "the desktop's wishes, less motion and dark windows, are followed until the person says otherwise") {
  const test::Folder folder;
  const test::Variable config("XDG_CONFIG_HOME", folder.file("")), motion("NORMSCOPE_REDUCED_MOTION");
  CHECK_FALSE(system_reduced_motion().has_value());
  fs::create_directories(folder.file("gtk-3.0"));
  folder.write("gtk-3.0/settings.ini", "[Settings]\ngtk-enable-animations = 0\n");
  CHECK(system_reduced_motion() == true);
  fs::create_directories(folder.file("gtk-4.0"));
  folder.write("gtk-4.0/settings.ini", "[Settings]\ngtk-enable-animations=true\n");
  CHECK(system_reduced_motion() == false);
  CHECK_FALSE(system_dark().has_value());
  folder.write("gtk-3.0/settings.ini", "[Settings]\ngtk-application-prefer-dark-theme = 1\n");
  CHECK(system_dark() == true);
  CHECK(WindowMemory(false).settings().dark);
  CHECK(WindowMemory(true).settings().dark);
  fs::create_directories(folder.file("normscope"));
  folder.write("normscope/settings.toml", "theme = \"light\"\n");
  CHECK_FALSE(WindowMemory(false).settings().dark);
  folder.write("gtk-4.0/settings.ini", "[Settings]\ngtk-application-prefer-dark-theme=false\n");
  CHECK(system_dark() == false);
  {
    const test::Variable asked("NORMSCOPE_REDUCED_MOTION", "1");
    CHECK(system_reduced_motion() == true);
  }
  fs::remove_all(folder.file("gtk-4.0"));
  fs::remove_all(folder.file("gtk-3.0"));
  folder.write("kdeglobals", "[KDE]\nAnimationDurationFactor=0\n");
  CHECK(system_reduced_motion() == true);

  CHECK(display_scale(1, 1920, 520) == 1);      // 94 px an inch
  CHECK(display_scale(1, 3840, 600) == 1.75f);  // 163
  CHECK(display_scale(1, 3840, 344) == 2.5f);   // a laptop's panel, 284
  CHECK(display_scale(2, 3840, 344) == 2);      // the window system knows
  CHECK(display_scale(1, 3840, 0) == 1);        // no size
  CHECK(display_scale(1, 1920, 16) == 1);       // an aspect ratio instead of a size
}
