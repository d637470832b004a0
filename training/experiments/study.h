// Runs with complete specifications, trained together; the numbers of each (run_numbers.h) are measured. All training
// in order to measure runs goes through train() here: lessons, comparisons, sweeps and claims fill in the runs and read
// the results by index. Runs are independent: the Trainer (trainer/trainer.h) trains several at a time, each on a
// backend of its own, and their number changes no bit. A run that the store has is not trained; one that was
// interrupted begins again.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "training/experiments/result_store.h"
#include "training/experiments/run_numbers.h"
#include "training/run/run.h"
#include "training/spec/backend_choice.h"

namespace normscope {
class Trainer;
}

namespace normscope::experiments {

struct Study {
  std::string name;  ///< for messages: "sweep"
  /// Seed by seed where possible, so that a study that ends early has a result for every row.
  std::vector<StudyRun> runs{};
  Names numbers{};  ///< numbers that take time to measure, of every run (run_numbers.h)
  /// Called with every finished run (the first of equal runs) on the threads that train or look, several at once. With
  /// it, runs take live measurements at every step, validate every kValidationEvery steps, and keep their states.
  std::function<void(size_t place, Run&)> on_run{};
  std::function<bool(size_t place, const Run&)> on_step{};  ///< after every step; false: stop
};

/// The runs whose place in the study is `index` modulo `count`, for one of several machines; 0 of 1 is the whole.
struct Shard {
  int32_t index = 0, count = 1;
};

struct RunnerOptions {
  int32_t runs_at_a_time = 0;  ///< 0: see runs_at_a_time()
  /// The threads of a run's backend. 0 gives each of `runs_at_a_time` runs one thread, because
  /// threads within a small run wait for each other; fewer runs share the threads.
  int32_t threads_each = 1;
  bool stored_only = false;  ///< trains nothing; results that the store lacks stay empty
  Shard shard{};
  BackendChoice backend{};
  /// The number of runs that may train now; others wait between two steps. Empty: all of `runs_at_a_time`.
  std::function<int32_t()> allowed{};
  /// Trains the runs beside those of others; null: one of the study's own.
  std::shared_ptr<Trainer> trainer{};
};

/// A run that is being trained.
struct AtWork {
  size_t index = 0;             ///< its place in the study
  int32_t done = 0, total = 1;  ///< steps
};

struct Progress {
  bool looking = false;           ///< searches the store for results, run by run
  int64_t done = 0, total = 0;    ///< steps; while looking, runs
  std::string note;               ///< the runs in training
  std::vector<AtWork> at_work{};  ///< the runs in training, each with its steps
  std::string unkept{};           ///< ResultStore::unkept()
};
using OnProgress = std::function<bool(const Progress&)>;  ///< false: stop

struct StudyResults {
  /// Empty for an untrained run; the verdict Failed for a run that is refused or could not be made.
  std::vector<std::optional<RunNumbers>> runs;
  std::vector<size_t> first;  ///< by run, the first run that is equal to it, or itself
  /// The distinct runs that the store lacks and this shard trains, and the runs from which they start.
  std::vector<RunSpec> missing;
  int32_t refused = 0;              ///< runs
  int32_t trained = 0, stored = 0;  ///< distinct runs; a stored run is not among `missing`
  bool complete = true;             ///< false: stopped
  std::string failure() const;      ///< why the first run that failed could not be trained; empty: none did
};

/// Called with the index and the numbers of each result as soon as there is one; of equal runs, with the first. Threads
/// that train or look call it, one call at a time.
using OnNumbers = std::function<void(size_t, const RunNumbers&)>;

/// Trains the study's runs, equal ones once. A run that another starts from is trained first and kept with its state,
/// which requires a store with a folder; every shard that needs such a run trains it. The calling thread calls
/// `on_progress` about ten times a second. A result that the store cannot keep is returned all the same
/// (ResultStore::unkept). Throws DeviceError when the device is lost or too small, which is not a verdict on any run.
StudyResults train(const Study& study, ResultStore& store, const RunnerOptions& options,
                   const OnProgress& on_progress, const OnNumbers& on_taken = {});

/// One for each physical core.
int32_t default_runs_at_a_time();
/// As many as the options say, else one for each physical core, and on a device a single run.
int32_t runs_at_a_time(const RunnerOptions& options);

/// Estimates how many seconds the runs take, `at_a_time` of them side by side on a thread each. It times a few steps of
/// one run of every size, of at most eight sizes spread over them, which takes some seconds.
double estimated_seconds(const std::vector<RunSpec>& runs, int32_t at_a_time, BackendChoice backend);

// Workers do jobs of equal rank on several threads while the calling thread reports progress: results that are looked
// for, fresh models, curves of lessons. Called by study.cpp and by app/course.

/// Does the job with the given index; it is made on the thread that calls it.
using WorkOn = std::function<void(size_t)>;

/// Does each job below `count` once, in order, on `threads` new threads (no more than there are jobs), each of which
/// calls `make`. Meanwhile the calling thread calls `tick` about ten times a second. Setting `stop` ends the work once
/// the current jobs are done. The first exception of a job sets `stop`, and `run_jobs` throws it when all threads have
/// ended (exception_for_others(what) of core/boundary.h). An exception of `tick` ends the work in the same way.
void run_jobs(const std::string& what, size_t count, int32_t threads, std::atomic<bool>& stop,
              const std::function<WorkOn()>& make, const std::function<void()>& tick);

// A study exported as text to run it on another machine: as a command, a job array for Slurm or lines for GNU parallel.
// All three forms train the very same runs. The commands (--print-command), the screen of sweeps (Copy) and the tests,
// which execute the texts, call it.

/// Writes " --backend cuda --tf32" with `between` before each option, and nothing for the CPU.
std::string backend_text(const BackendChoice& backend, std::string_view between);

struct ExportedStudy {
  std::string name;  ///< the study's, which its folders have too: "sweep"
  /// The command that trains the study, with `between` before each of its options.
  std::function<std::string(std::string_view between)> command;
  std::string shows;  ///< options of the command that shows it when all is done: " --csv sweep.csv"
  int64_t runs = 1;
  int32_t tasks = 0;  ///< shards; 0: one for each run, at most kMaxTasks
  bool cuda = false;
  int32_t threads = 1;  ///< of each shard
  std::string store{};  ///< the folder of the results as a word of a shell; empty: NAME-results
};

/// Stays below Slurm's usual limit of an array, which is 1001.
inline constexpr int32_t kMaxTasks = 1000;
int32_t tasks_of(const ExportedStudy& where);

/// Writes the form of that name. "command" is the command. "slurm" is a script for sbatch, whose tasks share a folder
/// of results; "parallel" is two lines for a shell: train, show. Throws Error.
std::string text_for(std::string_view form, const ExportedStudy& where);
inline constexpr const char* kForms[] = {"command", "slurm", "parallel"};

}  // namespace normscope::experiments
