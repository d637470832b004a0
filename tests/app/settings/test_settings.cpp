// These tests cover what the window remembers: whole files, XDG folders, broken ones stashed, crashed sessions told
// from running ones.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "app/headless/ui_driver.h"
#include "app/settings/settings.h"
#include "app/settings/settings_rows.h"
#include "app/shell/files.h"
#include "app/shell/settings.h"
#include "app/support/lab_fixture.h"
#include "app/support/live_lab.h"
#include "app/window/window_memory.h"
#include "skip.h"
#include "training/files/places.h"
#include "training/spec/backend_choice.h"

using namespace normscope::shell;
using namespace normscope;
using namespace window;
namespace fs = std::filesystem;

namespace {

// Both XDG folders inside one of the test's own.
struct Home {
  test::Folder folder;
  const test::Variable config{"XDG_CONFIG_HOME", folder.file("config")},
      state{"XDG_STATE_HOME", folder.file("state")};
};

// Does something when it goes, however its block is left.
struct Finally {
  std::function<void()> action;
  ~Finally() { action(); }
};

// Leaves a window that is gone without having closed.
std::string crash(const std::string& state) {
  const AutosaveFolder folder(state);
  std::ofstream(folder.path() + "/session.toml") << "{}";
  return folder.path();
}

// Kills a process that autosaves in the middle of training. Returns its folder afterwards.
std::string crash_while_training(const std::string& state) {
  const pid_t child = fork();
  if (child == 0) {
    AutosaveFolder autosave(state);
    LabOptions options = fixture::quiet_lab();
    options.autosave = autosave.path();
    options.autosave_every = 0.02;
    Lab lab(options);
    std::vector<RunSpec> runs = fixture::small_runs();
    for (RunSpec& run : runs) set_field(run, "train.steps", "100000");
    lab.post(session::ReplaceRuns{runs, {}, true});
    for (;;) pause();
  }
  std::string folder;
  for (int i = 0; i < 500; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(state + "/sessions", error))
      folder = std::max(folder, entry.path().string());
    if (i > 20 && fs::exists(folder + "/session.toml")) break;
  }
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  REQUIRE(WIFSIGNALED(status));
  return folder;
}

TEST_CASE("settings are read back as they were written") {
  const test::Folder folder;
  Settings s{true, 1.25, true, 1333, 777, true};
  s.splits[1] = 0.375f;
  s.language = "de";
  s.recent = {"/home/a/runs \"2\".toml", "/home/a/größe\\text.txt"};
  write_settings(folder.file("a/b/settings.toml"), s);
  const ReadSettings read = read_settings(folder.file("a/b/settings.toml"));
  CHECK(read.existed);
  CHECK(read.notice.empty());
  CHECK(read.settings == s);
  CHECK_FALSE(read_settings(folder.file("none.toml")).existed);
}

TEST_CASE("impossible values give way to the defaults, broken files are set aside in one line") {
  const test::Folder folder;
  const std::string path = folder.write("settings.toml",
                                        "theme = 7\nscale = 900\nwidth = \"wide\"\nheight = 800\n"
                                        "splits = [2, 0, 0, 0, 0, 0, \"left\"]\n");
  ReadSettings read = read_settings(path);
  CHECK(read.settings == Settings{.height = 800});
  CHECK(test::contains(read.notice, "settings.toml:1: theme is 7: expected"));
  CHECK(test::read_all(path + ".bad").starts_with("theme = 7\n"));
  folder.write("settings.toml", "theme = \n\"dark");
  read = read_settings(path);
  CHECK(read.settings == Settings{});
  CHECK(test::contains(read.notice, "settings.toml:"));
  CHECK_FALSE(test::contains(read.notice, "\n"));
  CHECK_FALSE(fs::exists(path));
  CHECK(test::read_all(path + ".bad-2") == "theme = \n\"dark");
}

TEST_CASE("the folders are those of the XDG standard") {
  const Home home;
  CHECK(config_folder() == home.folder.file("config/normscope"));
  CHECK(state_folder() == home.folder.file("state/normscope"));
  const test::Variable relative("XDG_CONFIG_HOME", "not/absolute");
  CHECK(config_folder().ends_with("/.config/normscope"));
}

TEST_CASE("a running session is not offered, a closed one quietly, a crashed one aloud") {
  const test::Folder folder;
  const std::string state = folder.file("state");
  CHECK(ended_sessions(state).empty());
  {
    AutosaveFolder running(state);
    std::ofstream(running.path() + "/session.toml") << "{}";
    CHECK(ended_sessions(state).empty());
    running.close_cleanly();
  }
  REQUIRE(ended_sessions(state).size() == 1);
  CHECK_FALSE(ended_sessions(state)[0].crashed);
  const std::string crashed = crash(state);
  REQUIRE(ended_sessions(state).size() == 2);
  CHECK(ended_sessions(state)[0].path == crashed);
  CHECK(ended_sessions(state)[0].crashed);
  decline(ended_sessions(state)[0]);
  CHECK_FALSE(ended_sessions(state)[0].crashed);
}

TEST_CASE("sessions are kept by sequence, not by the clock: dates ahead remove nothing that crashed today") {
  const test::Folder folder;
  const std::string state = folder.file("state");
  for (const char* dated : {"1893456000000-11", "1893456000001-12", "1893456000002-13"}) {  // in 2030
    const fs::path old = fs::path(state) / "sessions" / dated;
    fs::create_directories(old);
    for (const char* file : {"session.toml", "closed", "lock"}) std::ofstream(old / file) << "{}";
  }
  const std::string first = crash(state), second = crash(state);
  CHECK(fs::exists(first));
  std::vector<EndedSession> ended = ended_sessions(state);
  REQUIRE(ended.size() == 5);
  CHECK(ended[0].path == second);
  CHECK(ended[1].path == first);
  // Those that were answered make room for newer ones; those that were not never do.
  for (int i = 0; i < 4; ++i) decline({crash(state), true});
  ended = ended_sessions(state);
  REQUIRE(ended.size() == 5);
  CHECK(fs::exists(first));
  CHECK(fs::exists(second));
  CHECK_FALSE(fs::exists(fs::path(state) / "sessions" / "1893456000002-13"));
  const AutosaveFolder a(state), b(state);  // at the same moment
  CHECK(a.path() != b.path());
}

TEST_CASE("windows that begin while others look keep their sessions") {
  const test::Folder folder;
  const std::string state = folder.file("state");
  std::vector<std::unique_ptr<AutosaveFolder>> windows;
  std::atomic<bool> done{false};
  {
    const std::jthread looks([&] {
      while (!done) ended_sessions(state);
    });
    const Finally stops{[&] { done = true; }};  // whatever is thrown before
    for (int i = 0; i < 300; ++i) windows.push_back(std::make_unique<AutosaveFolder>(state));
  }
  for (const auto& window : windows) {
    INFO(window->path());
    CHECK(fs::exists(window->path() + "/lock"));
  }
  windows.clear();
  // A folder without a number belongs to a window that begins, or began and was killed long ago.
  const fs::path fresh = fs::path(state) / "sessions" / ".beginning-000000",
                 old = fresh.parent_path() / ".beginning-1";
  for (const fs::path& one : {fresh, old}) {
    fs::create_directories(one);
    std::ofstream(one / "lock") << "";
  }
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(1));
  CHECK(ended_sessions(state).empty());
  CHECK(fs::exists(fresh));
  CHECK_FALSE(fs::exists(old));
}

TEST_CASE("a window that takes the number of one that is being removed keeps its folder") {
  const test::Folder folder;
  const std::string state = folder.file("state");
  int lost = 0;
  {
    std::atomic<bool> done{false};
    const auto look = [&] {
      while (!done) ended_sessions(state);
    };
    const std::jthread looks(look), looks_too(look);
    const Finally stops{[&] { done = true; }};
    for (int i = 0; i < 300; ++i) {
      { const AutosaveFolder never_trained(state); }
      const AutosaveFolder window(state);
      for (int times = 0; times < 3; ++times) {
        std::this_thread::yield();
        lost += !fs::exists(window.path() + "/lock");
      }
    }
  }
  CHECK(lost == 0);
}

TEST_CASE("all windows that crashed are offered, the newest first, and each answer is for one") {
  const Home home;
  const std::string older = crash_while_training(state_folder()),
                    newer = crash_while_training(state_folder());
  {
    WindowMemory memory(false);
    fixture::LiveDriver lab;
    memory.put(lab.state);
    lab.driver.frames(2);
    CHECK(lab.driver.value("app/offer") == "2 windows ended without closing.");
    lab.click("app/offer/close");
    CHECK(lab.driver.value("app/offer").starts_with("The last window ended"));
    memory.keep(lab.state, 0, 0, 1);
    CHECK(fs::exists(newer + "/closed"));
    CHECK_FALSE(fs::exists(older + "/closed"));
    lab.click("app/offer/accept");
    CHECK(lab.view().budget == 100000);
    CHECK_FALSE(lab.state.shell.offers.restore);
    memory.keep(lab.state, 0, 0, 2);
    CHECK(fs::exists(older + "/closed"));
    memory.close(lab.state.notice);  // by hand or by a signal
    CHECK(fs::exists(memory.autosave() + "/closed"));
  }
}

TEST_CASE("after kill -9 in the middle of training the next start offers the session and goes on with it") {
  const Home home;
  crash_while_training(state_folder());
  WindowMemory memory(false);
  fixture::LiveDriver lab;
  memory.put(lab.state);
  lab.driver.frames(2);
  CHECK(test::contains(lab.driver.value("app/offer"), "ended"));
  lab.click("app/offer/accept");
  CHECK(lab.view().message == "");
  CHECK(lab.view().budget == 100000);
  CHECK(lab.view().step > 0);
  CHECK(lab.view().runs.size() == 3);
  CHECK_FALSE(lab.ui.registry().find("app/offer/accept"));
  // Each run goes on as the same run that was never interrupted.
  const int32_t step = lab.view().step;
  lab.train(3);
  const auto backend = make_cpu_backend(1);
  Run whole(*lab.view().runs[1].origin, make_task(lab.view().runs[1].origin->data), *backend);
  while (whole.steps_done() < step + 3) whole.step();
  CHECK(static_cast<float>(whole.last_loss()) == lab.view().runs[1].history->loss().values.back());
}

TEST_CASE("a session that cannot be restored is said and kept") {
  const Home home;
  std::string path;
  {
    AutosaveFolder autosave(state_folder());
    path = autosave.path();
    std::ofstream(path + "/session.toml") << "[window";
  }
  WindowMemory memory(false);
  fixture::LiveDriver lab;
  memory.put(lab.state);
  lab.driver.frames(2);
  lab.click("app/offer/accept");
  lab.driver.frames(3);
  CHECK(test::contains(lab.state.notice, path + "/session.toml:1: not valid TOML"));
  CHECK(fs::exists(path + ".bad/session.toml"));
  CHECK(lab.view().runs.size() == 3);
}

TEST_CASE("in safe mode another architecture can be taken back, and nothing is left of it") {
  const Home home;
  WindowMemory memory(true);
  fixture::LiveDriver lab;
  memory.put(lab.state);
  lab.train(3);
  const double loss = lab.run('A').loss;
  for (int time = 0; time < 2; ++time) {
    lab.state.session.asked.emplace_back(
        session::ReplaceRuns{.runs = {fixture::small_runs(1)[0]}, .play = false});
    lab.settle();
    REQUIRE(lab.view().runs.size() == 1);
    lab.key("Ctrl+Z");
    REQUIRE(lab.view().runs.size() == 3);
    CHECK(lab.run('A').loss == loss);
  }
  CHECK_FALSE(fs::exists(home.folder.file("state")));
}

TEST_CASE("the window's memory writes what settled, and safe mode nothing") {
  const Home home;
  {
    WindowMemory memory(true);
    AppState state;
    memory.put(state);
    CHECK(memory.autosave().empty());
    state.look.dark = true;
    memory.keep(state, 1200, 800, 0);
    memory.keep(state, 1200, 800, 5);
    memory.close(state.notice);
    CHECK_FALSE(fs::exists(home.folder.file("config")));
    CHECK_FALSE(fs::exists(home.folder.file("state")));
    CHECK_FALSE(state.shell.offers.lesson);
    CHECK_FALSE(state.screens.lessons.remembers);
  }
  WindowMemory memory(false);
  AppState state;
  memory.put(state);
  CHECK(state.screens.lessons.remembers);
  CHECK(state.shell.offers.lesson);
  state.look.dark = true;
  memory.keep(state, 1200, 800, 0);
  CHECK_FALSE(fs::exists(config_folder() + "/settings.toml"));
  memory.keep(state, 1200, 800, 2);
  CHECK(read_settings(config_folder() + "/settings.toml").settings.dark);
  state.look.scale = 1.5f;
  memory.close(state.notice);
  memory.keep(state, 0, 0, 3);
  memory.close(state.notice);
  CHECK(read_settings(config_folder() + "/settings.toml").settings.scale == 1.5);
  CHECK(read_settings(config_folder() + "/settings.toml").settings.width == 1200);
}

// The switch of the top bar: what can be chosen, what is grey and why, TF32 beside CUDA only.

struct Bar {
  settings::BackendSwitch state;
  std::optional<BackendChoice> choice;
  float words = 300;
  headless::Frame loop{{1000, 60}};
  ui::Ui ui{ui::load_fonts()};
  headless::UiDriver driver{loop, ui, [this] {
                              ui.begin_frame({});
                              settings::draw_backend_switch(ui, state, {0, 0, 1000, 44}, words, choice);
                              ui.end_frame();
                            }};
};

}  // namespace

TEST_CASE("backend switch: CUDA is chosen, TF32 beside it, CPU again") {
  Bar bar;
  CHECK(bar.driver.value("app/backend") == "CPU");
  bar.driver.click("app/backend/CPU");
  CHECK_FALSE(bar.choice);
  bar.driver.click("app/backend/CUDA");
  REQUIRE(bar.choice);
  CHECK(*bar.choice == BackendChoice{.cuda = true});
  CHECK_THROWS(bar.driver.click("app/tf32"));
  bar.state.now = *bar.choice;
  bar.driver.frames(1);
  CHECK(bar.driver.value("app/backend") == "CUDA");
  bar.driver.click("app/tf32");
  CHECK(*bar.choice == BackendChoice{.cuda = true, .tf32 = true});
  bar.state.now = *bar.choice;
  bar.driver.frames(1);
  bar.driver.click("app/tf32");
  CHECK(*bar.choice == BackendChoice{.cuda = true});
  bar.driver.click("app/backend/CPU");
  CHECK(*bar.choice == BackendChoice{});
}

TEST_CASE("backend switch: where there is no CUDA it says why on hover, and cannot be chosen") {
  Bar bar;
  bar.state.reason = "there is no NVIDIA GPU";
  bar.driver.click("app/backend/CUDA");
  bar.driver.key("Right");
  CHECK_FALSE(bar.choice);
  CHECK(bar.driver.value("app/backend/CUDA") == "not here");
  CHECK_THROWS(bar.driver.control("app/backend/reason"));
  CHECK(test::contains(bar.driver.control("app/backend/CUDA").help, "Not here: there is no NVIDIA GPU."));
}

TEST_CASE("backend switch: a device that was lost is reported") {
  Bar bar;
  bar.state.note = "CUDA stopped, the runs go on on the CPU: [cuda] GPU: launch failure";
  CHECK(bar.driver.value("app/backend/reason") == bar.state.note);
  CHECK(test::contains(bar.driver.control("app/backend").help, "launch failure"));
}

TEST_CASE("a message names a setting as the screen does and no part of the program") {
  const auto said = [](const char* where, const char* why) { return plain_message({"[{}] {}", where, why}); };
  CHECK(said("train.lr", "5: expected 0 to 1") == "learning rate: 5: expected 0 to 1");
  CHECK(said("model.architecture", "x: expected decoder") == "model: x: expected decoder");
  CHECK(said("lab", "there is no run to edit") == "there is no run to edit");
  CHECK(said("session /tmp/S", "cannot be read") == "session /tmp/S: cannot be read");
  CHECK(said("checkpoint a.safetensors", "is damaged") == "checkpoint a.safetensors: is damaged");
  for (const char* plain : {"", "saved lab.toml", "step [3] of 4", "[train.lr", "[lab]"}) {
    INFO(plain);
    CHECK(plain_message(plain) == plain);
  }
}

TEST_CASE("no rule is named for weights that a file has given") {
  const Field* init = find_field("model.init");
  REQUIRE(init);
  RunSpec spec = fixture::small_runs()[0];
  CHECK(settings::display(*init, spec) == "Xavier");
  spec.train.init_from = "somewhere";
  CHECK(settings::display(*init, spec) == "of the file");
}

TEST_CASE("a published model has no settings of another architecture, and its own") {
  LabView view = *fixture::lab_view();
  const Field& encoder = *find_field("model.encoder_layers");
  const Field& depth = *find_field("model.layers");
  const TaskKind* const passage = find_kind("passage");
  CHECK(settings::has_row(encoder, view));
  if (!passage) SKIP_CASE("this build has no published models");
  for (RunView& run : view.runs) {
    RunSpec spec = *run.spec;
    spec.train.init_from = "somewhere";
    run.spec = std::make_shared<const RunSpec>(spec);
    CHECK(settings::has_row(encoder, view));  // a run of one's own that goes on
    spec.data.name = passage->name;
    run.spec = std::make_shared<const RunSpec>(spec);
    CHECK(settings::has_row(encoder, view) ==
          (&run != &view.runs.back()));  // one from scratch needs the list
  }
  CHECK(settings::has_row(depth, view));
}
