// Trains runs with the runner of experiments and measures a Record of each (record.h): one measurement for all who
// ask, so that a run is trained once. A run of which a lesson kept the state is measured after the fact. Called by
// zoo/trainer.cpp, sweep/trainer.cpp, reproduce/taken.cpp and the tests.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "training/experiments/record.h"
#include "training/experiments/runner.h"

namespace normscope::experiments {

/// The name of the measurement in the store.
inline constexpr const char* kRecording = "record 2";

struct Recorded {
  std::vector<std::optional<Record>> records;  ///< one an experiment; none: not trained (yet)
  std::vector<size_t> missing;                 ///< see Outcome
  int32_t trained = 0, stored = 0;             ///< distinct runs
  bool complete = true;                        ///< false: stopped
};

/// Each record as soon as it is there, by the experiment's place; of equal ones the first. From a thread that
/// trains, one call at a time.
using OnRecord = std::function<void(size_t, const Record&)>;

/// A run that could not be made is a Record of verdict Failed, and not kept. `name`: for messages, "zoo". See
/// experiments::train.
Recorded record_runs(const std::string& name, std::vector<Experiment> experiments, ResultStore& store,
                     const RunnerOptions& options, const std::function<bool(const Progress&)>& on_progress,
                     const OnRecord& on_record = {});

/// Of a run at its end, what its losses and its history say: all but beta2, which only a fresh model has, the score, and
/// the gradients where the history has no frame of their step any more.
Record record_of(const Run& run);

}  // namespace normscope::experiments
