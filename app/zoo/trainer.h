// Trains the jobs of a plan and measures a Record of each, with recording.h of experiments. Called by
// app/commands/zoo.cpp and the tests.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "app/zoo/plan.h"
#include "training/experiments/record.h"
#include "training/experiments/runner.h"

namespace normscope::zoo {

using experiments::Record;

struct Visit {
  std::vector<std::optional<Record>> records;  ///< one a job; none: not trained (yet)
  int32_t trained = 0, stored = 0;             ///< distinct runs
  bool complete = true;                        ///< false: stopped
};

/// Depth by depth and seed by seed. A run that could not be made is a Record of verdict Failed, and not kept.
/// See experiments::train.
Visit visit(const std::vector<Job>& jobs, experiments::ResultStore& store,
            const experiments::RunnerOptions& options,
            const std::function<bool(const experiments::Progress&)>& on_progress);

}  // namespace normscope::zoo
