// What the window saves is a configuration that gives the same runs again, edits and forks included.
#include <unistd.h>

#include "app/app_state.h"
#include "app/config/session_file.h"
#include "app/program.h"
#include "app/ui/frame.h"
#include "app/ui/robot.h"
#include "catch.hpp"
#include "engine/core/error.h"

using namespace normscope;

namespace {

std::vector<RunSpec> tiny_runs() {
  std::vector<RunSpec> runs;
  for (const ConfigRun& run :
       parse_config(std::string(test::kTiny) + "[run.A]\n[run.B]\ntrain.warmup = 8\n", "tiny")) {
    runs.push_back(run.spec);
  }
  return runs;
}

ForkRequest moved_norms(const LabView& view) {
  ForkRequest request;
  request.source = 0;
  request.spec = *view.runs[0].spec;
  for (const char* place : {"wiring.L01.attn", "wiring.L01.ffn", "wiring.L02.attn", "wiring.L02.ffn"}) {
    set_field(request.spec, place, "before=ln");
  }
  request.note = "4 norms moved";
  return request;
}

/// Two runs trained to step 6, one edited there, one forked from it, all trained to step 10.
void play(Lab& lab) {
  lab.start(tiny_runs(), false);
  lab.play_to(6);
  lab.wait_idle();
  lab.edit(0, "train.rate", "0.001");
  lab.fork(moved_norms(*lab.view()));
  lab.play_to(10);
  lab.wait_idle();
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

TEST_CASE("Ctrl+S saves, a dropped configuration opens, a bad one leaves all as it is") {
  const test::Folder folder;
  Lab lab({.threads = 1, .live_text = false});
  lab.start(tiny_runs(), false);
  lab.wait_idle();
  AppState state;
  state.lab = &lab;
  state.save_as = folder.file("saved.toml");
  ui::Frame loop({1600, 1000});
  ui::Ui ui(ui::load_fonts());
  ui::Robot robot(loop, ui, [&] { draw_app(state, ui); });
  robot.frames(2);
  robot.key("Ctrl+S");
  robot.frames(2);
  CHECK(robot.value("app/message") == "saved " + state.save_as);
  REQUIRE(read_config(state.save_as).size() == 2);

  const std::string one = folder.write("one.toml", std::string(test::kTiny) + "[run]\nname = \"alone\"\n");
  open_file(state, one);
  lab.wait_idle();
  REQUIRE(lab.view()->runs.size() == 1);
  CHECK(lab.view()->runs[0].name == "alone");

  open_file(state, folder.write("bad.toml", "[train]\nwarmup = \"soon\"\n"));
  lab.wait_idle();
  robot.frames(2);
  CHECK(test::holds(robot.value("app/message"), "bad.toml:2: [train.warmup]"));
  CHECK(lab.view()->runs.size() == 1);

  state.save_as = "/dev/null/saved.toml";
  robot.key("Ctrl+S");
  robot.frames(2);
  CHECK(test::holds(robot.value("app/message"), "/dev/null"));
}

TEST_CASE("the runs are saved under a name and opened by it, from the keyboard alone") {
  const test::Folder folder;
  Lab lab({.threads = 1, .live_text = false});
  lab.start(tiny_runs(), false);
  lab.wait_idle();
  AppState state;
  state.lab = &lab;
  ui::Frame loop({1600, 1000});
  ui::Ui ui(ui::load_fonts());
  ui::Robot robot(loop, ui, [&] { draw_app(state, ui); });
  robot.frames(2);
  const auto prompt = [&](const char* key, const std::string& path) {
    robot.key(key);
    robot.frames(3);
    robot.key("Ctrl+A");
    robot.type(path);
    robot.frames(2);
    robot.key("Enter");
    robot.frames(3);
    lab.wait_idle();
    robot.frames(2);
  };
  const std::string two = folder.file("two.toml");
  prompt("Ctrl+Shift+S", two);
  CHECK(robot.value("app/message") == "saved " + two);
  REQUIRE(read_config(two).size() == 2);
  lab.start({tiny_runs()[0]}, false);
  lab.wait_idle();
  prompt("Ctrl+O", two);
  CHECK(robot.value("app/message") == "opened " + two);
  CHECK(lab.view()->runs.size() == 2);
  prompt("Ctrl+O", folder.file("missing.toml"));
  CHECK(test::holds(robot.value("app/message"), "missing.toml"));
  CHECK(lab.view()->runs.size() == 2);
  robot.key("Ctrl+O");
  robot.frames(3);
  robot.key("Escape");
  robot.frames(3);
  CHECK_FALSE(ui.popup_open("app/file"));
}

TEST_CASE("a session's edits come with its runs") {
  std::vector<ConfigRun> runs = parse_config(test::kTiny, "tiny");
  CHECK(session_runs(runs).size() == 1);
  runs[0].edits.push_back({3, "train.rate", "0.1"});
  CHECK(session_edits(runs).at(0) == runs[0].edits);
}
