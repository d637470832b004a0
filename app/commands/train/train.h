// The parts of normscope train share its options, the runs that were asked for and the runs that train. train.cpp has
// the flags and the order of the work, train_runs.cpp what trains, train_plan.cpp what --plan and --profile print,
// train_loop.cpp the steps, train_files.cpp what is written.
#pragma once

#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/cli/machine.h"
#include "app/cli/options.h"
#include "app/cli/terminal.h"
#include "app/commands/report.h"
#include "app/commands/run_log.h"
#include "training/files/config_file.h"
#include "training/run/run.h"

namespace normscope::commands {

struct TrainOptions {
  std::string config, preset, text, log, save, resume;
  std::vector<std::string> runs, set, edits;
  std::map<std::string, std::string> files;  ///< of --NAME FILE, by TaskKind::name
  std::string valid, init_from;
  int32_t steps = 0;   ///< 0: as configured
  int32_t tokens = 0;  ///< tokens per batch; 0: train.batch rows
  int32_t validate_every = 50;
  int32_t save_every = 0;  ///< 0: at the end only
  int32_t keep = 0;        ///< how many of the last saved states keep names of their own
  int64_t seed = -1;       ///< -1: as configured
  int32_t threads = 0;
  bool plan = false;     ///< print the memory that the runs need, train nothing
  bool profile = false;  ///< time every node of a step instead of training
  cli::BackendOptions backend;
};

/// A run that was asked for and what it learns; runs on the same data share it.
struct RunPlan {
  ConfigRun config;
  std::shared_ptr<const Task> task;
};

struct Job {
  char letter = 'A';
  std::shared_ptr<const Task> task;
  std::unique_ptr<Run> run;
  int32_t first_step = 0;
  double seconds = 0;  ///< spent in Run::step
  double validation = std::numeric_limits<double>::quiet_NaN();
  std::vector<Score> scores;  ///< measured with the validation loss, where the task has any

  int32_t budget() const { return run->spec().train.steps; }
  bool active() const { return run->steps_done() < budget() && run->state() != RunState::NonFinite; }
  RunLabel label() const { return {letter, run->spec().seed}; }
};

std::vector<RunPlan> planned_runs(const TrainOptions& options);
/// Makes the planned runs, or the saved run that goes on, on `backend`.
std::vector<Job> jobs_on(const TrainOptions& options, const std::vector<RunPlan>& planned, Backend& backend);

/// Adds up the memory of all runs from their plans. It prints the sum on request, and refuses more than
/// the machine has before anything is allocated.
void check_memory(const TrainOptions& options, const std::vector<RunPlan>& planned, Backend& backend);
cli::Exit profile_all(std::vector<Job>& jobs);

/// True when the budget was reached, false when interrupted.
bool train_all(const TrainOptions& options, cli::Machine& machine, std::vector<Job>& jobs, RunLog& log,
               cli::Closing& closing);

/// Checks every file that the command will write against every file that it reads. The checkpoint being
/// resumed may be overwritten.
void check_files(const TrainOptions& options, const std::vector<RunPlan>& planned);
/// Puts learned pieces beside the saved run, unless they are read from elsewhere.
void place_tokenizer(const TrainOptions& options, RunSpec& spec);
/// Writes learned pieces before the first state that needs them.
void write_tokenizers(const TrainOptions& options, const std::vector<RunPlan>& planned);
/// Saves the state during training, and the last few states under names of their own. A disk that is
/// full for a while does not end the training.
void save_between(const TrainOptions& options, const Job& job, size_t runs);
void save_all(const TrainOptions& options, const std::vector<Job>& jobs, cli::Closing& closing);

}  // namespace normscope::commands
