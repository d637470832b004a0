// These tests keep a Lab session in a folder: restored it goes on bit for bit, and a damaged folder changes nothing.
#include "app/support/live_lab.h"
#include "catch.hpp"
#include "folder.h"
#include "training/session/lab.h"
#include "training/support/tiny.h"

using namespace normscope;
namespace fs = std::filesystem;

using fixture::quiet_lab;
using test::Folder;

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

}  // namespace

TEST_CASE("a saved session is restored and goes on bit for bit") {
  const Folder folder;
  Lab lab(quiet_lab());
  play_a_little(lab);
  REQUIRE(lab.view()->runs.size() == 4);
  lab.post(session::SaveSession{folder.file("")});
  test::view_after(lab, session::PlayTo{33});

  Lab other(quiet_lab());
  test::view_after(other, session::RestoreSession{folder.file(""), false});
  CHECK(other.view()->message == "");
  CHECK(other.view()->step == 20);
  test::view_after(other, session::PlayTo{33});
  check_equal(*lab.view(), *other.view());
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

TEST_CASE("runs start with edits that come in their time") {
  Lab lab(quiet_lab());
  play_a_little(lab);
  std::vector<RunSpec> specs;
  std::vector<std::vector<Edit>> edits;
  for (const RunView& run : lab.view()->runs) {
    specs.push_back(*run.origin);
    edits.push_back(run.edits);
  }
  Lab other(quiet_lab());
  other.post(session::ReplaceRuns{specs, edits, false});
  test::view_after(other, session::PlayTo{20});
  CHECK(other.view()->message == "");
  for (size_t i = 0; i < 4; ++i) {
    CHECK(*other.view()->runs[i].spec == *lab.view()->runs[i].spec);
    CHECK(other.view()->runs[i].history->loss().values.back() ==
          lab.view()->runs[i].history->loss().values.back());
  }
}
