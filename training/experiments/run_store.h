// Finds or trains the runs of lessons. It never trains a run again that is in the RunCache (run/run_record.h) of its
// trainer, which it shares with the Lab, or in the store on disk. train() of study.h trains and measures any other run
// there, and both stores keep it.
// RunStore computes once what a lesson needs in addition to the history (shares of branches, a text that the model
// writes). Any number of threads may ask at once, each through its own RunStore (`beside`), which shares all results
// and has a backend of its own.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/error.h"
#include "engine/tape/backend.h"
#include "training/data/task.h"
#include "training/experiments/study.h"
#include "training/measure/history.h"
#include "training/run/run_record.h"

namespace normscope::experiments {

/// The shares beta^2: row i has columns 0..i+1, see residual_dependency.
using ShareMap = std::vector<std::vector<double>>;

/// What lessons need of a finished run, in addition to the numbers of every run (run_numbers.h).
struct RunFindings {
  double level = 0;  ///< loss of a model that knows letter frequencies only
  std::string text;  ///< written by the model at the end
  std::shared_ptr<const History> history;
  ShareMap shares_start, shares_end;  ///< empty unless the model is one stack of layers
};

/// The progress of a run in training; the thread that trains reports it after every step.
struct RunProgress {
  std::string key;  ///< StudyRun::key()
  int32_t step = 0, steps = 0;
  std::shared_ptr<const History> history;  ///< still growing; any thread may read it
  double level = 0;
};
/// False to stop; Cancelled is thrown then.
using OnStep = std::function<bool(const RunProgress&)>;
struct Cancelled : Error {
  Cancelled() : Error("stopped") {}
};

class RunStore {
 public:
  /// 0 threads: one for each physical core. `trainer`: null for one of its own. `place`: the folder of the store on
  /// disk; without a folder there is no store.
  explicit RunStore(int threads = 0, std::shared_ptr<Trainer> trainer = nullptr, StorePlace place = {});
  /// This constructor uses a store that is open already; the runs_at_a_time of `runner` take the place of `threads`.
  RunStore(ResultStore kept, const RunnerOptions& runner);
  ~RunStore();
  /// A RunStore for another thread, with the same results.
  std::unique_ptr<RunStore> beside(int threads) const;
  int threads() const { return threads_; }

  /// Returns the finished run, and trains it first where it is missing. Throws Error, and Cancelled.
  std::shared_ptr<const RunFindings> get(const StudyRun& run, const OnStep& on_step);
  /// The shares of the run's model before its first step, without any training. Empty unless the model is one stack of
  /// layers.
  ShareMap start_shares(const RunSpec& spec);
  /// Returns by how many nats the finished run's validation loss rises without each layer of its only
  /// stack; with `top`, without the last 1, 2, ... layers (training/session/analysis.h). It trains the run as get()
  /// does. Throws Error unless the model is a single stack.
  std::vector<double> left_out(const StudyRun& run, bool top, const OnStep& on_step);
  /// The loss of the step's own batch after the step, had it been made at each of these rates (Run::step_along). The
  /// run is trained anew up to that step, so an early step costs little.
  std::vector<double> along_step(const StudyRun& of, int32_t step, const std::vector<double>& rates,
                                 const OnStep& on_step);
  /// Trains the runs that no store has, several at once on one thread each. It calls `on_step` from those threads.
  /// Throws Error, and Cancelled.
  void train_ahead(std::vector<StudyRun> runs, const OnStep& on_step);
  /// Does the same for a study, as `runner` says. All `runs` count, in memory or not, so that a shard is the
  /// same part of them whatever the store has. Throws Error where a run could not be trained.
  StudyResults train(std::vector<StudyRun> runs, const OnStep& on_step, const OnProgress& on_progress);
  /// Drops the results in memory; results on disk or in the RunCache are found again.
  void forget();
  /// By StudyRun::key(); nullptr for a run that no get() has asked for.
  std::shared_ptr<const RunFindings> find(const std::string& key) const;

  /// Sets the function with which look() asks whether to stop. A curve calls look() before each model that it builds.
  void stop_when(std::function<bool()> stop) { stop_ = std::move(stop); }
  /// Throws Cancelled once `stop` returns true.
  void look() const {
    if (stop_ && stop_()) throw Cancelled();
  }

  Backend& backend() { return *backend_; }
  std::shared_ptr<const Task> task(const DataSpec& data);
  int32_t trained() const;  ///< number of runs that were trained, as no store had them
  const ResultStore& on_disk() const { return shared_->kept; }

 private:
  struct SharedResults {
    explicit SharedResults(ResultStore store) : kept(std::move(store)) {}
    ResultStore kept;
    std::mutex mutex;
    std::condition_variable changed;
    std::map<std::string, std::shared_ptr<const RunFindings>> results;
    std::set<std::string> under_way;  ///< keys that a thread is training
    MadeTasks tasks;
    int32_t trained = 0;
  };
  RunStore(int threads, const RunStore& beside);
  std::shared_ptr<const RunFindings> make(const StudyRun& run, const std::string& key, const OnStep& on_step);
  std::shared_ptr<const RunRecord> in_memory(const StudyRun& run);
  std::unique_ptr<Run> at_its_end(const StudyRun& run, const OnStep& on_step);
  void keep(Run& run, const std::string& key, const RunSpec& spec, const std::shared_ptr<const Task>& task);
  StudyResults train(std::vector<StudyRun> runs, const OnStep& on_step, const OnProgress& on_progress,
                     const RunnerOptions& options);

  int threads_;
  std::function<bool()> stop_;
  RunnerOptions runner_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Backend> device_{};  ///< where train() trains, if it is another kind of backend
  std::shared_ptr<SharedResults> shared_;
};

}  // namespace normscope::experiments
