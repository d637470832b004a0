// These tests keep a session as the window does: runs with their plots by layer and bookmarks come back, and what goes
// on from there is what would have gone on.
#include "app/shell/session_window.h"

#include "app/panels/metrics.h"
#include "app/support/live_lab.h"
#include "app/support/program.h"
#include "app/window/desktop.h"
#include "app/window/window_memory.h"
#include "training/session/session_file.h"

using namespace normscope::window;
using namespace normscope;
using namespace shell;
using fixture::LiveDriver;
namespace fs = std::filesystem;

namespace {

// Trains, edits, forks, and sets two bookmarks.
void live_a_little(LiveDriver& lab) {
  lab.train(24);
  lab.driver.key("B");
  lab.driver.drag_by("settings/train.lr", {-30, 0}, "", 6);
  lab.settle();
  lab.train(6);
  lab.driver.key("B");
  session::ForkRequest fork;
  fork.spec = *lab.view().runs[0].spec;
  set_field(fork.spec, "model.placement", "pre");
  fork.note = "norms moved";
  lab.ask(fork);
  lab.train(12);
  lab.driver.frames(2);
}

void check_same_view(const LabView& a, const LabView& b) {
  REQUIRE(a.runs.size() == b.runs.size());
  for (size_t run = 0; run < a.runs.size(); ++run) {
    CHECK(*a.runs[run].spec == *b.runs[run].spec);
    CHECK(a.runs[run].loss == b.runs[run].loss);  // to the bit
  }
}

TEST_CASE("a session comes back with plots and bookmarks, and goes on to the same bits") {
  const test::Folder folder;
  LiveDriver lab;
  live_a_little(lab);
  REQUIRE(lab.view().runs.size() == 4);
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
      const panels::DepthPoints a = panels::along_depth(before, lab.view().runs[run], &kGradNorm, 0, step);
      const panels::DepthPoints b = panels::along_depth(after, other.view().runs[run], &kGradNorm, 0, step);
      CHECK(a.measured());
      CHECK(a.y == b.y);
      CHECK(panels::dependency(before, lab.view().runs[run], step).rows ==
            panels::dependency(after, other.view().runs[run], step).rows);
    }
  for (LiveDriver* driver : {&lab, &other}) driver->train(5);
  check_same_view(lab.view(), other.view());
  for (LiveDriver* driver : {&lab, &other}) {  // and on from an earlier step, without the keyframes of before
    driver->lab.post(session::ForkFrom{1, 35});
    driver->settle();
    driver->lab.post(session::PlayTo{50});
    driver->settle();
  }
  check_same_view(lab.view(), other.view());
}

TEST_CASE("a session is a configuration that replays it, and one checkpoint a run") {
  const test::Folder folder;
  LiveDriver lab;
  live_a_little(lab);
  lab.ask(session::SaveSession{folder.file("session")});
  int files = 0;
  for (const auto& file : fs::directory_iterator(folder.file("session"))) {
    INFO(file.path().string());
    const std::string name = file.path().filename().string();
    CHECK((name == kSessionFile || name.ends_with("-1.safetensors")));
    ++files;
  }
  CHECK(files == 5);
  const std::vector<ConfigRun> saved = read_config(folder.file("session/session.toml"));
  REQUIRE(saved.size() == 4);
  LiveDriver other;
  other.ask(replacing(saved, false));
  other.ask(session::PlayTo{lab.view().step});
  check_same_view(lab.view(), other.view());
}

TEST_CASE("an autosave writes again only what changed, and damaged rows cost the bookmarks alone") {
  const test::Folder folder;
  LabOptions options = fixture::quiet_lab();
  options.autosave = folder.file("auto");
  options.autosave_every = 0.05;
  const auto saved = [&] { return read_session(folder.file("auto")); };
  const auto wait_for = [&](const std::string& what) {
    for (int i = 0; i < 300; ++i) {
      if (fs::exists(folder.file("auto/session.toml")) && test::contains(saved().window, what)) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  };
  Lab lab(options);
  lab.post(session::ReplaceRuns{fixture::small_runs(), {}, false});
  test::view_after(lab, session::PlayTo{10});
  lab.keep(R"({"bookmarks": [3]})");
  REQUIRE(wait_for("[3]"));
  const SavedSession first = saved();
  lab.post(session::EditField{1, "train.lr", "0.001"});
  lab.keep(R"({"bookmarks": "soon"})");
  REQUIRE(wait_for("soon"));
  CHECK(saved().runs[0].file == first.runs[0].file);
  CHECK(saved().runs[1].file != first.runs[1].file);
  LiveDriver other;
  other.ask(session::RestoreSession{folder.file("auto"), false});
  CHECK(other.view().message.empty());
  CHECK(other.view().step == 10);
  CHECK(other.state.screens.lab.transport().bookmarks.empty());
}

TEST_CASE("a session that is opened brings its screen, one that undo brings back leaves it") {
  AppState state;
  const std::string rows = R"({"screen": "lessons"})";
  show_window(state.screens, state.session, state.parts, rows);
  CHECK(state.screens.shown == Screen::Lessons);
  state.screens.shown = Screen::Lab;
  show_window(state.screens, state.session, state.parts, rows, true);
  CHECK(state.screens.shown == Screen::Lab);
}

TEST_CASE("the whole batch is measured on request, marked, and changes no bit") {
  LiveDriver lab, untouched;
  lab.train(8);
  untouched.train(8);
  CHECK_FALSE(panels::of_whole_batch(lab.view().runs[0], 8));
  lab.click("plot/dependency/batch");
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
    "the desktop's wishes, less motion, dark windows and a language, are followed until the person says otherwise") {
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

  const test::Variable all("LC_ALL"), messages("LC_MESSAGES"), language("LANG", "de_AT.UTF-8"),
      ours("NORMSCOPE_LANGUAGE");
  CHECK(system_language() == "de");
  CHECK(WindowMemory(true).settings().language == "de");
  CHECK(WindowMemory(false).settings().language.empty());  // English was chosen: there is a file
  {
    const test::Variable first("LC_ALL", "C.UTF-8");
    CHECK(system_language().empty());
    CHECK(WindowMemory(true).settings().language.empty());
  }
  {
    const test::Variable first("LC_MESSAGES", "fr_FR");
    CHECK(system_language() == "fr");
    CHECK(WindowMemory(true).settings().language.empty());  // there are no French texts
  }

  CHECK(display_scale(1, 1920, 520) == 1);      // 94 px an inch
  CHECK(display_scale(1, 3840, 600) == 1.75f);  // 163
  CHECK(display_scale(1, 3840, 344) == 2.5f);   // a laptop's panel, 284
  CHECK(display_scale(2, 3840, 344) == 2);      // the window system knows
  CHECK(display_scale(1, 3840, 0) == 1);        // no size
  CHECK(display_scale(1, 1920, 16) == 1);       // an aspect ratio instead of a size
}
