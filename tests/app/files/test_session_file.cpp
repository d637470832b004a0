// What the window saves is a configuration that gives the same runs again, edits and forks included.
#include "app/files/small_window.h"
#include "catch.hpp"
#include "engine/cpu/backend_cpu.h"
#include "training/session/lab_trainer.h"
#include "training/spec/spec.h"
#include "training/support/lab_runs.h"

using namespace normscope;
using fixture::SmallWindow;
using fixture::tiny_runs;

namespace {

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

TEST_CASE("a dropped configuration opens, a bad one leaves all as it is") {
  SmallWindow window;
  window.drop(window.folder.write("one.toml", std::string(test::kTiny) + "[run]\nname = \"alone\"\n"));
  window.settle();
  REQUIRE(window.view().runs.size() == 1);
  CHECK(window.view().runs[0].name == "alone");

  window.drop(window.folder.write("bad.toml", "[train]\nwarmup = \"soon\"\n"));
  window.settle();
  CHECK(test::contains(window.message(), "bad.toml:2: [train.warmup]"));
  CHECK(window.view().runs.size() == 1);
}

TEST_CASE(
    "an opened file is undone: the runs of before come back as they were, with what was undone in them") {
  SmallWindow window;
  const std::string one =
      window.folder.write("one.toml", std::string(test::kTiny) + "[run]\nname = \"alone\"\n");
  window.lab.post(session::EditField{0, "train.lr", "0.002"});
  window.ask(session::PlayTo{6});
  window.click("settings/train.batch");
  window.driver.key("Escape");
  window.state.screens.lab.transport().bookmarks = {3};
  window.driver.frames(2);
  const std::vector<float> losses = window.view().runs[0].history->loss().values;
  REQUIRE(losses.size() == 6);
  for (int round = 0; round < 2; ++round) {
    window.drop(one);
    window.settle();
    REQUIRE(window.view().runs.size() == 1);
    window.key("Ctrl+Z");
    CHECK(window.message() == "the earlier runs are back");
    REQUIRE(window.view().runs.size() == 2);
    CHECK(window.view().step == 6);
    CHECK(window.view().runs[0].history->loss().values == losses);
    CHECK(window.view().runs[0].spec->train.schedule.peak == 0.002f);
    CHECK(window.state.screens.lab.transport().bookmarks == std::vector<int>{3});
  }
  window.key("Ctrl+Shift+Z");
  REQUIRE(window.view().runs.size() == 1);
  CHECK(window.view().runs[0].name == "alone");
  CHECK(window.state.session.undo.can_undo());
}

TEST_CASE("edits from before a file was opened are undone after it was") {
  SmallWindow window;
  const std::string one =
      window.folder.write("one.toml", std::string(test::kTiny) + "[run]\nname = \"alone\"\n");
  const float rate = window.view().runs[0].spec->train.schedule.peak;
  window.state.session.asked.emplace_back(session::EditField{0, "train.lr", "0.002"});
  window.settle();
  window.drop(one);
  window.settle();
  window.state.session.asked.emplace_back(session::EditField{0, "train.lr", "0.5"});
  window.settle();
  CHECK(window.view().runs[0].spec->train.schedule.peak == 0.5f);
  for (int i = 0; i < 3; ++i) {
    window.key("Ctrl+Z");
  }
  REQUIRE(window.view().runs.size() == 2);
  CHECK(window.view().runs[0].spec->train.schedule.peak == rate);
  CHECK_FALSE(window.state.session.undo.can_undo());
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
  CHECK_FALSE(window.state.session.undo.can_undo());
}

TEST_CASE("only the newest opened files can be undone, and fewer where memory has no room for them") {
  const std::string text = std::string(test::kTiny) + "[run]\nname = \"alone\"\n";
  const auto undone = [&](int64_t memory) {
    LabOptions options = SmallWindow::options();
    options.memory = memory;
    SmallWindow window(options);
    const std::string one = window.folder.write("one.toml", text);
    for (int i = 0; i < 6; ++i) {
      window.drop(one);
      window.settle();
      CHECK(window.view().message.empty());
    }
    int count = 0;
    for (; window.state.session.undo.can_undo(); ++count) {
      window.key("Ctrl+Z");
      CHECK(window.message() == "the earlier runs are back");
      CHECK(window.view().runs.size() == 1);
    }
    return count;
  };
  const int64_t run = estimated_bytes(*SmallWindow().view().runs[0].spec);
  CHECK(undone(0) == static_cast<int>(kMostSessions));
  CHECK(undone(3 * run + run / 2) == 2);
}

TEST_CASE("a session's edits come with its runs") {
  std::vector<ConfigRun> runs = parse_config(test::kTiny, "tiny");
  CHECK(replacing(runs, true).runs.size() == 1);
  runs[0].edits.push_back({3, "train.lr", "0.1"});
  CHECK(replacing(runs, true).edits.at(0) == runs[0].edits);
}

TEST_CASE("an opened configuration's runs keep their letters, in the copied line too") {
  SmallWindow window;
  window.drop(window.folder.write(
      "ac.toml", std::string(test::kTiny) + "[run.A]\n[run.C]\nmodel.placement = \"pre\"\n"));
  window.settle();
  REQUIRE(window.view().runs.size() == 2);
  CHECK(window.view().runs[1].letter == 'C');
  CHECK(window.view().runs[1].name == "Pre-LN, no warm-up");
  CHECK(replacing(session_of(window.view()), true).letters == "AC");
  shell::run_act(window.state, window.ui, view::Act::CopyCommand);
  CHECK(test::contains(window.state.shell.clipboard, "--run C=pre"));
  session::ForkRequest fork = moved_norms(window.view());
  fork.source = 1;
  window.ask(fork);
  REQUIRE(window.view().runs.size() == 3);
  CHECK(test::contains(window.driver.control("run/D").help, "Forked from C"));
}
