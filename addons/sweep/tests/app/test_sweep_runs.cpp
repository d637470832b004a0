// These tests train a sweep's runs, on a model that takes no time: side by side, and found where a lesson has trained
// them; each time to the same bytes.
#include "addons/sweep/app/cells.h"
#include "addons/sweep/app/sweep_plan.h"
#include "addons/sweep/app/sweep_writers.h"
#include "addons/sweep/app/worker.h"
#include "app/support/gate.h"
#include "app/support/program.h"
#include "engine/support/named_placements.h"
#include "skip.h"
#include "training/data/task.h"
#include "training/experiments/run_store.h"
#include "training/measure/theory/theory.h"

// The tests are inside, because other rooms have plans and visits too.
namespace normscope::sweep {
namespace {

using experiments::ResultStore, experiments::RunnerOptions, experiments::Progress, test::Folder;

Plan tiny_sweep(int32_t steps = 24) {
  Plan plan;
  plan.set = test::tiny_set();
  plan.steps = steps;
  const RunSpec base = base_of(plan);
  plan.axes = {axis_from("train.lr=1e-3:1e-2:log3", base), axis_from("train.warmup=0,8", base)};
  plan.more = {more_seeds_from("1@train.lr=1e-3:3.2e-3,train.warmup=0", plan)};
  return plan;
}

bool onwards(const Progress&) { return true; }

std::string json_of(const Plan& plan, const experiments::StudyResults& visit) {
  return to_json(grid_of(plan, runs_of(plan), visit.runs)).dump(1);
}

experiments::StudyResults visit_plan(const Plan& plan, ResultStore& store,
                                     const RunnerOptions& options = {}) {
  return train({.name = "sweep", .runs = runs_of(plan)}, store, options, onwards);
}

/// What one machine without a store comes to.
std::string straight(const Plan& plan) {
  ResultStore none("");
  const experiments::StudyResults all = visit_plan(plan, none);
  CHECK(all.trained == plan.runs());
  return json_of(plan, all);
}

TEST_CASE("sweep: neither runs side by side nor threads inside a run change a byte") {
  Plan plan = tiny_sweep();
  const std::string whole = straight(plan);
  for (const int32_t at_a_time : {1, 3})
    for (const int32_t threads : {0, 1, 2}) {
      ResultStore none("");
      CHECK(json_of(plan, visit_plan(plan, none, {.runs_at_a_time = at_a_time, .threads_each = threads})) ==
            whole);
    }
  plan.axes.resize(1);
  plan.axes[0].values.resize(1);
  plan.axes[0].kind = Axis::Kind::List;
  plan.more.clear();
  const std::string one = straight(plan);
  ResultStore none("");
  CHECK(json_of(plan, visit_plan(plan, none, {.runs_at_a_time = 2, .threads_each = 0})) == one);
}

TEST_CASE("sweep: every record is told as soon as it is there, and those of the store too") {
  const Plan plan = tiny_sweep();
  const std::vector<StudyRun> jobs = runs_of(plan);
  const Folder folder;
  for (const bool stored : {false, true}) {
    ResultStore store(folder.file("runs"));
    std::map<size_t, double> told;
    const experiments::StudyResults all =
        train({.name = "sweep", .runs = jobs}, store, {.runs_at_a_time = 2}, onwards,
              [&](size_t job, const experiments::RunNumbers& taken) { told[job] = taken.loss; });
    CHECK(all.trained == (stored ? 0 : 8));
    REQUIRE(told.size() == jobs.size());
    for (const auto& [job, loss] : told) CHECK(all.runs[job]->loss == loss);
  }
}

TEST_CASE("sweep: a record has the losses for a small plot") {
  const Plan plan = tiny_sweep();
  ResultStore none("");
  const experiments::StudyResults all = visit_plan(plan, none);
  for (const auto& record : all.runs) {
    REQUIRE(record);
    CHECK(record->stride == 1);
    REQUIRE(record->curve.size() == 24);
    double sum = 0;
    for (const double loss : record->curve) sum += loss;
    CHECK(sum / 24 == Approx(record->loss).margin(1e-4));  // the mean of the last 25: of all
  }
}

TEST_CASE("sweep: a cell that a lesson has trained is measured and not trained") {
  Plan plan = tiny_sweep(40);
  plan.more.clear();
  const std::string whole = straight(plan);
  const std::vector<StudyRun> jobs = runs_of(plan);
  const Folder folder;
  {
    experiments::RunStore lesson(1, nullptr, folder.file("runs"));
    for (const size_t job : {size_t{0}, size_t{4}}) lesson.get(jobs[job], {});
    REQUIRE(lesson.trained() == 2);
  }
  ResultStore store(folder.file("runs"));
  const experiments::StudyResults found = visit_plan(plan, store);
  CHECK(found.trained == 4);
  CHECK(found.stored == 2);
  CHECK(json_of(plan, found) == whole);
  // A state that is damaged is not a result.
  const Folder broken;
  {
    experiments::RunStore lesson(1, nullptr, broken.file("runs"));
    lesson.get(jobs[0], {});
  }
  for (const auto& file : std::filesystem::directory_iterator(broken.file("runs")))
    if (file.path().extension() == ".safetensors") std::filesystem::resize_file(file.path(), 100);
  ResultStore damaged(broken.file("runs"));
  const experiments::StudyResults again = visit_plan(plan, damaged);
  CHECK(again.trained == 5);  // what a sweep asks stands beside the state
  CHECK(json_of(plan, again) == whole);
  // What the lesson did not ask for is measured of its states; of a damaged one the run is trained again.
  const experiments::Study more{
      .name = "sweep", .runs = jobs, .numbers = {experiments::kLeftOut, experiments::kLayers}};
  const experiments::StudyResults measured = train(more, store, {.runs_at_a_time = 2}, onwards);
  CHECK(measured.trained == 4);
  CHECK(measured.stored == 2);
  CHECK_FALSE(measured.runs[0]->frames.rows.empty());
  CHECK(measured.runs[0]->left_out.size() == 1);
  CHECK(json_of(plan, measured) == whole);
  CHECK(train(more, damaged, {.runs_at_a_time = 2}, onwards).trained == 6);
  CHECK(train(more, damaged, {.runs_at_a_time = 2}, onwards).trained == 0);
}

TEST_CASE("sweep: a cell that cannot be trained is said, and the others go on") {
  Plan plan = tiny_sweep();
  plan.set.erase(plan.set.begin() + 2);  // the heads
  plan.axes = {axis_from("model.heads=2,3", base_of(plan))};
  plan.more.clear();
  ResultStore none("");
  const experiments::StudyResults all = visit_plan(plan, none);
  CHECK(all.trained == 1);
  CHECK(all.complete);
  const Grid grid = grid_of(plan, runs_of(plan), all.runs);
  CHECK(grid.complete);
  CHECK(grid.at(1, 0).failed());
  CHECK(grid.at(0, 0).verdict == Verdict::Undecided);
  CHECK(test::contains(to_text(grid, Metric::Loss), "heads 3: "));
  CHECK(to_json(grid)["cells"][1]["refused"].is_string());
}

TEST_CASE("sweep: how long it takes is guessed from a few steps") {
  const Plan plan = tiny_sweep();
  std::vector<RunSpec> runs;
  for (const StudyRun& job : runs_of(plan)) runs.push_back(job.spec);
  const double one = experiments::estimated_seconds(runs, 1, {});
  CHECK(one > 0);
  CHECK(one < 60);
  CHECK(experiments::estimated_seconds({}, 1, {}) == 0);
}

TEST_CASE("a guess of time counts the steps of runs that were not timed") {
  // Of nine sizes, one more than are ever timed, every second one is, in the order of their settings. What is not timed
  // has ten million steps, and nobody trains them: no machine is so slow for a moment that it could pass for less.
  std::vector<RunSpec> all, timed;
  for (int i = 1; i <= 9; ++i) {
    all.push_back(
        test::with_fields(runs_of(tiny_sweep()).front().spec,
                          {{"data.seed", std::to_string(i)}, {"train.steps", i % 2 ? "1" : "10000000"}}));
    if (i % 2) timed.push_back(all.back());
  }
  CHECK(experiments::estimated_seconds(all, 1, {}) > 100 * experiments::estimated_seconds(timed, 1, {}));
}

Grid untrained(const std::vector<std::string>& axes) {
  Plan plan;
  plan.set = test::tiny_set();
  const RunSpec base = base_of(plan);
  for (const std::string& axis : axes) plan.axes.push_back(axis_from(axis, base));
  const std::vector<StudyRun> jobs = runs_of(plan);
  return grid_of(plan, jobs, std::vector<std::optional<RunNumbers>>(jobs.size()), predictions_of(plan, jobs));
}

TEST_CASE("sweep: predicted numbers need no run and are those of the cell's own network") {
  if (test::known({"hyper"}).empty()) SKIP_CASE("an add-on that is not built brings hyper-connections");
  const Grid grid = untrained({"model.init_scale=0.5,1", "model.placement=post,pre,hyper"});
  const std::vector<StudyRun> jobs = runs_of(grid.plan);
  for (const StudyRun& job : jobs) {
    const Cell& cell = grid.at(job.column, job.row);
    const double same = theory::agreement_of(*make_task(job.spec.data), job.spec.model.sequence).token;
    const theory::AtStart alone = theory::at_start(job.spec.model, same);
    CHECK(cell.predicted.objection == alone.objection);
    if (!alone.objection.empty()) continue;
    CHECK(value_of(cell, Metric::PredictedCosine) == alone.cosine);
    CHECK(value_of(cell, Metric::PredictedGradient) == alone.gradient);
  }
  // Larger weights make branches larger, so that Post-LN's tokens are more alike; Pre-LN's are less alike than
  // Post-LN's.
  const auto cosine = [&](size_t column, size_t row) {
    return value_of(grid.at(column, row), Metric::PredictedCosine);
  };
  CHECK(cosine(1, 0) > cosine(0, 0) + 0.05);
  CHECK(cosine(1, 1) < cosine(1, 0));
}

TEST_CASE("sweep: table, JSON and sentence show what is predicted, or why nothing is") {
  if (test::known({"hyper"}).empty()) SKIP_CASE("an add-on that is not built brings hyper-connections");
  const Grid grid = untrained({"model.init_scale=0.5,1", "model.placement=post,hyper"});
  const std::string table = to_text(grid, Metric::PredictedCosine);
  CHECK(test::contains(table, "· 0."));
  CHECK(test::contains(table, "· –"));
  CHECK(test::contains(table, "no prediction: there are several residual streams"));
  CHECK_FALSE(test::contains(to_text(grid, Metric::Loss), "no prediction"));
  const nlohmann::json json = to_json(grid);
  CHECK(json["cells"][0]["predicted"]["cosine"] == Approx(grid.at(0, 0).predicted.cosine));
  CHECK(json["cells"][2]["predicted"]["cosine"].is_null());
  CHECK(json["cells"][2]["predicted"]["objection"] == "there are several residual streams");
  CHECK(predicted_sentence(grid.at(0, 0)).starts_with("Before training, theory expects a cosine of 0."));
  CHECK(predicted_sentence(grid.at(0, 1)) == "No prediction: there are several residual streams");
  CHECK(std::isfinite(scale_of(grid, Metric::PredictedGradient).low));
}

// The thread that trains the sweep on screen, on a model that takes no time: what it publishes, stopped and gone on
// with, other plans meanwhile; to the same records as the command.

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
