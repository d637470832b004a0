// A study: runs of complete specifications, of each of which a Taken is measured (taken.h). What asks for them, a sweep's
// cells, the zoo's entries, a lesson's checks or a claim, fills in the runs and reads the results by their places; the
// store, shards, going on after a stop and the count of what is missing are the same for all. Called by app/sweep,
// app/zoo, app/reproduce and the commands.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "training/experiments/runner.h"
#include "training/experiments/taken.h"

namespace normscope::experiments {

/// A run of a study. One whose settings do not go together says why in `refused`, and is not trained.
struct Planned {
  Experiment run;
  std::string refused{};
};

/// A run of a study at its end, by its place.
using OnRun = std::function<void(size_t, Run&)>;

struct Study {
  std::string name;  ///< for messages and for the mark of a shard: "sweep"
  /// Seed by seed where it can be, so that a study that ends early has something of every row.
  std::vector<Planned> runs{};
  Parts parts = kShares;  ///< that it needs of every run
  /// Not empty: runs measure themselves at every step and validate every kValidationEvery steps, their states are kept, and
  /// each is shown here, of equal runs the first, from the threads that train or look, several at once.
  OnRun on_run{};
};

struct Studied {
  /// By run. None: not trained (yet). A run that is refused or could not be made has the verdict Failed.
  std::vector<std::optional<Taken>> runs;
  std::vector<size_t> missing;      ///< see Outcome
  std::vector<size_t> first;        ///< by run, the first that is equal to it, or itself
  int32_t trained = 0, stored = 0;  ///< distinct runs
  bool complete = true;             ///< false: stopped
  std::vector<std::optional<Record>> records() const;
};

/// Each as soon as it is there, by its place; of equal runs the first. Called from a thread that trains, one call at a
/// time.
using OnTaken = std::function<void(size_t, const Taken&)>;

/// A run that could not be made is not kept. AtWork::index is the place among the study's runs. See experiments::train of
/// runner.h.
Studied train(const Study& study, ResultStore& store, const RunnerOptions& options,
              const std::function<bool(const Progress&)>& on_progress, const OnTaken& on_taken = {});

/// Specifications of the runs that the store lacks and this shard trains.
std::vector<RunSpec> missing_runs(const Study& study, const Studied& studied);

/// How long runs take, `at_a_time` of them side by side on a thread each: a few steps of one run of every size among
/// them (of eight, spread over them, where there are more) are timed, which takes some seconds. Seconds, a guess.
double estimated_seconds(const std::vector<RunSpec>& runs, int32_t at_a_time, BackendChoice backend);
/// "20 s", "8 min", "1.5 h".
std::string duration_words(double seconds);

}  // namespace normscope::experiments
