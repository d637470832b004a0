#include "addons/sweep/app/worker.h"

#include <algorithm>

#include "app/words/words.h"

namespace normscope::sweep {
namespace {

constexpr auto kRefresh = std::chrono::milliseconds(100);
constexpr double kTooSoon = 2;  ///< seconds before which the time left would be a guess

double seconds(std::chrono::steady_clock::duration span) {
  return std::chrono::duration<double>(span).count();
}

}  // namespace

int32_t runs_beside(int32_t cores, bool others_train) {
  return std::max(1, others_train ? cores - (cores + 3) / 4 : cores);
}

std::vector<std::optional<RunNumbers>> carried(const Grid& from, const Plan& plan,
                                               const std::vector<StudyRun>& runs) {
  std::vector<std::optional<RunNumbers>> numbers(runs.size());
  bool same =
      from.plan.set == plan.set && from.plan.steps == plan.steps && from.plan.axes.size() == plan.axes.size();
  for (size_t i = 0; same && i < plan.axes.size(); ++i) same = from.plan.axes[i].key == plan.axes[i].key;
  if (!same || plan.axes.empty()) return numbers;
  // For every value of the new axes its index on the old axis; the old number of values: not there.
  std::vector<std::vector<size_t>> places;
  for (size_t i = 0; i < plan.axes.size(); ++i) {
    const std::vector<std::string>& old = from.plan.axes[i].values;
    std::vector<size_t>& of_axis = places.emplace_back();
    for (const std::string& value : plan.axes[i].values)
      of_axis.push_back(static_cast<size_t>(std::ranges::find(old, value) - old.begin()));
  }
  for (size_t i = 0; i < runs.size(); ++i) {
    const size_t column = places[0][runs[i].column], row = places.size() > 1 ? places[1][runs[i].row] : 0;
    if (column >= from.plan.columns() || row >= from.plan.rows()) continue;
    const Cell& cell = from.at(column, row);
    const uint64_t seed = runs[i].spec.seed;
    if (seed <= cell.runs.size()) numbers[i] = cell.runs[seed - 1];
  }
  return numbers;
}

Worker::Worker(experiments::StorePlace place, std::function<void()> on_change,
               std::shared_ptr<Trainer> trainer)
    : place_(std::move(place)),
      trainer_(std::move(trainer)),
      all_cores_(experiments::default_runs_at_a_time()),
      cores_(all_cores_),
      jobs_(
          "sweep", [this](const Task& task) { carry_out(task); }, std::move(on_change)) {}

void Worker::start(const Plan& plan, bool train) {
  jobs_.start({plan, train}, [](SweepState& state) {
    state.phase = Phase::Looking;
    state.error.clear();
    state.under_way.clear();
  });
}

// Stops a paused training too.
void Worker::halt(Phase phase) {
  halted_ = phase;
  jobs_.stop([phase](SweepState& state, const Task* waiting) {
    if (waiting || state.phase == Phase::Paused) state.phase = phase;
  });
}

void Worker::use_cores(int32_t cores) { cores_ = cores > 0 ? std::min(cores, all_cores_) : all_cores_; }
void Worker::share(bool others_train) { others_train_ = others_train; }

void Worker::carry_out(const Task& task) {
  const Message error = guarded("a sweep", [&] { work(task); });
  if (error.empty()) return;
  (void)guarded("a sweep", [&] {
    SweepState state = *this->state();
    state.phase = Phase::Stopped;
    state.under_way.clear();
    state.error = error;
    jobs_.publish(state);
  });
}

void Worker::fill(const Plan& plan, const std::vector<StudyRun>& runs, SweepState& state) {
  const Clock::time_point before = Clock::now();
  std::vector<std::optional<RunNumbers>> numbers;
  {
    const std::lock_guard lock(numbers_mutex_);
    numbers = numbers_;
    new_numbers_ = false;
  }
  state.grid = std::make_shared<const Grid>(grid_of(plan, runs, numbers, predictions_));
  grid_made_ = Clock::now();
  grid_cost_ = grid_made_ - before;
}

void Worker::work(const Task& task) {
  SweepState state;
  state.phase = Phase::Looking;
  const std::vector<StudyRun> runs = runs_of(task.plan);
  state.runs = static_cast<int64_t>(runs.size());
  {
    const std::shared_ptr<const SweepState> before = this->state();
    const std::lock_guard lock(numbers_mutex_);
    numbers_ = carried(*before->grid, task.plan, runs);
  }
  predictions_.clear();
  fill(task.plan, runs, state);
  predictions_ = predictions_of(task.plan, runs);
  if (!store_) store_ = std::make_unique<experiments::ResultStore>(place_);
  train(task, runs, state);
  state.under_way.clear();
  fill(task.plan, runs, state);
  if (jobs_.stopping())
    state.phase = halted_;
  else
    state.phase = state.grid->complete ? Phase::Done : Phase::Ready;
  if (store_->unkept_count() > 0)
    state.error =
        tr("what was trained goes with the window: {why}", {{"why", words::spoken(store_->unkept())}});
  jobs_.publish(state);
}

void Worker::train(const Task& task, const std::vector<StudyRun>& runs, SweepState& state) {
  const experiments::RunnerOptions options{.runs_at_a_time = all_cores_,
                                           .stored_only = !task.train,
                                           .allowed = [this] { return runs_beside(cores_, others_train_); },
                                           .trainer = trainer_};
  done_at_start_.reset();
  const auto on_taken = [&](size_t place, const RunNumbers& numbers) {
    const std::lock_guard lock(numbers_mutex_);
    numbers_[place] = numbers;
    new_numbers_ = true;
  };
  const experiments::StudyResults studied = experiments::train(
      {.name = "sweep", .runs = runs}, *store_, options,
      [&](const experiments::Progress& at) { return on_progress(at, task.plan, runs, state); }, on_taken);
  const std::lock_guard lock(numbers_mutex_);
  for (size_t i = 0; i < numbers_.size(); ++i)
    if (studied.runs[i]) numbers_[i] = studied.runs[i];
}

/// Whether to go on.
bool Worker::on_progress(const experiments::Progress& at, const Plan& plan, const std::vector<StudyRun>& runs,
                         SweepState& state) {
  if (jobs_.stopping()) return false;
  const Clock::time_point now = Clock::now();
  if (now - shown_ < kRefresh) return true;
  shown_ = now;
  state.phase = at.looking ? Phase::Looking : Phase::Training;
  state.under_way.clear();
  for (const experiments::AtWork& run : at.at_work) {
    const StudyRun& one = runs[run.index];
    state.under_way.push_back({one.column, one.row, one.spec.seed,
                               static_cast<float>(run.done) / static_cast<float>(std::max(1, run.total))});
  }
  if (!at.looking && !done_at_start_) {
    began_ = now;
    done_at_start_ = at.done;
  }
  const double past = done_at_start_ ? seconds(now - began_) : 0;
  const int64_t done = done_at_start_ ? at.done - *done_at_start_ : 0;
  state.seconds_left = past > kTooSoon && done > 0
                           ? past / static_cast<double>(done) * static_cast<double>(at.total - at.done)
                           : kUnknown;
  // Making a grid of many runs takes time: it gets at most a tenth of the time.
  if (new_numbers_ && now - grid_made_ > 10 * grid_cost_) fill(plan, runs, state);
  jobs_.publish(state);
  return true;
}

}  // namespace normscope::sweep
