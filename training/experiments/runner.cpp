#include "training/experiments/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <set>
#include <thread>

#include "engine/core/error.h"
#include "engine/core/machine.h"
#include "engine/cpu/backend_cpu.h"
#include "training/experiments/workers.h"

namespace normscope::experiments {
namespace {

constexpr auto kKeepEvery = std::chrono::minutes(1);

bool is_there(const std::string& path) {
  std::error_code unknown;
  return std::filesystem::exists(path, unknown);
}

/// Shared by the workers of one call.
class Session {
 public:
  Session(const Plan& plan, ResultStore& store, const RunnerOptions& options)
      : plan_(plan), store_(store), options_(options) {
    const std::unique_ptr<Backend> backend = make_backend(options.backend, 1);
    for (size_t i = 0; i < plan.experiments.size(); ++i) {
      keys_.push_back(key_at(plan.experiments[i], *backend));
      if (first_.emplace(keys_.back(), i).second && mine(i)) distinct_.push_back(i);
    }
    find_starts(*backend);
    known_.resize(plan.experiments.size());
    trained_.resize(plan.experiments.size());
    results_.resize(plan.keep_results ? plan.experiments.size() : 0);
  }

  Outcome run(const std::function<bool(const Progress&)>& on_progress);

 private:
  bool mine(size_t index) const {
    const auto [shard, count] = options_.shard;
    return static_cast<int32_t>(index % static_cast<size_t>(count)) == shard;
  }
  std::shared_ptr<const Task> task_of(const DataSpec& data);
  std::shared_ptr<const Task> task_of(size_t index) { return task_of(plan_.experiments[index].spec.data); }
  std::string key_at(const Experiment& experiment, Backend& backend);
  void find_starts(Backend& backend);
  std::string state_of(size_t index) const { return store_.state_path(keys_[index], plan_.measurement); }
  std::set<size_t> missing();
  RunSpec spec_of(size_t index) const;
  void look_up(size_t index, Backend& backend);
  template <typename Read>
  bool usable(const std::string& damaged, const Read& read);
  bool is_known(size_t index, Backend& backend);
  bool measure_kept(size_t index, Backend& backend);
  std::unique_ptr<Run> begin(size_t index, Backend& backend, Measurement& measurement);
  void validate(Run& run, int32_t steps) const;
  void train_one(size_t index, Backend& backend);
  void keep_for_later(size_t index, const Run& run, const Measurement& measurement);
  void finish(size_t index, Run& run, Measurement& measurement);
  void begin_work(size_t index);
  void end_work();
  void tell(int32_t steps);
  void tell_work(Progress& progress);
  template <typename Each>
  void on_workers(const std::vector<size_t>& work, const Each& each, Progress progress, bool alone,
                  const std::function<bool(const Progress&)>& on_progress);

  const Plan& plan_;
  ResultStore& store_;
  const RunnerOptions& options_;
  std::vector<std::string> keys_;
  std::map<std::string, size_t> first_;  // the experiment of each key
  std::vector<size_t> distinct_;
  std::map<size_t, size_t> start_of_;  // for a distinct experiment, the one that it starts from
  std::set<size_t> starts_;            // the experiments that others start from
  std::vector<std::pair<DataSpec, std::shared_ptr<const Task>>> tasks_;
  // `known_`, `trained_` and `results_` go by distinct experiment; one worker writes each element.
  std::vector<char> known_, trained_;  // has a result; was trained in this call
  std::vector<std::optional<InputValue>> results_;
  std::map<size_t, std::string> failed_;
  std::atomic<bool> stop_{false};
  std::atomic<int64_t> done_{0};
  std::mutex mutex_;
  std::map<std::thread::id, AtWork> at_work_;  // by worker
};

// `task_of` only finds tasks, because all of them are made before the workers start.
std::shared_ptr<const Task> Session::task_of(const DataSpec& data) {
  for (const auto& [spec, task] : tasks_)
    if (spec == data) return task;
  return tasks_.emplace_back(data, make_task(data)).second;
}

std::string Session::key_at(const Experiment& experiment, Backend& backend) {
  return key_of(experiment, task_of(experiment.spec.data)->hash(), backend,
                experiment.from ? key_at(*experiment.from, backend) : std::string());
}

/// Adds what this shard's own runs start from, and what those start from, whoever else trains it.
void Session::find_starts(Backend& backend) {
  for (size_t i = 0; i < distinct_.size(); ++i) {
    const size_t index = distinct_[i];
    const std::shared_ptr<const Experiment>& from = plan_.experiments[index].from;
    if (!from) continue;
    const auto start = first_.find(key_at(*from, backend));
    if (start == first_.end())
      fail(plan_.name, "a run starts from one that is not in the plan: expected both");
    start_of_[index] = start->second;
    if (starts_.insert(start->second).second && !mine(start->second)) distinct_.push_back(start->second);
  }
}

/// What has to be trained. A start without usable weights is trained if a run has to start from it, and a
/// start of another shard only then.
std::set<size_t> Session::missing() {
  std::set<size_t> missing;
  for (size_t index : distinct_) {
    bool lacks = !known_[index] && mine(index);
    while (lacks && missing.insert(index).second && start_of_.contains(index)) {
      index = start_of_.at(index);
      lacks = !missing.contains(index) && (!known_[index] || !store_.opens(state_of(index)));
    }
  }
  return missing;
}

RunSpec Session::spec_of(size_t index) const {
  RunSpec spec = plan_.experiments[index].spec;
  const auto start = start_of_.find(index);
  if (start == start_of_.end()) return spec;
  spec.train.init_from = state_of(start->second);
  if (spec.train.init_from.empty())
    fail("run", "it starts from another run, whose weights are kept nowhere: expected a folder for results");
  return spec;
}

void Session::look_up(size_t index, Backend& backend) {
  known_[index] = is_known(index, backend) || (!options_.stored_only && measure_kept(index, backend));
  ++done_;
}

/// Whether `read` succeeds. A fault in a file of the store costs its run no more than training it again.
template <typename Read>
bool Session::usable(const std::string& damaged, const Read& read) {
  try {
    return read();
  } catch (const DeviceError&) {  // such an error concerns all runs, and no file
    throw;
  } catch (const Error&) {
    if (!damaged.empty()) store_.note_damaged(damaged);
    return false;
  }
}

/// Whether the store has a result that is enough for the measurement.
bool Session::is_known(size_t index, Backend& backend) {
  std::optional<InputValue> result = store_.find(keys_[index], plan_.measurement);
  const std::string state = store_.state_path(keys_[index], plan_.measurement);
  if (!result) return false;
  const bool whole = !plan_.keep_state || is_there(state);
  return usable(whole ? state : "", [&] {
    std::unique_ptr<Run> run;
    if (plan_.keep_state && whole) run = Run::load(state, task_of(index), backend);
    // Without its state the run has to be measured again, because the measurement only sees what the result has.
    if (!plan_.measure(index)->known(*result, run.get()) || !whole) return false;
    if (plan_.keep_results) results_[index] = std::move(result);
    return true;
  });
}

/// Whether a run's state was kept and has been measured; it ends as a trained run does, to the bit.
bool Session::measure_kept(size_t index, Backend& backend) {
  const Experiment& experiment = plan_.experiments[index];
  // A run that begins where another ends has no fresh state that could be measured beside it.
  if (experiment.from || !store_.find(keys_[index], plan_.measurement)) return false;
  const std::string state = store_.state_path(keys_[index], plan_.measurement);
  if (!is_there(state)) return false;
  return usable("", [&] {
    const std::unique_ptr<Run> end = Run::load(state, task_of(index), backend);
    if (end->steps_done() < experiment.spec.train.steps && !end->non_finite()) return false;
    const std::unique_ptr<Measurement> measuring = plan_.measure(index);
    Run fresh(experiment.spec, task_of(index), backend);
    fresh.schedule_edits(experiment.edits);
    measuring->begin(fresh);
    measuring->afterwards(*end);
    finish(index, *end, *measuring);
    return true;
  });
}

/// The interrupted run to go on with, if there is one, else a fresh run.
std::unique_ptr<Run> Session::begin(size_t index, Backend& backend, Measurement& measurement) {
  const Experiment& experiment = plan_.experiments[index];
  std::unique_ptr<Run> run;
  if (const auto part = store_.find_partial(keys_[index], plan_.measurement)) {
    const std::string state = store_.partial_state_path(keys_[index], plan_.measurement);
    const bool goes_on = usable(state, [&] {
      run = Run::load(state, task_of(index), backend);
      return run->steps_done() == part->at("steps").whole(0, experiment.spec.train.steps) &&
             measurement.go_on(part->at("so_far"));
    });
    if (goes_on) {
      run->measure_live(plan_.live);
      return run;
    }
  }
  run = std::make_unique<Run>(spec_of(index), task_of(index), backend);
  run->measure_live(plan_.live);
  run->schedule_edits(experiment.edits);
  measurement.begin(*run);
  return run;
}

void Session::keep_for_later(size_t index, const Run& run, const Measurement& measurement) {
  const std::string state = store_.partial_state_path(keys_[index], plan_.measurement);
  if (state.empty() || run.steps_done() == 0) return;
  store_.attempt(keys_[index], [&] {
    run.save(state, kHistoryBudget);
    store_.put_partial(keys_[index], plan_.measurement,
                       {{"steps", run.steps_done()}, {"so_far", measurement.so_far()}});
  });
}

void Session::finish(size_t index, Run& run, Measurement& measurement) {
  const nlohmann::json result = measurement.end(run);
  store_.attempt(keys_[index], [&] {
    // The state is kept first, because a result promises it.
    if ((plan_.keep_state || starts_.contains(index)) && !store_.folder().empty())
      run.save(state_of(index), kHistoryBudget);
    store_.put(keys_[index], plan_.measurement, result);
    store_.drop_partial(keys_[index], plan_.measurement);
  });
  if (plan_.keep_results)
    results_[index] = InputValue::parse(result.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
                                        plan_.experiments[index].spec.name);
}

/// Validates as the plan asks between the steps; at the end of a run its measurement validates.
void Session::validate(Run& run, int32_t steps) const {
  const int32_t every = plan_.validate_every, step = run.steps_done();
  if (every > 0 && step % every == 0 && step < steps && !run.non_finite()) run.validation_loss();
}

void Session::train_one(size_t index, Backend& backend) {
  const int32_t steps = plan_.experiments[index].spec.train.steps;
  std::unique_ptr<Measurement> measurement = plan_.measure(index);
  std::unique_ptr<Run> run;
  try {
    run = begin(index, backend, *measurement);
  } catch (const DeviceError&) {  // such an error concerns all runs
    throw;
  } catch (const Error& error) {
    const std::lock_guard lock(mutex_);
    failed_[index] = error.what();
    done_ += steps;
    return;
  }
  done_ += run->steps_done();
  auto kept = std::chrono::steady_clock::now();
  while (run->steps_done() < steps && !run->non_finite()) {
    if (stop_) return keep_for_later(index, *run, *measurement);
    run->step();
    ++done_;
    tell(run->steps_done());
    validate(*run, steps);
    if (!measurement->after_step(*run)) stop_ = true;
    const auto now = std::chrono::steady_clock::now();
    if (now - kept < kKeepEvery || run->steps_done() >= steps) continue;
    keep_for_later(index, *run, *measurement);  // a killed process gets no other chance
    kept = now;
  }
  done_ += steps - run->steps_done();
  finish(index, *run, *measurement);
  trained_[index] = true;
}

void Session::begin_work(size_t index) {
  const std::lock_guard lock(mutex_);
  at_work_[std::this_thread::get_id()] = {index, 0, plan_.experiments[index].spec.train.steps};
}

void Session::end_work() {
  const std::lock_guard lock(mutex_);
  at_work_.erase(std::this_thread::get_id());
}

/// Notes how far the run of this thread has come.
void Session::tell(int32_t steps) {
  const std::lock_guard lock(mutex_);
  at_work_[std::this_thread::get_id()].done = steps;
}

void Session::tell_work(Progress& progress) {
  const std::lock_guard lock(mutex_);
  progress.note.clear();
  progress.at_work.clear();
  for (const auto& [thread, run] : at_work_) {
    const RunSpec& spec = plan_.experiments[run.index].spec;
    const std::string name = spec.name.empty() ? default_name(spec) : spec.name;
    progress.note += fmt::format("{}{} seed {}", progress.note.empty() ? "" : ", ", name, spec.seed);
    if (!progress.looking) progress.at_work.push_back(run);
  }
}

/// `on_workers` does all of `work` on its own workers; this thread tells the progress. `alone`: one thread a worker.
template <typename Each>
void Session::on_workers(const std::vector<size_t>& work, const Each& each, Progress progress, bool alone,
                         const std::function<bool(const Progress&)>& on_progress) {
  done_ = 0;
  const int32_t most = runs_at_a_time(options_), count = std::min(most, static_cast<int32_t>(work.size()));
  const int32_t shared = options_.threads_each > 0 ? options_.threads_each : most / std::max(1, count);
  const int64_t before = progress.done;
  const auto make = [&, threads = alone ? 1 : shared] {
    return [&, backend = std::shared_ptr<Backend>(make_backend(options_.backend, threads))](size_t i) {
      begin_work(work[i]);
      each(work[i], *backend);
      end_work();
    };
  };
  work_off(plan_.name, work.size(), count, stop_, make, [&] {
    progress.done = before + done_;
    progress.unkept = store_.unkept();
    tell_work(progress);
    if (!on_progress(progress)) stop_ = true;
  });
}

Outcome Session::run(const std::function<bool(const Progress&)>& on_progress) {
  auto hold = store_.hold();
  if (!store_.folder().empty()) {
    if (!options_.stored_only) remember_shard(store_, plan_.name, keys_, options_.shard);
    on_workers(
        distinct_, [&](size_t index, Backend& backend) { look_up(index, backend); },
        {true, 0, static_cast<int64_t>(distinct_.size()), "", {}}, true, on_progress);
  }
  Outcome out;
  const std::set<size_t> missing = this->missing();
  out.missing.assign(missing.begin(), missing.end());
  out.stored = static_cast<int32_t>(std::count_if(distinct_.begin(), distinct_.end(), [&](size_t index) {
    return known_[index] && !missing.contains(index);
  }));
  Progress progress;
  for (const size_t index : missing) {
    if (!options_.stored_only && plan_.keep_results) results_[index].reset();
    progress.total += plan_.experiments[index].spec.train.steps;
  }
  std::set<size_t> left = options_.stored_only ? std::set<size_t>() : missing;
  while (!left.empty() && !stop_) {
    std::vector<size_t> part;  // runs whose start is there, or that have none
    for (const size_t index : left)
      if (!start_of_.contains(index) || !left.contains(start_of_.at(index))) part.push_back(index);
    on_workers(
        part, [&](size_t index, Backend& backend) { train_one(index, backend); }, progress, false,
        on_progress);
    for (const size_t index : part) progress.done += plan_.experiments[index].spec.train.steps;
    for (const size_t index : part) left.erase(index);
  }
  out.trained = static_cast<int32_t>(std::count(trained_.begin(), trained_.end(), true));
  hold.reset();
  if (out.trained > 0) store_.trim();
  out.complete = !stop_;
  out.results = std::move(results_);
  for (size_t i = 0; i < keys_.size(); ++i) {
    const size_t first = first_.at(keys_[i]);
    out.first.push_back(first);
    if (plan_.keep_results) out.results[i] = out.results[first];
    if (const auto at = failed_.find(first); at != failed_.end()) out.failed[i] = at->second;
  }
  return out;
}

}  // namespace

int32_t default_runs_at_a_time() { return usable_cores(); }

int32_t runs_at_a_time(const RunnerOptions& options) {
  if (options.runs_at_a_time > 0) return options.runs_at_a_time;
  return options.backend.cuda ? 1 : default_runs_at_a_time();
}

Outcome train(const Plan& plan, ResultStore& store, const RunnerOptions& options,
              const std::function<bool(const Progress&)>& on_progress) {
  return Session(plan, store, options).run(on_progress);
}

}  // namespace normscope::experiments
