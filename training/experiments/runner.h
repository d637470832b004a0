// The runner is the one service that trains runs to measure something of them: for the lessons' checks, and
// for whatever compares or reproduces. Runs are independent: several train at a time, each on a backend of its
// own, and their number changes no bit. A run that the store has is not trained. An interrupted run is kept with its
// state and goes on from its step next time, to the same bits; a run that was killed goes on from its state of at
// most a minute before.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/error.h"
#include "training/data/task.h"
#include "training/experiments/store/result_store.h"
#include "training/experiments/store/shards.h"
#include "training/run/run.h"
#include "training/spec/backend_choice.h"

namespace normscope::experiments {

/// Measures one run. It is made for that run, and called from the thread that trains it.
class Measurement {
 public:
  virtual ~Measurement() = default;
  virtual void begin(Run&) {}                           ///< of a fresh run, before its first step
  virtual bool after_step(const Run&) { return true; }  ///< false: stop
  virtual nlohmann::json end(Run&) = 0;                 ///< the result
  virtual nlohmann::json so_far() const { return nlohmann::json::object(); }  ///< of an interrupted run
  /// Takes up what so_far() returned. False: that is not enough, and the run begins again. Throws Error for
  /// values that so_far() cannot have written.
  virtual bool go_on(const InputValue&) { return true; }
  /// Measures a finished run from the state that was kept, after begin() has seen a fresh one: it takes
  /// from the history what after_step() would have seen. Throws Error where the history no longer has that; the run
  /// is then trained again.
  virtual void afterwards(Run&) { fail("result", "cannot be measured after the fact"); }
  /// Sees the result of a run that the store has. `state` is the state that the plan keeps, null where it is
  /// gone. False: the result is not enough, and the run is measured again, as it is when a state that the plan keeps
  /// is gone. Throws Error where the value is no result.
  virtual bool known(const InputValue&, Run* state) {
    (void)state;
    return true;
  }
};

struct Plan {
  std::string name;         ///< for messages: "a lesson's runs"
  std::string measurement;  ///< its name and version, "run 1": raised when it measures something else
  std::vector<Experiment>
      experiments;  ///< the run that one starts from (Experiment::from) is one of them too
  std::function<std::unique_ptr<Measurement>(size_t)> measure;  ///< for the experiment at an index
  bool keep_state = false;     ///< of finished runs, with their whole history, for later measurements
  bool live = false;           ///< the run measures itself at every step too (Run::measure_live)
  int32_t validate_every = 0;  ///< steps between the validation losses that join its history; 0: none does
  bool keep_results = true;    ///< in Outcome::results; false: only the measurements are told them
};

struct RunnerOptions {
  int32_t runs_at_a_time = 0;  ///< 0: see runs_at_a_time()
  /// The threads of a run's backend. 0 gives each of `runs_at_a_time` runs one thread, because
  /// threads within a small run wait for each other; fewer runs share the threads.
  int32_t threads_each = 1;
  bool stored_only = false;  ///< trains nothing; results that the store lacks stay empty
  Shard shard{};
  BackendChoice backend{};
};

/// A run that is being trained.
struct AtWork {
  size_t index = 0;             ///< of its experiment
  int32_t done = 0, total = 1;  ///< steps
};

struct Progress {
  bool looking = false;           ///< for results in the store, run by run
  int64_t done = 0, total = 0;    ///< steps; while looking, runs
  std::string note;               ///< what is being trained
  std::vector<AtWork> at_work{};  ///< the runs of `note`, each with its steps
  std::string unkept{};           ///< why the store could not keep something; empty: it keeps everything
};

struct Outcome {
  /// Has nothing for an experiment that is not trained (yet), belongs to another shard, or failed. It is
  /// empty where the plan keeps no results.
  std::vector<std::optional<InputValue>> results;
  std::vector<size_t> first;             ///< by experiment, the first that is equal to it
  std::map<size_t, std::string> failed;  ///< why a run could not be trained
  /// The distinct experiments that the store lacks and this shard trains, and what they start from.
  std::vector<size_t> missing;
  int32_t trained = 0, stored = 0;  ///< distinct runs; a stored run is not among `missing`
  bool complete = true;             ///< false: stopped
};

/// Trains the plan's experiments, equal ones once. A run that another experiment starts from is trained first
/// and kept with its state, which requires a store with a folder; every shard that needs such a run trains it. The
/// calling thread calls `on_progress` about ten times a second. When `on_progress` returns false, `train` stops and
/// keeps the unfinished runs with their states. A result that the store cannot keep is in the outcome all the same
/// (ResultStore::unkept). Throws Error before any training where the shard cannot be marked in the store. Throws
/// DeviceError when the device is lost or too small, which is no verdict on any run.
Outcome train(const Plan& plan, ResultStore& store, const RunnerOptions& options,
              const std::function<bool(const Progress&)>& on_progress);

/// One for each physical core.
int32_t default_runs_at_a_time();
/// What the options say, else one for each physical core, and on a device a single run.
int32_t runs_at_a_time(const RunnerOptions& options);

}  // namespace normscope::experiments
