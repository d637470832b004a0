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
#include "training/trainer/trainer.h"

namespace normscope::experiments {
namespace {

constexpr auto kTick = std::chrono::milliseconds(100);

constexpr size_t kMaxTimed = 8;
constexpr int32_t kTimedSteps = 3;
constexpr auto kOthersTurn = std::chrono::milliseconds(200);

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
        found_(study.runs.size()),
        backend_(make_backend(options.backend, 1)),
        trainer_(options.trainer ? options.trainer : std::make_shared<Trainer>(runs_at_a_time(options))) {
    results_.runs.resize(study.runs.size());
    results_.first.resize(study.runs.size());
    std::iota(results_.first.begin(), results_.first.end(), size_t{0});
    for (size_t i = 0; i < study.runs.size(); ++i) {
      if (!study.runs[i].refused.empty()) {
        results_.runs[i] = failed(study.runs[i].refused);
        ++results_.refused;
        continue;
      }
      keys_[i] = key_at(study.runs[i]);
      const auto [first, is_new] = first_.emplace(keys_[i], i);
      results_.first[i] = first->second;
      if (is_new && mine(i)) distinct_.push_back(i);
    }
    find_starts();
  }

  StudyResults run(const OnProgress& on_progress) {
    if (!store_.folder().empty()) look(on_progress);
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
      train(part, progress, on_progress);
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

  std::string key_at(const StudyRun& run) {
    return key_of(run, task_in(tasks_, run.spec.data)->hash(), *backend_,
                  run.from ? key_at(*run.from) : std::string());
  }

  std::string state_of(size_t index) const { return store_.state_path(keys_[index], kMeasurement); }
  bool keeps_states() const { return study_.on_run != nullptr; }

  /// Adds the runs from which this shard's runs start, and their starts in turn, even if another shard trains them too.
  void find_starts() {
    for (size_t i = 0; i < distinct_.size(); ++i) {
      const size_t index = distinct_[i];
      const std::shared_ptr<const StudyRun>& from = run_at(index).from;
      if (!from) continue;
      const auto start = first_.find(key_at(*from));
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

  /// A run on its way through the trainer. Calls come from the threads that train, one at a time.
  class OnTheWay final : public Trainer::Companion {
   public:
    OnTheWay(Training& all, size_t index, int32_t threads)
        : all_(all), index_(index), threads_(threads), wish_(all.wish_for(index)) {}
    bool has_begun() const { return begun_; }
    bool has_ended() const { return ended_; }
    AtWork at_work() const { return {index_, steps_, wish_.until()}; }
    /// Lets other processes train the run; for a run that was dropped, when no thread has it.
    void let_go() { reserved_.reset(); }
    static Trainer::Request request_for(const std::shared_ptr<OnTheWay>& run) {
      return {.wish = run->wish_, .task = nullptr, .companion = run, .is_kept = run->wish_.numbers().end};
    }

    /// Null where another process that shares the folder trains the run now, or has done so since we looked.
    std::unique_ptr<Run> begin() override {
      if (ended_) return nullptr;  // it was wanted once more just then
      begun_ = true;
      backend_ = all_.backend_for(threads_);
      reserved_.emplace(all_.store_.reservation_path(all_.keys_[index_], kMeasurement));
      all_.elsewhere_[index_] = !reserved_->ours();
      std::unique_ptr<Run> run =
          reserved_->ours() && !all_.came_from_others(index_, *backend_) ? made() : nullptr;
      if (!run) leave();
      return run;
    }

    bool after_step(Run& run) override {
      ++all_.done_;
      const int32_t step = steps_ = run.steps_done();
      reserved_->renew();
      if (all_.study_.on_run && step % kValidationEvery == 0 && step < wish_.until() && !run.non_finite())
        run.validation_loss();  // at the end the measurement validates
      meter_->after_step(run);
      if (all_.study_.on_step && !all_.study_.on_step(index_, run)) all_.stop_ = true;
      return !all_.stop_ || step == wish_.until();
    }

    void end(std::unique_ptr<Run> run) override {
      all_.done_ += wish_.until() - run->steps_done();
      all_.finish(index_, *run, *meter_);
      all_.trained_[index_] = true;
      run.reset();
      leave();
    }

    void fail() override {
      all_.end_with(exception_for_others(all_.study_.name));
      leave();
    }

   private:
    /// Null where the run cannot be made, which is its result.
    std::unique_ptr<Run> made() try {
      meter_.emplace(all_.asked_at(index_));
      auto run = std::make_unique<Run>(all_.spec_of(index_), all_.task_of(index_), *backend_);
      run->measure_live(all_.study_.on_run || all_.study_.numbers.contains(kLast));
      run->schedule_edits(all_.run_at(index_).edits);
      meter_->begin(*run);
      return run;
    } catch (const DeviceError&) {  // such an error concerns all runs
      throw;
    } catch (const Error& error) {
      all_.fail_run(index_, error.what());
      all_.done_ += wish_.until();
      return nullptr;
    }

    void leave() {
      let_go();
      all_.take_back(std::move(backend_));
      ended_ = true;
    }

    Training& all_;
    const size_t index_;
    const int32_t threads_;
    const Wish wish_;
    std::unique_ptr<Backend> backend_;
    std::optional<Reservation> reserved_{};
    std::optional<Meter> meter_{};
    std::atomic<int32_t> steps_{0};
    std::atomic<bool> begun_{false}, ended_{false};
  };

  void wait_for_others(size_t runs, Progress& progress, const OnProgress& on_progress) {
    progress.note = fmt::format("waiting for {} of another process", runs == 1 ? "a run" : "runs");
    progress.at_work.clear();
    if (!on_progress(progress)) stop_ = true;
    std::this_thread::sleep_for(kOthersTurn);
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

  void end_with(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
    stop_ = true;
  }

  /// What the trainer is told of a run. Where every run is looked at, its record answers others' wishes too.
  Wish wish_for(size_t index) {
    const StudyRun& run = run_at(index);
    if (!study_.on_run || run.from) return {{.origin = run.spec, .edits = {}, .scheduled = {}}, {}};
    return {identity_of(run.spec, run.edits, *task_of(index), *backend_),
            {Run::live_interval(*backend_), kValidationEvery, true}};
  }

  /// Whether another process has trained the run since we looked.
  bool came_from_others(size_t index, Backend& backend) {
    const bool there = !store_.folder().empty() && is_known(index, backend) &&
                       (!starts_.contains(index) || store_.opens(state_of(index)));
    if (!there) return false;
    done_ += run_at(index).spec.train.steps;
    ++came_;
    return true;
  }

  std::unique_ptr<Backend> backend_for(int32_t threads) {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        auto backend = std::move(free_.back());
        free_.pop_back();
        return backend;
      }
    }
    return make_backend(options_.backend, threads);
  }

  void take_back(std::unique_ptr<Backend> backend) {
    if (!backend) return;
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(backend));
  }

  void look(const OnProgress& on_progress) {
    done_ = 0;
    Progress progress{true, 0, static_cast<int64_t>(distinct_.size()), "", {}};
    const auto make = [&] {
      return [&, backend = std::shared_ptr<Backend>(make_backend(options_.backend, 1))](size_t i) {
        const size_t index = distinct_[i];
        known_[index] = is_known(index, *backend) || (!options_.stored_only && measure_kept(index, *backend));
        ++done_;
      };
    };
    run_jobs(study_.name, distinct_.size(), runs_at_a_time(options_), stop_, make,
             [&] { tell(progress, 0, on_progress); });
  }

  /// Trains these runs in their order, as many at a time as may. This thread wishes for them and reports progress.
  void train(const std::vector<size_t>& part, Progress progress, const OnProgress& on_progress) {
    const int32_t most = runs_at_a_time(options_), count = std::min(most, static_cast<int32_t>(part.size()));
    const int32_t threads = options_.threads_each > 0 ? options_.threads_each : most / std::max(1, count);
    const int64_t before = progress.done;
    done_ = 0;
    free_.clear();  // of another number of threads
    using Clock = std::chrono::steady_clock;
    const auto has_ended = [](const auto& run) { return run->has_ended(); };
    {
      Wisher wisher(trainer_, [this] { note_end(); });
      auto next = part.begin();
      Clock::time_point told{};
      while (!stop_) {
        const int32_t allowed = options_.allowed ? std::clamp(options_.allowed(), 1, most) : most;
        std::erase_if(under_way_, has_ended);
        while (next != part.end() && std::ssize(under_way_) < allowed)
          under_way_.push_back(std::make_shared<OnTheWay>(*this, *next++, threads));
        if (under_way_.empty()) break;
        wisher.at_a_time(allowed);
        std::vector<Trainer::Request> wanted;
        for (const auto& run : under_way_) wanted.push_back(OnTheWay::request_for(run));
        wisher.want(wanted);
        wait_for_end();
        const bool last = next == part.end() && std::ranges::all_of(under_way_, has_ended);
        if (!last && Clock::now() - told < kTick) continue;
        tell(progress, before, on_progress);
        told = Clock::now();
      }
    }  // the steps under way end here
    for (const auto& run : under_way_) run->let_go();
    under_way_.clear();
    if (error_) std::rethrow_exception(error_);
  }

  void note_end() {
    const std::lock_guard lock(mutex_);
    one_ended_ = true;
    ended_.notify_all();
  }

  void wait_for_end() {
    std::unique_lock lock(mutex_);
    ended_.wait_for(lock, kTick, [this] { return one_ended_; });
    one_ended_ = false;
  }

  void tell(Progress& progress, int64_t before, const OnProgress& on_progress) {
    progress.done = before + done_;
    progress.unkept = store_.unkept();
    progress.note.clear();
    progress.at_work.clear();
    for (const auto& one : under_way_) {
      if (!one->has_begun() || one->has_ended()) continue;
      progress.at_work.push_back(one->at_work());
      const RunSpec& spec = run_at(progress.at_work.back().index).spec;
      const std::string name = spec.name.empty() ? default_name(spec) : spec.name;
      progress.note += fmt::format("{}{} seed {}", progress.note.empty() ? "" : ", ", name, spec.seed);
    }
    if (!on_progress(progress)) stop_ = true;
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
  std::vector<char> known_, trained_;       // has a result; was trained in this call
  std::vector<char> elsewhere_;             // another process trains it
  std::vector<Names> found_;                // numbers of a stored result that lacks others
  const std::unique_ptr<Backend> backend_;  // of this thread, whose arithmetic the runs have
  StudyResults results_;
  std::atomic<bool> stop_{false};
  std::atomic<int64_t> done_{0};
  std::atomic<int32_t> came_{0};  // results of other processes since we looked
  const std::shared_ptr<Trainer> trainer_;
  std::vector<std::shared_ptr<OnTheWay>> under_way_;  // of the calling thread
  std::mutex mutex_, taken_mutex_;
  std::condition_variable ended_;
  bool one_ended_ = false;                      // a run, since the calling thread looked
  std::vector<std::unique_ptr<Backend>> free_;  // of runs that have ended
  std::exception_ptr error_;
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
