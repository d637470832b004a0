#include "training/experiments/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>
#include <utility>

#include "engine/core/boundary.h"
#include "engine/core/error.h"
#include "engine/core/machine.h"
#include "training/data/task.h"
#include "training/io/reservation.h"

namespace normscope::experiments {
namespace {

constexpr auto kTick = std::chrono::milliseconds(100);

constexpr size_t kMaxTimed = 8;
constexpr int32_t kTimedSteps = 3;
constexpr auto kTurn = std::chrono::milliseconds(50), kOthersTurn = std::chrono::milliseconds(200);

bool is_there(const std::string& path) {
  std::error_code unknown;
  return std::filesystem::exists(path, unknown);
}

RunNumbers failed(const std::string& why) {
  RunNumbers numbers;
  numbers.verdict = {Verdict::Failed, 0, why};
  return numbers;
}

/// Drops numbers that were not asked for and take memory: a sweep has a hundred thousand runs.
RunNumbers asked_of(RunNumbers taken, const Names& asked) {
  if (!asked.contains(kLast)) taken.last = {};
  if (asked.contains(kLayers)) return taken;
  taken.frames = {};
  taken.start = taken.end = {};
  return taken;
}

/// Shared by the workers of one call. Members by run have values of distinct runs, and one worker at a time uses each.
class Training {
 public:
  Training(const Study& study, ResultStore& store, const RunnerOptions& options, const OnNumbers& on_taken)
      : study_(study),
        store_(store),
        options_(options),
        on_taken_(on_taken),
        keys_(study.runs.size()),
        known_(study.runs.size()),
        trained_(study.runs.size()),
        elsewhere_(study.runs.size()),
        found_(study.runs.size()) {
    results_.runs.resize(study.runs.size());
    results_.first.resize(study.runs.size());
    std::iota(results_.first.begin(), results_.first.end(), size_t{0});
    const std::unique_ptr<Backend> backend = make_backend(options.backend, 1);
    for (size_t i = 0; i < study.runs.size(); ++i) {
      if (!study.runs[i].refused.empty()) {
        results_.runs[i] = failed(study.runs[i].refused);
        ++results_.refused;
        continue;
      }
      keys_[i] = key_at(study.runs[i], *backend);
      const auto [first, is_new] = first_.emplace(keys_[i], i);
      results_.first[i] = first->second;
      if (is_new && mine(i)) distinct_.push_back(i);
    }
    find_starts(*backend);
  }

  StudyResults run(const OnProgress& on_progress) {
    if (!store_.folder().empty())
      on_workers(
          distinct_,
          [&](size_t index, Backend& backend) {
            known_[index] =
                is_known(index, backend) || (!options_.stored_only && measure_kept(index, backend));
            ++done_;
          },
          {true, 0, static_cast<int64_t>(distinct_.size()), "", {}}, on_progress);
    const std::set<size_t> missing = this->missing();
    for (const size_t index : missing) results_.missing.push_back(run_at(index).spec);
    results_.stored = static_cast<int32_t>(std::ranges::count_if(
        distinct_, [&](size_t index) { return known_[index] && !missing.contains(index); }));
    Progress progress;
    for (const size_t index : missing) progress.total += run_at(index).spec.train.steps;
    std::set<size_t> left = options_.stored_only ? std::set<size_t>() : missing;
    while (!left.empty() && !stop_) {
      std::vector<size_t> part;  // runs whose start is there, or that have none
      for (const size_t index : left)
        if (!start_of_.contains(index) || !left.contains(start_of_.at(index))) part.push_back(index);
      on_workers(
          part, [&](size_t index, Backend& backend) { train_or_leave(index, backend); }, progress,
          on_progress);
      bool waits = true;  // all that is left is trained by other processes
      for (const size_t index : part) {
        if (elsewhere_[index]) continue;
        waits = false;
        progress.done += run_at(index).spec.train.steps;
        left.erase(index);
      }
      if (waits) wait_for_others(left.size(), progress, on_progress);
    }
    results_.trained = static_cast<int32_t>(std::ranges::count(trained_, true));
    results_.stored += came_;
    if (results_.trained > 0) store_.trim();
    results_.complete = !stop_;
    for (size_t i = 0; i < keys_.size(); ++i)
      if (results_.first[i] != i) results_.runs[i] = results_.runs[results_.first[i]];
    return std::move(results_);
  }

 private:
  bool mine(size_t index) const {
    const auto [shard, count] = options_.shard;
    return static_cast<int32_t>(index % static_cast<size_t>(count)) == shard;
  }
  const StudyRun& run_at(size_t index) const { return study_.runs[index]; }

  // Makes no task in a worker: key_at() of every run made them all before.
  std::shared_ptr<const Task> task_of(size_t index) { return task_in(tasks_, run_at(index).spec.data); }

  std::string key_at(const StudyRun& run, Backend& backend) {
    return key_of(run, task_in(tasks_, run.spec.data)->hash(), backend,
                  run.from ? key_at(*run.from, backend) : std::string());
  }

  std::string state_of(size_t index) const { return store_.state_path(keys_[index], kMeasurement); }
  bool keeps_states() const { return study_.on_run != nullptr; }

  /// Adds the runs from which this shard's runs start, and their starts in turn, even if another shard trains them too.
  void find_starts(Backend& backend) {
    for (size_t i = 0; i < distinct_.size(); ++i) {
      const size_t index = distinct_[i];
      const std::shared_ptr<const StudyRun>& from = run_at(index).from;
      if (!from) continue;
      const auto start = first_.find(key_at(*from, backend));
      if (start == first_.end())
        fail(study_.name, "a run starts from one that is not in the plan: expected both");
      start_of_[index] = start->second;
      if (starts_.insert(start->second).second && !mine(start->second)) distinct_.push_back(start->second);
    }
  }

  /// The runs to be trained. A start without usable weights is trained if a run has to start from it, and a
  /// start of another shard only then.
  std::set<size_t> missing() {
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

  RunSpec spec_of(size_t index) const {
    RunSpec spec = run_at(index).spec;
    const auto start = start_of_.find(index);
    if (start == start_of_.end()) return spec;
    spec.train.init_from = state_of(start->second);
    if (spec.train.init_from.empty())
      fail("run",
           "it starts from another run, whose weights are kept nowhere: expected a folder for results");
    return spec;
  }

  /// Whether `read` succeeds. After a fault in a file of the store, the run is trained again.
  template <typename Read>
  bool usable(const std::string& damaged, const Read& read) {
    try {
      return read();
    } catch (const DeviceError&) {  // such an error concerns all runs, and no file
      throw;
    } catch (const Error&) {
      if (!damaged.empty()) store_.note_damaged(damaged);
      return false;
    }
  }

  /// Whether the store has a result with all requested numbers, and the state if the study needs it (on_run).
  bool is_known(size_t index, Backend& backend) {
    const std::optional<InputValue> result = store_.find(keys_[index], kMeasurement);
    if (!result) return false;
    const std::string state = keeps_states() && is_there(state_of(index)) ? state_of(index) : "";
    return usable(state, [&] {
      RunNumbers taken = numbers_from(*result);
      found_[index] = taken.measured;
      if (looked_in_no_stack(taken, run_at(index).spec.model)) return false;
      if (!taken.has(study_.numbers) || (keeps_states() && state.empty())) return false;
      std::unique_ptr<Run> run;
      if (keeps_states()) {
        run = kept(index, backend);
        if (!run) return false;
        if (run->steps_done() != taken.steps) fail("result", "its state is that of another step");
      }
      take(index, run.get(), std::move(taken));
      return true;
    });
  }

  /// The run of a kept state; null where the study wants to see more of it than was measured then: a run that others
  /// start from is kept without live measurements.
  std::unique_ptr<Run> kept(size_t index, Backend& backend) {
    auto run = Run::load(state_of(index), task_of(index), backend, Run::Word::OfItsKey);
    return keeps_states() && run->measured_every() == 0 ? nullptr : std::move(run);
  }

  /// Whether a run's state was kept and has been measured; it ends as a trained run does, to the bit.
  bool measure_kept(size_t index, Backend& backend) {
    const StudyRun& run = run_at(index);
    // A run that starts from another run has no fresh state, which begin() would measure.
    if (run.from || !store_.find(keys_[index], kMeasurement) || !is_there(state_of(index))) return false;
    return usable("", [&] {
      const std::unique_ptr<Run> end = kept(index, backend);
      if (!end || (end->steps_done() < run.spec.train.steps && !end->non_finite())) return false;
      Meter meter(asked_at(index));
      Run fresh(run.spec, task_of(index), backend);
      fresh.schedule_edits(run.edits);
      meter.begin(fresh);
      meter.afterwards(*end);
      finish(index, *end, meter);
      return true;
    });
  }

  /// The measurements to take of a run: also the ones that a stored result has, so that nothing is lost.
  Names asked_at(size_t index) const {
    Names asked = study_.numbers;
    asked.insert(found_[index].begin(), found_[index].end());
    return asked;
  }

  std::unique_ptr<Run> begin(size_t index, Backend& backend, Meter& meter) {
    auto run = std::make_unique<Run>(spec_of(index), task_of(index), backend);
    run->measure_live(study_.on_run || study_.numbers.contains(kLast));
    run->schedule_edits(run_at(index).edits);
    meter.begin(*run);
    return run;
  }

  /// Trains a run, unless another process that shares the folder trains it now or has done so since we looked.
  void train_or_leave(size_t index, Backend& backend) {
    Reservation reserved(store_.reservation_path(keys_[index], kMeasurement));
    elsewhere_[index] = !reserved.ours();
    if (elsewhere_[index]) return;
    const bool there = !store_.folder().empty() && is_known(index, backend) &&
                       (!starts_.contains(index) || store_.opens(state_of(index)));
    if (!there) return train_one(index, backend, reserved);
    done_ += run_at(index).spec.train.steps;
    ++came_;
  }

  void wait_for_others(size_t runs, Progress& progress, const OnProgress& on_progress) {
    progress.note = fmt::format("waiting for {} of another process", runs == 1 ? "a run" : "runs");
    progress.at_work.clear();
    if (!on_progress(progress)) stop_ = true;
    std::this_thread::sleep_for(kOthersTurn);
  }

  void train_one(size_t index, Backend& backend, Reservation& reserved) {
    const int32_t steps = run_at(index).spec.train.steps;
    Meter meter(asked_at(index));
    std::unique_ptr<Run> run;
    try {
      run = begin(index, backend, meter);
    } catch (const DeviceError&) {  // such an error concerns all runs
      throw;
    } catch (const Error& error) {
      fail_run(index, error.what());
      done_ += steps;
      return;
    }
    while (run->steps_done() < steps && !run->non_finite()) {
      if (stop_) return;
      run->step();
      ++done_;
      const int32_t step = run->steps_done();
      tell(step);
      reserved.renew();
      if (study_.on_run && step % kValidationEvery == 0 && step < steps && !run->non_finite())
        run->validation_loss();  // at the end the measurement validates
      meter.after_step(*run);
      if (study_.on_step && !study_.on_step(index, *run)) stop_ = true;
    }
    done_ += steps - run->steps_done();
    finish(index, *run, meter);
    trained_[index] = true;
  }

  void finish(size_t index, Run& run, Meter& meter) {
    RunNumbers taken = meter.end(run);
    store_.attempt(keys_[index], [&] {
      // The state is kept first, because a result promises it.
      if ((keeps_states() || starts_.contains(index)) && !store_.folder().empty())
        run.save(state_of(index), kHistoryBudget);
      store_.put(keys_[index], kMeasurement, to_json(taken));
    });
    take(index, &run, std::move(taken));
  }

  /// Hands on a result, and the run to on_run.
  void take(size_t index, Run* run, RunNumbers taken) {
    if (study_.on_run) study_.on_run(index, *run);
    const std::lock_guard lock(taken_mutex_);
    results_.runs[index] = asked_of(std::move(taken), study_.numbers);
    if (on_taken_) on_taken_(index, *results_.runs[index]);
  }

  void fail_run(size_t index, const std::string& why) {
    const std::lock_guard lock(taken_mutex_);
    results_.runs[index] = failed(why);
  }

  void begin_work(size_t index) {
    std::unique_lock lock(mutex_);
    ++going_on_;
    wait_for_turn(lock);
    at_work_[std::this_thread::get_id()] = {index, 0, run_at(index).spec.train.steps};
  }

  void end_work() {
    const std::lock_guard lock(mutex_);
    --going_on_;
    at_work_.erase(std::this_thread::get_id());
  }

  /// Notes how far the run of this thread has come.
  void tell(int32_t steps) {
    std::unique_lock lock(mutex_);
    at_work_[std::this_thread::get_id()].done = steps;
    wait_for_turn(lock);
  }

  /// Waits while more runs are under way than allowed() permits.
  void wait_for_turn(std::unique_lock<std::mutex>& lock) {
    if (!options_.allowed || going_on_ <= options_.allowed()) return;
    --going_on_;
    while (!stop_ && going_on_ >= options_.allowed()) turn_.wait_for(lock, kTurn);
    ++going_on_;
  }

  void tell_work(Progress& progress) {
    const std::lock_guard lock(mutex_);
    progress.note.clear();
    progress.at_work.clear();
    for (const auto& [thread, run] : at_work_) {
      const RunSpec& spec = run_at(run.index).spec;
      const std::string name = spec.name.empty() ? default_name(spec) : spec.name;
      progress.note += fmt::format("{}{} seed {}", progress.note.empty() ? "" : ", ", name, spec.seed);
      if (!progress.looking) progress.at_work.push_back(run);
    }
  }

  /// Each worker has a thread of its own, and this one reports progress. While looking, a backend has one thread.
  template <typename Each>
  void on_workers(const std::vector<size_t>& work, const Each& each, Progress progress,
                  const OnProgress& on_progress) {
    done_ = 0;
    const int32_t most = runs_at_a_time(options_), count = std::min(most, static_cast<int32_t>(work.size()));
    const int32_t shared = options_.threads_each > 0 ? options_.threads_each : most / std::max(1, count);
    const int64_t before = progress.done;
    const auto make = [&, threads = progress.looking ? 1 : shared] {
      return [&, backend = std::shared_ptr<Backend>(make_backend(options_.backend, threads))](size_t i) {
        begin_work(work[i]);
        each(work[i], *backend);
        end_work();
      };
    };
    run_jobs(study_.name, work.size(), count, stop_, make, [&] {
      progress.done = before + done_;
      progress.unkept = store_.unkept();
      tell_work(progress);
      if (!on_progress(progress)) stop_ = true;
    });
  }

  const Study& study_;
  ResultStore& store_;
  const RunnerOptions& options_;
  const OnNumbers& on_taken_;
  std::vector<std::string> keys_;
  std::map<std::string, size_t> first_;  // the run of each key
  std::vector<size_t> distinct_;
  std::map<size_t, size_t> start_of_;  // for a distinct run, the one that it starts from
  std::set<size_t> starts_;            // the runs that others start from
  MadeTasks tasks_;
  std::vector<char> known_, trained_;  // has a result; was trained in this call
  std::vector<char> elsewhere_;        // another process trains it
  std::vector<Names> found_;           // numbers of a stored result that lacks others
  StudyResults results_;
  std::atomic<bool> stop_{false};
  std::atomic<int64_t> done_{0};
  std::atomic<int32_t> came_{0};  // results of other processes since we looked
  std::mutex mutex_, taken_mutex_;
  std::condition_variable turn_;
  int32_t going_on_ = 0;                       // workers that do not wait for their turn
  std::map<std::thread::id, AtWork> at_work_;  // by worker
};

/// All that decides how long a step takes: everything that a run cannot change while it goes on, but its seed.
std::string size_of(const RunSpec& spec) {
  std::string text;
  for (const Field& field : spec_fields())
    if (!field.live && field.key != "run.seed") text += field.get(spec) + "\n";
  return text;
}

double seconds_a_step(const RunSpec& spec, Backend& backend) {
  Run run(spec, make_task(spec.data), backend);
  run.step();  // takes first what happens only once
  const auto start = std::chrono::steady_clock::now();
  for (int32_t i = 0; i < kTimedSteps; ++i) run.step();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / kTimedSteps;
}

std::string store_word(const ExportedStudy& where) {
  return where.store.empty() ? where.name + "-results" : where.store;
}

std::string show_text(const ExportedStudy& where) {
  return fmt::format("{} --store {}{}", where.command(" "), store_word(where), where.shows);
}

std::string slurm_text(const ExportedStudy& where) {
  const int32_t tasks = tasks_of(where);
  std::string script = fmt::format(
      "#!/bin/bash\n"
      "#SBATCH --job-name=normscope-{}\n"
      "#SBATCH --array=0-{}\n"
      "#SBATCH --cpus-per-task={}\n",
      where.name, tasks - 1, where.threads);
  if (where.cuda) script += "#SBATCH --gres=gpu:1\n";
  script +=
      "# Your cluster may want more, such as --time. A placement of a file, placements/NAME.toml in the folder of\n"
      "# your settings, has to be on every node.\n";
  // The count is written out: SLURM_ARRAY_TASK_COUNT is 1 for a task that is submitted again alone.
  return script +
         fmt::format(
             "exec {} \\\n  --threads {} \\\n  --store {} \\\n  --shard "
             "\"$SLURM_ARRAY_TASK_ID\"/{}\n"
             "# A task that was killed: sbatch --array=ITS_NUMBER with this file; what it finished is kept.\n"
             "# When all are done:\n#   {}\n",
             where.command(" \\\n  "), where.threads, store_word(where), tasks, show_text(where));
}

std::string parallel_text(const ExportedStudy& where) {
  const int32_t tasks = tasks_of(where);
  return fmt::format("seq 0 {} | parallel -q {} --threads {} --store {} --shard {{}}/{}\n{}\n", tasks - 1,
                     where.command(" "), where.threads, store_word(where), tasks, show_text(where));
}

}  // namespace

void run_jobs(const std::string& what, size_t count, int32_t threads, std::atomic<bool>& stop,
              const std::function<WorkOn()>& make, const std::function<void()>& tick) {
  std::atomic<size_t> next{0};
  std::mutex mutex;
  std::condition_variable ended;
  std::exception_ptr error;
  const size_t workers = std::min(static_cast<size_t>(std::max(1, threads)), count);
  size_t busy = workers;
  const auto worker = [&] {
    try {
      const WorkOn work_on = make();
      for (size_t i = next++; i < count && !stop; i = next++) work_on(i);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!error) error = exception_for_others(what);
      stop = true;
    }
    const std::lock_guard lock(mutex);
    --busy;
    ended.notify_all();
  };
  {
    std::vector<std::jthread> all;
    try {
      for (size_t i = 0; i < workers; ++i) all.push_back(start_thread(what, worker));
      std::unique_lock lock(mutex);
      while (busy > 0) {
        ended.wait_for(lock, kTick);
        lock.unlock();
        tick();
        lock.lock();
      }
    } catch (...) {
      stop = true;  // the workers finish their jobs; then they are joined
      throw;
    }
  }
  if (error) std::rethrow_exception(error);
}

int32_t default_runs_at_a_time() { return usable_cores(); }

int32_t runs_at_a_time(const RunnerOptions& options) {
  if (options.runs_at_a_time > 0) return options.runs_at_a_time;
  return options.backend.cuda ? 1 : default_runs_at_a_time();
}

std::string StudyResults::failure() const {
  for (const auto& run : runs)
    if (run && run->failed()) return run->what();
  return {};
}

StudyResults train(const Study& study, ResultStore& store, const RunnerOptions& options,
                   const OnProgress& on_progress, const OnNumbers& on_taken) {
  return Training(study, store, options, on_taken).run(on_progress);
}

double estimated_seconds(const std::vector<RunSpec>& runs, int32_t at_a_time, BackendChoice choice) {
  std::map<std::string, std::pair<const RunSpec*, double>> sizes;  // for each size, the steps of all its runs
  for (const RunSpec& spec : runs) {
    auto& [example, steps] = sizes.try_emplace(size_of(spec), &spec, 0.0).first->second;
    steps += spec.train.steps;
  }
  const std::unique_ptr<Backend> backend = make_backend(choice, 1);
  const size_t stride = (sizes.size() + kMaxTimed - 1) / kMaxTimed;
  double seconds = 0, timed = 0, all = 0;
  size_t place = 0;
  for (const auto& [size, entry] : sizes) {
    const auto& [example, steps] = entry;
    all += steps;
    if (place++ % stride != 0) continue;
    try {
      seconds += steps * seconds_a_step(*example, *backend);
      timed += steps;
    } catch (const DeviceError&) {
      throw;
    } catch (const Error&) {  // such a run cannot be trained, and train() reports it
    }
  }
  return timed > 0 ? seconds * all / timed / std::max(1, at_a_time) : 0;
}

std::string backend_text(const BackendChoice& backend, std::string_view between) {
  std::string line;
  if (backend.cuda) line.append(between).append("--backend cuda");
  if (backend.tf32) line.append(between).append("--tf32");
  return line;
}

int32_t tasks_of(const ExportedStudy& where) {
  return where.tasks > 0 ? where.tasks : static_cast<int32_t>(std::clamp<int64_t>(where.runs, 1, kMaxTasks));
}

std::string text_for(std::string_view form, const ExportedStudy& where) {
  if (form == "command") return where.command(" ") + "\n";
  if (form == "slurm") return slurm_text(where);
  if (form == "parallel") return parallel_text(where);
  fail("--print-command", "'{}' is unknown: expected command, slurm or parallel", form);
}

}  // namespace normscope::experiments
