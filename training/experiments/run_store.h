// Runs for lessons. A run that is among the finished ones in memory (lab/run_cache.h, shared with the Lab) or
// in the store on disk is not trained again; another is trained by the runner of experiments, measured and
// kept in both. What a lesson wants to know of a finished run beside its history (shares of branches, what
// the model writes) is worked out once and kept here. Any number of threads may ask at once, each through a
// RunStore of its own (`beside`): they share all results, and each measures on its own backend.
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
#include "training/experiments/runner.h"
#include "training/measure/history.h"
#include "training/session/run_cache.h"

namespace normscope::experiments {

using ShareMap =
    std::vector<std::vector<double>>;  ///< beta^2: row i has columns 0..i+1, see residual_dependency

/// A finished run as lessons see it.
struct RunResult {
  double level = 0;  ///< loss of a model that knows letter frequencies only
  std::string text;  ///< what the model writes at the end
  std::shared_ptr<const History> history;
  ShareMap shares_start, shares_end;  ///< empty unless the model is one stack of layers
};

/// Where a training stands, told after every step, from the thread that trains.
struct RunProgress {
  std::string key;  ///< of the run
  int32_t step = 0, steps = 0;
  std::shared_ptr<const History> history;  ///< grows on; safe to read from any thread
  double level = 0;
};
/// Returns false to stop: Cancelled is thrown then.
using OnStep = std::function<bool(const RunProgress&)>;
struct Cancelled : Error {
  Cancelled() : Error("stopped") {}
};

class RunStore {
 public:
  /// threads 0 = one per physical core. `finished`: the runs in memory that are shared; null: its own.
  /// `place`: of the store on disk; without a folder there is none.
  explicit RunStore(int threads = 0, std::shared_ptr<RunCache> finished = nullptr, StorePlace place = {});
  /// The same on a store that is there, with `runner` for whatever is trained; runs_at_a_time takes the place of threads.
  RunStore(ResultStore kept, const RunnerOptions& runner);
  ~RunStore();
  /// Another one for another thread, with the same results.
  std::unique_ptr<RunStore> beside(int threads) const;
  int threads() const { return threads_; }

  /// The finished run, trained now when it is not there. Throws Error, and Cancelled.
  std::shared_ptr<const RunResult> get(const RunSpec& spec, const std::vector<Edit>& edits,
                                       const OnStep& on_step);
  /// Rise of the finished run's validation loss, nats, without each layer of its only stack; `top`: without the
  /// last 1, 2, ... of them (training/session/ablation.h). Trained as in get(). Throws Error for any other model.
  std::vector<double> left_out(const RunSpec& spec, const std::vector<Edit>& edits, bool top,
                               const OnStep& on_step);
  /// Those that nobody has trained yet, several at once, one thread each. `on_step` is called from
  /// those threads. Throws Error, and Cancelled.
  void train_ahead(std::vector<Experiment> runs, const OnStep& on_step);
  /// The same for a study, as `runner` has it: all `runs` count, in memory or not, so that a shard is the same part of them
  /// whatever is there. Throws Error where one could not be trained.
  Outcome train(std::vector<Experiment> runs, const OnStep& on_step,
                const std::function<bool(const Progress&)>& on_progress);
  /// Results in memory; what was kept elsewhere is found again.
  void forget();
  /// nullptr when no get() asked for it yet.
  std::shared_ptr<const RunResult> find(const std::string& key) const;
  static std::string key_of(const RunSpec& spec, const std::vector<Edit>& edits);

  /// Asked before each model that a curve builds afresh, which are many and train nothing.
  void stop_when(std::function<bool()> stop) { stop_ = std::move(stop); }
  /// Throws Cancelled where it is to stop.
  void look() const {
    if (stop_ && stop_()) throw Cancelled();
  }

  Backend& backend() { return *backend_; }
  std::shared_ptr<const Task> task(const DataSpec& data);
  int32_t trained() const;  ///< how many runs were really trained
  const ResultStore& on_disk() const { return shared_->kept; }

 private:
  struct Shared {
    explicit Shared(ResultStore store) : kept(std::move(store)) {}
    std::shared_ptr<RunCache> finished;
    ResultStore kept;
    std::mutex mutex;
    std::condition_variable changed;
    std::map<std::string, std::shared_ptr<const RunResult>> results;
    std::set<std::string> under_way;  ///< keys that a thread is training
    std::vector<std::pair<DataSpec, std::shared_ptr<const Task>>> tasks;
    int32_t trained = 0;
  };
  RunStore(int threads, std::shared_ptr<Shared> shared);
  std::shared_ptr<const RunResult> make(const Experiment& run, const std::string& key, const OnStep& on_step);
  std::unique_ptr<Run> at_its_end(const RunSpec& spec, const std::vector<Edit>& edits, const OnStep& on_step);
  void keep(Run& run, const std::string& key, const RunSpec& spec, const std::shared_ptr<const Task>& task);
  Plan plan_of(std::vector<Experiment> runs, const OnStep& on_step);
  void count(const Outcome& outcome);  ///< what was trained; throws Error where a run failed

  int threads_;
  std::function<bool()> stop_;
  RunnerOptions runner_{};
  std::unique_ptr<Backend> backend_;
  std::shared_ptr<Shared> shared_;
};

}  // namespace normscope::experiments
