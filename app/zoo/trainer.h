// Trains the runs of a plan, several at a time, each on a backend of its own: runs are independent, and a run on
// one core waits for no other core between the stages of its steps. A stored result is accepted only if the run's
// first steps repeat its losses bit for bit: with another program, another processor or a changed engine it is
// trained anew. What is interrupted is kept and goes on from its step next time, to the same bits. Called by
// app/commands/zoo.cpp and the tests.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/zoo/plan.h"
#include "app/zoo/record.h"

namespace normscope::zoo {

struct TrainerOptions {
  int32_t runs_at_a_time = 0;  ///< 0: one per physical core
  int32_t threads_each = 1;    ///< of a run's backend
  bool stored_only = false;    ///< trains nothing: what the store lacks stays empty
};

struct TrainerProgress {
  bool checking = false;        ///< whether what the store has is this program's
  int64_t done = 0, total = 0;  ///< steps; runs while checking
  std::string note;             ///< what is being trained
};

struct Visit {
  std::vector<std::optional<Record>> records;  ///< one a job; none: not trained (yet)
  int32_t trained = 0, stored = 0;             ///< distinct runs
  bool complete = true;                        ///< false: stopped
};

/// `on_progress` is called some ten times a second from the calling thread and returns false to stop: the
/// runs in progress are kept with their state then. A run that throws is a Record of verdict Failed, and not
/// kept. Throws Error when the store cannot be written.
Visit visit(const std::vector<Job>& jobs, RecordStore& store, const TrainerOptions& options,
            const std::function<bool(const TrainerProgress&)>& on_progress);

/// One per physical core.
int32_t default_runs_at_a_time();

}  // namespace normscope::zoo
