// The sweep fixture is a sweep's trainer that has what a test gives it, and the Sweep screen over it without a window.
#pragma once

#include "addons/sweep/app/screen/sweep_screen.h"
#include "addons/sweep/app/worker.h"
#include "app/support/lab_driver.h"
#include "app/support/lab_fixture.h"
#include "app/support/made_screen.h"

namespace normscope::fixture {

/// Trains nothing: every run learns where rate times 100 is at most warm-up plus one, as on a staircase.
class ReadyTrainer : public sweep::Worker {
 public:
  ReadyTrainer() : Worker(experiments::StorePlace()) {}
  void start(const sweep::Plan& plan, bool train) override {
    ++starts;
    const std::vector<experiments::StudyRun> jobs = sweep::runs_of(plan);
    std::vector<std::optional<sweep::RunNumbers>> records(jobs.size());
    trained = trained || train;
    if (trained)
      for (size_t i = 0; i < jobs.size(); ++i) records[i] = record_of(jobs[i]);
    if (keeps_running) records.back().reset();
    auto state = std::make_shared<sweep::SweepState>();
    state->grid = std::make_shared<const sweep::Grid>(sweep::grid_of(plan, jobs, records));
    state->runs = static_cast<int64_t>(jobs.size());
    state->phase = state->grid->complete ? sweep::Phase::Done : sweep::Phase::Ready;
    if (keeps_running && train) state->phase = sweep::Phase::Training;
    state_ = state;
  }
  void halt(sweep::Phase phase) override {
    auto state = std::make_shared<sweep::SweepState>(*state_);
    state->phase = phase;
    state_ = state;
  }
  void use_cores(int32_t cores) override { cores_ = cores; }
  int32_t cores() const override { return cores_; }
  void share(bool others_train) override { shared = others_train; }
  std::shared_ptr<const sweep::SweepState> state() const override { return state_; }
  int32_t all_cores() const override { return 2; }
  /// Acts as a worker that dies in the middle.
  void die(const std::string& why) {
    auto state = std::make_shared<sweep::SweepState>(*state_);
    state->phase = sweep::Phase::Stopped;
    state->error = why;
    state_ = state;
  }

  int starts = 0;
  bool trained = false, shared = false, keeps_running = false;

 private:
  static sweep::RunNumbers record_of(const experiments::StudyRun& job) {
    sweep::RunNumbers record;
    record.level = 2.9;
    record.steps = job.spec.train.steps;
    const double rate = job.spec.train.schedule.peak, warmup = job.spec.train.schedule.warmup;
    const bool learns = 1e4 * rate <= warmup + 20 + 10 * static_cast<double>(job.spec.seed);
    record.verdict = {learns ? Verdict::Learns : Verdict::Stuck, learns ? 60 : 0};
    record.loss = learns ? 1.9 + 10 * rate : 2.9;
    record.gradient_first = record.gradient_last = 0.1;
    record.beta2 = 3;
    record.stride = 10;
    for (int i = 0; i < 30; ++i) record.curve.push_back(4 - (4 - record.loss) * i / 29);
    return record;
  }
  int32_t cores_ = 2;
  std::shared_ptr<const sweep::SweepState> state_ = std::make_shared<sweep::SweepState>();
};

struct SweepDriver : LabDriver {
  explicit SweepDriver(ui::Vec size = {1600, 1000}, float scale = 1) : LabDriver(size, scale) {
    state.look.reduced_motion = true;
    state.session.view = lab_view();
    state.screens.shown = Screen::Sweep;
    auto made = std::make_unique<ReadyTrainer>();
    trainer = made.get();
    place_of(state, Screen::Sweep).screen = std::make_shared<sweep::SweepScreen>(std::move(made));
    driver.frames(3);
  }
  sweep::SweepScreen& screen() { return made_screen<sweep::SweepScreen>(state, Screen::Sweep); }
  /// The middle of a cell, as fractions of the grid.
  ui::Vec of_cell(size_t column, size_t row) {
    const sweep::Plan& plan = screen().plan();
    return {(static_cast<float>(column) + 0.5f) / static_cast<float>(plan.columns()),
            1 - (static_cast<float>(row) + 0.5f) / static_cast<float>(plan.rows())};
  }
  void train() {
    driver.key("Space");
    driver.frames(2);
  }
  /// "cell 4 2" clicks a cell, "brush 2 3 4 2" drags from one to another.
  bool obey(const std::string& verb, const std::string& rest) override {
    std::istringstream words(rest);
    size_t column = 0, row = 0, to_column = 0, to_row = 0;
    words >> column >> row;
    if (verb == "cell") {
      driver.click("sweep/grid", of_cell(column, row));
    } else if (verb == "brush" && words >> to_column >> to_row) {
      const ui::Rect grid = driver.control("sweep/grid").rect;
      const ui::Vec from = of_cell(column, row), to = of_cell(to_column, to_row);
      driver.drag_by("sweep/grid", {(to.x - from.x) * grid.w, (to.y - from.y) * grid.h}, "", 6, from);
    } else {
      return false;
    }
    return true;
  }

  ReadyTrainer* trainer = nullptr;
};

}  // namespace normscope::fixture
