// The one service that trains runs to measure something of them: the lessons' checks, the zoo, and what compares
// or reproduces. Runs are independent: several train at a time, each on a backend of its own, to the same bits
// whatever their number. What the store has is not trained; an interrupted run is kept with its state and goes on
// from its step next time, to the same bits; so does one that was killed, from where it was a minute before.
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

/// What is measured of one run; made for it, and called from the thread that trains it.
class Measurement {
 public:
  virtual ~Measurement() = default;
  virtual void begin(Run&) {}                           ///< of a fresh run, before its first step
  virtual bool after_step(const Run&) { return true; }  ///< false: stop
  virtual nlohmann::json end(Run&) = 0;                 ///< the result
  virtual nlohmann::json so_far() const { return nlohmann::json::object(); }  ///< of an interrupted run
  /// From so_far(). False: that is not enough, and the run begins again. Throws Error for what is none.
  virtual bool go_on(const InputValue&) { return true; }
  /// Of a run whose state was kept, at its end and after begin() of a fresh one: what after_step() would have seen, from
  /// the history. Throws Error where that is not there any more: the run is trained again.
  virtual void afterwards(Run&) { fail("result", "cannot be measured after the fact"); }
  /// Of a run that the store has; `state` where the plan keeps it, null where it is gone. False: that is not enough, and
  /// the run is measured again, as it is without a state that the plan keeps. Throws Error for what is none.
  virtual bool known(const InputValue&, Run* state) {
    (void)state;
    return true;
  }
};

struct Plan {
  std::string name;         ///< for messages: "a lesson's runs"
  std::string measurement;  ///< its name and version, "run 1": raised when it measures something else
  std::vector<Experiment>
      experiments;  ///< what one of them starts from (Experiment::from) is one of them too
  std::function<std::unique_ptr<Measurement>(size_t)> measure;  ///< of an experiment, by its index
  bool keep_state = false;  ///< of finished runs, their whole history too, so that more can be asked of them
  /// Other names of the measurement, as earlier versions had them.
  std::vector<std::string> earlier;
  /// Another measurement under which states of finished runs are kept. A run whose state is there, or under this plan's own
  /// measurement, is measured and not trained.
  std::string states_of;
  bool live = false;           ///< the run measures itself at every step too (Run::measure_live)
  int32_t validate_every = 0;  ///< steps between the validation losses that join its history; 0: none does
  bool keep_results = true;    ///< in Outcome::results; false: they are told to the measurements alone
};

struct RunnerOptions {
  int32_t runs_at_a_time = 0;  ///< 0: see runs_at_a_time()
  /// Of a run's backend. 0: whole runs side by side as long as there are as many as `runs_at_a_time`, because threads
  /// inside a small run wait for each other; where there are fewer runs, each gets its share of the threads.
  int32_t threads_each = 1;
  bool stored_only = false;  ///< trains nothing: what the store lacks stays empty
  Shard shard{};
  BackendChoice backend{};
};

/// A run that is being trained.
struct AtWork {
  size_t index = 0;             ///< of its experiment
  int32_t done = 0, total = 1;  ///< steps
};

struct Progress {
  bool looking = false;           ///< in the store, run by run
  int64_t done = 0, total = 0;    ///< steps; runs while looking
  std::string note;               ///< what is being trained
  std::vector<AtWork> at_work{};  ///< the same by experiment, with the steps of each
  std::string unkept{};           ///< why the store could not keep something; empty: it keeps everything
};

struct Outcome {
  /// By experiment; none: not trained (yet), of another shard, or failed. Empty where the plan keeps none.
  std::vector<std::optional<InputValue>> results;
  std::vector<size_t> first;             ///< by experiment, the first that is equal to it
  std::map<size_t, std::string> failed;  ///< why a run could not be trained
  /// Different ones that the store lacks and this shard trains, with what they start from where that lacks too.
  std::vector<size_t> missing;
  int32_t trained = 0, stored = 0;  ///< different runs; none that is stored is missing too
  bool complete = true;             ///< false: stopped
};

/// `on_progress` is called some ten times a second from the calling thread and returns false to stop: the runs at
/// hand are kept with their state then. Equal experiments are trained once. Those that others start from come first and
/// are kept with their state, which takes a store with a folder; a shard trains them too where it needs them. What the
/// store cannot keep is in the outcome all the same (ResultStore::unkept). Throws Error when a shard cannot be marked
/// there, before anything is trained, and DeviceError when the device is lost or too small: no run is judged by it.
Outcome train(const Plan& plan, ResultStore& store, const RunnerOptions& options,
              const std::function<bool(const Progress&)>& on_progress);

/// One per physical core.
int32_t default_runs_at_a_time();
/// As the options say, else one per physical core, on a device one alone.
int32_t runs_at_a_time(const RunnerOptions& options);

}  // namespace normscope::experiments
