// These tests keep a Lab session in a folder: restored it goes on bit for bit, and a damaged folder changes nothing.
#include "app/files/small_window.h"
#include "training/session/lab_trainer.h"

using namespace normscope;
namespace fs = std::filesystem;

using fixture::quiet_lab, test::Folder;

namespace {

std::vector<RunSpec> tiny_comparison() {
  std::vector<RunSpec> runs = default_comparison();
  for (RunSpec& run : runs) {
    test::make_tiny(run);
    set_field(run, "train.steps", "40");
  }
  return runs;
}

// Leaves four runs at step 20, one of them forked and one edited on the way.
void play_a_little(Lab& lab) {
  lab.post(session::ReplaceRuns{tiny_comparison(), {}, false});
  test::view_after(lab, session::PlayTo{7});
  lab.post(session::EditField{1, "train.lr", "0.001"});
  session::ForkRequest fork;
  fork.spec = *lab.view()->runs[0].spec;
  set_field(fork.spec, "model.placement", "pre");
  fork.note = "12 norms moved";
  lab.post(fork);
  test::view_after(lab, session::PlayTo{20});
}

void check_equal(const LabView& a, const LabView& b) {
  CHECK(a.step == b.step);
  CHECK(a.budget == b.budget);
  REQUIRE(a.runs.size() == b.runs.size());
  for (size_t i = 0; i < a.runs.size(); ++i) {
    const RunView &x = a.runs[i], &y = b.runs[i];
    CHECK(x.letter == y.letter);
    CHECK(*x.spec == *y.spec);
    CHECK(*x.origin == *y.origin);
    CHECK(x.edits == y.edits);
    CHECK(x.loss == y.loss);  // to the bit
    CHECK(x.forked_from == y.forked_from);
    CHECK(x.fork_step == y.fork_step);
    CHECK(x.fork_note == y.fork_note);
  }
}

TEST_CASE("saving twice leaves one complete state and no old files") {
  const Folder folder;
  Lab lab(quiet_lab());
  play_a_little(lab);
  lab.post(session::SaveSession{folder.file("")});
  test::view_after(lab, session::PlayTo{25});
  test::view_after(lab, session::SaveSession{folder.file("")});
  const std::string session = test::read_all(folder.file("session.toml"));
  int runs = 0;
  for (const auto& entry : fs::directory_iterator(folder.path)) {
    const std::string name = entry.path().filename().string();
    INFO(name);
    CHECK((name == "session.toml" || session.find("\"" + name + "\"") != std::string::npos));
    runs += name.ends_with("-2.safetensors");
  }
  CHECK(runs == 4);
  Lab other(quiet_lab());
  test::view_after(other, session::RestoreSession{folder.file(""), false});
  check_equal(*lab.view(), *other.view());
}

TEST_CASE("what lies beside a session is left alone, whatever it is called") {
  const Folder folder;
  fs::create_directories(folder.path);
  std::ofstream(folder.file("mine.safetensors")) << "weights of months";
  Lab lab(quiet_lab());
  play_a_little(lab);
  test::view_after(lab, session::SaveSession{folder.file("")});
  std::ofstream(folder.file("A-99.safetensors")) << "so are these";
  lab.post(session::PlayTo{25});
  test::view_after(lab, session::SaveSession{folder.file("")});
  CHECK(lab.view()->message == "");
  CHECK(fs::exists(folder.file("mine.safetensors")));
  CHECK(fs::exists(folder.file("A-99.safetensors")));
  CHECK_FALSE(fs::exists(folder.file("A-1.safetensors")));  // of the state before
  CHECK(fs::exists(folder.file("A-2.safetensors")));
}

TEST_CASE("a damaged session is said in one line and changes nothing") {
  const Folder folder;
  Lab lab(quiet_lab());
  play_a_little(lab);
  test::view_after(lab, session::SaveSession{folder.file("")});
  const auto before = lab.view();
  std::string file;
  SECTION("no folder") { fs::remove_all(folder.path); }
  SECTION("no TOML") { std::ofstream(folder.file("session.toml")) << "{ half"; }
  SECTION("a checkpoint is cut short") { fs::resize_file(folder.path / "B-1.safetensors", 1000); }
  SECTION("a checkpoint is missing") { fs::remove(folder.path / "C-1.safetensors"); }
  SECTION("a field is of another type") {
    std::ofstream(folder.file("session.toml")) << "[window]\nstep = \"soon\"\n";
  }
  test::view_after(lab, session::RestoreSession{folder.file(""), false});
  CHECK_FALSE(lab.view()->message.empty());
  CHECK_FALSE(test::contains(lab.view()->message, "\n"));
  check_equal(*before, *lab.view());
}

TEST_CASE("runs too large to be kept by themselves are not, and that is said") {
  const Folder folder;
  LabOptions options = quiet_lab();
  options.autosave = folder.file("auto");
  options.autosave_every = 0.01;
  options.autosave_bytes = 1000;
  {
    Lab lab(options);
    lab.post(session::ReplaceRuns{tiny_comparison()});
    for (int i = 0; i < 500 && lab.view()->message.empty(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    CHECK(test::contains(lab.view()->message, "too large to be kept"));
    play_a_little(lab);  // takes the notice away, which is not said again
    lab.post(session::PlayTo{30});
    lab.wait_idle();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // for further attempts
    CHECK(lab.view()->message == "");
  }
  CHECK_FALSE(fs::exists(folder.path / "auto" / "session.toml"));
}

TEST_CASE("the autosave follows by itself and holds the last state at the end") {
  const Folder folder;
  LabOptions options = quiet_lab();
  options.autosave = folder.file("auto");
  options.autosave_every = 0.05;
  double loss = 0;
  {
    Lab lab(options);
    play_a_little(lab);
    for (int i = 0; i < 100 && !fs::exists(folder.path / "auto" / "session.toml"); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    CHECK(fs::exists(folder.path / "auto" / "session.toml"));
    test::view_after(lab, session::PlayTo{30});
    loss = lab.view()->runs[0].loss;
  }
  Lab other(quiet_lab());
  test::view_after(other, session::RestoreSession{folder.file("auto"), false});
  CHECK(other.view()->step == 30);
  CHECK(other.view()->runs.at(0).loss == loss);
}

// What the window saves is a configuration that gives the same runs again, edits and forks included.

using fixture::SmallWindow, fixture::tiny_runs;

session::ForkRequest moved_norms(const LabView& view) {
  session::ForkRequest request;
  request.source = 0;
  request.spec = *view.runs[0].spec;
  for (const char* place : {"wiring.L01.attn", "wiring.L01.ffn", "wiring.L02.attn", "wiring.L02.ffn"}) {
    set_field(request.spec, place, "before=ln");
  }
  request.note = "4 norms moved";
  return request;
}

/// Trains two runs to step 6, edits one there, forks another from it, and trains all to step 10.
void play(Lab& lab) {
  lab.post(session::ReplaceRuns{tiny_runs(), {}, false});
  test::view_after(lab, session::PlayTo{6});
  lab.post(session::EditField{0, "train.lr", "0.001"});
  lab.post(moved_norms(*lab.view()));
  test::view_after(lab, session::PlayTo{10});
}

}  // namespace

TEST_CASE("a saved session replays bit for bit") {
  Lab lab({.threads = 1, .live_text = false});
  play(lab);
  const std::shared_ptr<const LabView> view = lab.view();
  REQUIRE(view->runs.size() == 3);
  const std::string text = write_config(session_of(*view));
  INFO(text);
  const std::vector<ConfigRun> saved = parse_config(text, "saved.toml");
  REQUIRE(saved.size() == 3);
  CHECK(saved[0].edits.size() == 1);
  CHECK(saved[1].edits.empty());
  CHECK(saved[2].letter == 'D');
  CHECK_FALSE(saved[2].edits.empty());

  const std::unique_ptr<Backend> backend = make_cpu_backend(1);
  for (size_t i = 0; i < saved.size(); ++i) {
    Run run(saved[i].spec, make_task(saved[i].spec.data), *backend);
    run.schedule_edits(saved[i].edits);
    while (run.steps_done() < 10) run.step();
    const Series lived = view->runs[i].history->loss(), replayed = run.history()->loss();
    INFO("run " << saved[i].letter);
    REQUIRE(lived.values.size() >= 4);
    // A fork's history begins at the fork.
    const size_t skip = replayed.values.size() - lived.values.size();
    CHECK(lived.values ==
          std::vector<float>(replayed.values.begin() + static_cast<long>(skip), replayed.values.end()));
  }
}

TEST_CASE("a restored session takes the place of the runs that are shown, which undo brings back") {
  SmallWindow window;
  const std::string session = window.folder.file("session");
  window.state.session.asked.emplace_back(session::EditField{0, "train.lr", "0.002"});
  window.settle();
  window.ask(session::SaveSession{session});
  window.state.session.asked.emplace_back(session::ReplaceRuns{{tiny_runs()[0]}, {}, false});
  window.settle();
  window.state.session.asked.emplace_back(session::EditField{0, "train.lr", "0.5"});
  window.settle();
  window.state.shell.offers.last_session = session;
  shell::run_act(window.state, window.ui, view::Act::Restore);
  window.settle();
  REQUIRE(window.view().runs.size() == 2);
  CHECK(window.view().runs[0].spec->train.schedule.peak == 0.002f);
  for (const auto& [runs, rate] : {std::pair{1, 0.5f}, {1, 0.003f}, {2, 0.002f}, {2, 0.003f}}) {
    window.key("Ctrl+Z");
    REQUIRE(window.view().runs.size() == static_cast<size_t>(runs));
    CHECK(window.view().runs[0].spec->train.schedule.peak == rate);
  }
  CHECK_FALSE(window.state.session.can_undo());
}

TEST_CASE("opened files are taken back, those too whose runs are not kept: they are trained again") {
  const std::string text = std::string(test::kTiny) + "[run]\nname = \"alone\"\n";
  const auto trained_again = [&](size_t kept_bytes) {
    LabOptions options = SmallWindow::options();
    options.kept_bytes = kept_bytes;
    SmallWindow window(options);
    const std::string one = window.folder.write("one.toml", text);
    std::vector<std::vector<float>> left;
    for (int i = 0; i < 6; ++i) {
      window.drop(one);
      window.settle();
      CHECK(window.view().message.empty());
      window.lab.post(session::PlayTo{i + 1});
      window.settle();
      left.push_back(test::losses(window.view().runs[0]));
    }
    int again = 0;
    for (size_t i = left.size(); i-- > 1;) {
      window.key("Ctrl+Z");
      window.settle();
      again += test::contains(window.view().message, "from step 0 again");
      REQUIRE(window.view().runs.size() == 1);
      CHECK(test::same_bits(test::losses(window.view().runs[0]), left[i - 1]));
    }
    return again;
  };
  CHECK(trained_again(SmallWindow::options().kept_bytes) == 0);
  CHECK(trained_again(0) == 1);  // the newest four runs are kept in any case
}

TEST_CASE("a session's edits come with its runs") {
  std::vector<ConfigRun> runs = parse_config(test::kTiny, "tiny");
  CHECK(replacing(runs, true).runs.size() == 1);
  runs[0].edits.push_back({3, "train.lr", "0.1"});
  CHECK(replacing(runs, true).edits.at(0) == runs[0].edits);
}
