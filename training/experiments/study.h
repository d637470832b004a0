// `Study` is a set of runs with complete specifications, and training it measures a Taken (taken.h) of each run. A
// comparison, a sweep and a lesson's checks all fill in runs and read the results by their places. The store, the
// shards, going on after a stop and the count of missing runs are the same for all of them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "training/experiments/runner.h"
#include "training/experiments/taken.h"

namespace normscope::experiments {

/// A run of a study. Where its settings do not go together, `refused` says why and the run is not trained.
struct Planned {
  Experiment run;
  std::string refused{};
};

/// Gets a finished run and its place in the study.
using OnRun = std::function<void(size_t, Run&)>;

struct Study {
  std::string name;  ///< for messages and for the mark of a shard: "sweep"
  /// `runs` go seed by seed where possible, so that a study that ends early has something of every row.
  std::vector<Planned> runs{};
  Parts parts = kShares;  ///< what is measured of every run
  /// Gets every finished run (of equal runs the first) from the threads that train or look, several at once.
  /// With it, runs measure themselves at every step, validate every kValidationEvery steps, and keep their states.
  OnRun on_run{};
};

struct Studied {
  /// Has nothing for an untrained run, and the verdict Failed for one that is refused or could not be made.
  std::vector<std::optional<Taken>> runs;
  std::vector<size_t> missing;      ///< see Outcome
  std::vector<size_t> first;        ///< by run, the first run that is equal to it, or itself
  int32_t trained = 0, stored = 0;  ///< distinct runs
  bool complete = true;             ///< false: stopped
  std::vector<std::optional<Record>> records() const;
};

/// Gets each result as soon as it is there, with its place; of equal runs the first. A thread that trains
/// calls it, one call at a time.
using OnTaken = std::function<void(size_t, const Taken&)>;

/// Trains the study as experiments::train (runner.h) does. A run that could not be made is not kept.
/// AtWork::index is the place among the study's runs.
Studied train(const Study& study, ResultStore& store, const RunnerOptions& options,
              const std::function<bool(const Progress&)>& on_progress, const OnTaken& on_taken = {});

/// The specifications of the runs that the store lacks and this shard trains.
std::vector<RunSpec> missing_runs(const Study& study, const Studied& studied);

/// Guesses how many seconds the runs take, `at_a_time` of them side by side on a thread each. It
/// times a few steps of one run of every size, of at most eight sizes spread over them, which takes some seconds.
double estimated_seconds(const std::vector<RunSpec>& runs, int32_t at_a_time, BackendChoice backend);

}  // namespace normscope::experiments
