// Trains the jobs of a sweep and measures a Record of each, with recording.h of experiments: what the zoo, a lesson or
// another sweep has trained is not trained again. Called by the command, the screen and the tests.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "app/sweep/sweep_plan.h"
#include "training/experiments/recording.h"

namespace normscope::sweep {

struct Visit {
  std::vector<std::optional<experiments::Record>> records;  ///< one a job; none: not trained (yet)
  std::vector<size_t> missing;      ///< jobs, one a distinct run that the store lacks and this shard trains
  int32_t trained = 0, stored = 0;  ///< distinct runs
  bool complete = true;             ///< false: stopped
};

/// A job that is refused is a Record of verdict Failed at once. `on_record`: by the job's place, as soon as it is
/// there. Otherwise as experiments::record_runs.
Visit visit(const std::vector<Job>& jobs, experiments::ResultStore& store,
            const experiments::RunnerOptions& options,
            const std::function<bool(const experiments::Progress&)>& on_progress,
            const experiments::OnRecord& on_record = {});

/// How long runs take, `at_a_time` of them side by side on a thread each: a few steps of one run of every size among
/// them (of eight, spread over them, where there are more) are timed, which takes some seconds. Seconds, a guess.
double estimated_seconds(const std::vector<RunSpec>& runs, int32_t at_a_time, BackendChoice backend);
/// "20 s", "8 min", "1.5 h".
std::string duration_words(double seconds);

}  // namespace normscope::sweep
