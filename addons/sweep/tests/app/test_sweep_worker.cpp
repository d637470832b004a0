// These tests cover the thread that trains the sweep on screen, on a model that takes no time: what it publishes,
// stopped and gone on with, other plans meanwhile; to the same records as the command.
#include "addons/sweep/app/sweep_writers.h"
#include "addons/sweep/app/worker.h"
#include "app/support/gate.h"
#include "app/support/program.h"
#include "catch.hpp"
#include "training/session/lab.h"
#include "training/support/lab_runs.h"
#include "training/support/tiny.h"

namespace normscope::sweep {
namespace {

Plan quick_plan(int32_t steps, const char* rates = "train.lr=1e-3,1e-2") {
  Plan plan;
  plan.set = test::tiny_set();
  plan.steps = steps;
  const RunSpec base = base_of(plan);
  plan.axes = {axis_from(rates, base), axis_from("train.warmup=0,8", base)};
  return plan;
}

std::string json_text(const Grid& grid) { return to_json(grid).dump(); }

}  // namespace

TEST_CASE("sweep worker: what it trains is what the command trains, and is found at once next time") {
  const test::Folder folder;
  const Plan plan = quick_plan(12);
  experiments::ResultStore none("");
  const experiments::StudyResults direct = train({.name = "sweep", .runs = runs_of(plan)}, none, {},
                                                 [](const experiments::Progress&) { return true; });
  const std::string expected =
      json_text(grid_of(plan, runs_of(plan), direct.runs, predictions_of(plan, runs_of(plan))));
  {
    Worker worker(folder.file("store"));
    worker.start(plan, true);
    worker.wait();
    const auto state = worker.state();
    CHECK(state->phase == Phase::Done);
    CHECK(state->error.empty());
    CHECK(json_text(*state->grid) == expected);
  }
  Worker again(folder.file("store"));
  again.start(plan, false);
  again.wait();
  CHECK(again.state()->phase == Phase::Done);
  CHECK(json_text(*again.state()->grid) == expected);
}

TEST_CASE("sweep worker: nothing is trained unasked, and a plan that is none says why") {
  Worker worker("");
  worker.start(quick_plan(12), false);
  worker.wait();
  CHECK(worker.state()->phase == Phase::Ready);
  CHECK(worker.state()->grid->known == 0);
  CHECK(worker.state()->left() == 4);
  Plan twice = quick_plan(12);
  twice.axes[1] = twice.axes[0];
  worker.start(twice, true);
  worker.wait();
  CHECK(test::contains(worker.state()->error, "both axes"));
  worker.start(quick_plan(12), true);
  worker.wait();
  CHECK(worker.state()->phase == Phase::Done);
  CHECK(worker.state()->error.empty());
}

TEST_CASE("sweep worker: paused, it goes on to the same records; wider axes keep what is known") {
  const test::Folder folder;
  const Plan plan = quick_plan(40);
  experiments::ResultStore none("");
  const experiments::StudyResults direct = train({.name = "sweep", .runs = runs_of(plan)}, none, {},
                                                 [](const experiments::Progress&) { return true; });
  Worker worker(folder.file("store"));
  worker.use_cores(1);
  worker.start(plan, true);
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  worker.halt(Phase::Paused);
  worker.wait();
  const Phase after = worker.state()->phase;
  CHECK((after == Phase::Paused || after == Phase::Done));
  worker.share(true);
  worker.start(plan, true);
  worker.wait();
  CHECK(json_text(*worker.state()->grid) ==
        json_text(grid_of(plan, runs_of(plan), direct.runs, predictions_of(plan, runs_of(plan)))));

  const Plan wider = quick_plan(40, "train.lr=1e-3,3e-3,1e-2");
  worker.start(wider, false);
  worker.wait();
  CHECK(worker.state()->grid->known == 4);
  CHECK(worker.state()->left() == 2);
}

TEST_CASE("sweep worker: another plan takes the place of the one under way, and it ends where it stands") {
  Worker worker("");
  worker.start(quick_plan(4000), true);
  worker.start(quick_plan(12), true);
  worker.wait();
  CHECK(worker.state()->grid->plan == quick_plan(12));
  CHECK(worker.state()->phase == Phase::Done);
  worker.start(quick_plan(4000), true);
}

// The figure is printed, never asserted: normscope_app_tests "[.bench]".
TEST_CASE("what the Lab's training keeps while a sweep trains", "[.bench]") {
  LabOptions options;
  options.live_text = false;
  Lab lab(options);
  lab.post(session::ReplaceRuns{default_comparison(), {}, false});
  test::view_after(lab, session::SetBudget{100'000});
  lab.post(session::Play{});
  const auto steps_a_second = [&lab] {
    std::this_thread::sleep_for(std::chrono::seconds(2));
    const auto begin = std::chrono::steady_clock::now();
    const int32_t from = lab.view()->step;
    std::this_thread::sleep_for(std::chrono::seconds(8));
    return (lab.view()->step - from) /
           std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  const double before = steps_a_second();
  Worker worker("");
  worker.share(true);
  worker.start(preset_plan("warmup"), true);
  const double beside = steps_a_second();
  const int64_t runs = worker.state()->grid->known;
  worker.halt(Phase::Stopped);
  worker.wait();
  const double after = steps_a_second();
  fmt::print(
      "steps a second of three runs: {:.1f} alone, {:.1f} beside a sweep ({} of its runs done), {:.1f} alone: "
      "{:.2f} is kept\n",
      before, beside, runs, after, 2 * beside / (before + after));
}

TEST_CASE("a sweep that is halted before it begins is shown as halted") {
  Plan plan;
  plan.set = test::tiny_set(1);
  plan.steps = 4000;
  plan.axes = {axis_from("train.lr=1e-3,1e-2", base_of(plan))};
  fixture::Gate gate;
  Worker worker("", [&] { gate.hold(); });
  worker.start(plan, true);
  gate.wait_for_one();
  plan.steps = 12;
  worker.start(plan, true);
  CHECK(worker.state()->phase == Phase::Looking);
  worker.halt(Phase::Paused);
  CHECK(worker.state()->phase == Phase::Paused);
  worker.halt(Phase::Stopped);  // while the first, which says nothing more, still winds down
  CHECK(worker.state()->phase == Phase::Stopped);
  gate.open();
  worker.wait();
  CHECK(worker.state()->phase == Phase::Stopped);
  worker.start(plan, true);
  worker.wait();
  CHECK(worker.state()->phase == Phase::Done);
}

}  // namespace normscope::sweep
