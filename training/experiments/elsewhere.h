// A study as text to be run elsewhere: as the command, as a job array for Slurm, as lines for GNU parallel. All three
// train the very same runs. Called by the commands (--print-command), the screen of sweeps (Copy) and the tests, which
// execute them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "training/spec/backend_choice.h"

namespace normscope::experiments {

/// " --backend cuda --tf32", with `between` before each option; of the CPU nothing.
std::string backend_text(const BackendChoice& backend, std::string_view between);

struct Elsewhere {
  std::string name;  ///< of the study, and of its folders: "sweep"
  /// The command that trains it; `between` stands before each of its options.
  std::function<std::string(std::string_view between)> command;
  std::string shows;  ///< options of the command that shows it when all is merged: " --csv sweep.csv"
  int64_t runs = 1;
  int32_t tasks = 0;  ///< shards; 0: one a run, at most kMostTasks
  bool cuda = false;
};

/// Slurm's usual limit of an array is 1001.
inline constexpr int32_t kMostTasks = 1000;
int32_t tasks_of(const Elsewhere& where);

/// By the name of the form: "command"; "slurm", a script for sbatch of which every task keeps its runs in a store of its own
/// and whose last lines say how they are merged; or "parallel", three lines for a shell: train, merge, show. Throws Error.
std::string text_for(std::string_view form, const Elsewhere& where);
inline constexpr const char* kForms[] = {"command", "slurm", "parallel"};

}  // namespace normscope::experiments
