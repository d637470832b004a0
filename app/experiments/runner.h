// The one service that trains runs to measure something of them: the lessons' checks, the zoo, and what compares
// or reproduces. Runs are independent: several train at a time, each on a backend of its own, to the same bits
// whatever their number. What the store has is not trained; an interrupted run is kept with its state and goes on
// from its step next time, to the same bits.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/experiments/result_store.h"
#include "engine/data/task.h"
#include "engine/train/run.h"

namespace normscope::experiments {

/// What is measured of one run; made for it, and called from the thread that trains it.
class Measurement {
 public:
  virtual ~Measurement() = default;
  virtual void begin(Run&) {}                           ///< of a fresh run, before its first step
  virtual bool after_step(const Run&) { return true; }  ///< false: stop
  virtual nlohmann::json end(Run&) = 0;                 ///< the result
  virtual nlohmann::json so_far() const { return nlohmann::json::object(); }  ///< of an interrupted run
  virtual void go_on(const InputValue&) {}                                    ///< from so_far(); throws Error
  /// Of a run that the store has; `state` where the plan keeps it. Throws Error: it is trained again then.
  virtual void known(const InputValue&, Run* state) { (void)state; }
};

struct Plan {
  std::string name;         ///< for messages: "a lesson's runs"
  std::string measurement;  ///< its name and version, "zoo 1": raised when it measures something else
  std::vector<Experiment> experiments;
  std::function<std::unique_ptr<Measurement>(size_t)> measure;  ///< of an experiment, by its index
  bool keep_state = false;  ///< of finished runs, their whole history too, so that more can be asked of them
  bool live = false;        ///< the run measures itself at every step too (Run::measure_live)
};

/// Shard i of n: the experiments whose place in the plan is i modulo n; 0 of 1 is all of them.
struct Shard {
  int32_t index = 0, count = 1;
};
/// "2/8", counted from one. Throws Error.
Shard shard_from(std::string_view text);

struct RunnerOptions {
  int32_t runs_at_a_time = 0;  ///< 0: one per physical core
  int32_t threads_each = 1;    ///< of a run's backend
  bool stored_only = false;    ///< trains nothing: what the store lacks stays empty
  Shard shard{};
};

struct Progress {
  bool looking = false;         ///< in the store, run by run
  int64_t done = 0, total = 0;  ///< steps; runs while looking
  std::string note;             ///< what is being trained
};

struct Outcome {
  /// By experiment; none: not trained (yet), of another shard, or failed.
  std::vector<std::optional<InputValue>> results;
  std::map<size_t, std::string> failed;  ///< why a run could not be trained
  int32_t trained = 0, stored = 0;       ///< different runs
  bool complete = true;                  ///< false: stopped
};

/// `on_progress` is called some ten times a second from the calling thread and returns false to stop: the runs at
/// hand are kept with their state then. Equal experiments are trained once. Throws Error when the store cannot be
/// written.
Outcome train(const Plan& plan, ResultStore& store, const RunnerOptions& options,
              const std::function<bool(const Progress&)>& on_progress);

/// One per physical core.
int32_t default_runs_at_a_time();

}  // namespace normscope::experiments
