// Elsewhere writes a study as text that runs on another machine: as the command, as a job array for Slurm or as lines
// for GNU parallel. All three forms train the very same runs. The commands (--print-command), the screen of sweeps
// (Copy) and the tests, which execute the texts, call it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "training/spec/backend_choice.h"

namespace normscope::experiments {

/// Writes " --backend cuda --tf32" with `between` before each option, and nothing for the CPU.
std::string backend_text(const BackendChoice& backend, std::string_view between);

struct Elsewhere {
  std::string name;  ///< the study's, which its folders have too: "sweep"
  /// The command that trains the study, with `between` before each of its options.
  std::function<std::string(std::string_view between)> command;
  std::string shows;  ///< options of the command that shows it when all is done: " --csv sweep.csv"
  int64_t runs = 1;
  int32_t tasks = 0;  ///< shards; 0: one for each run, at most kMostTasks
  bool cuda = false;
};

/// Stays below Slurm's usual limit of an array, which is 1001.
inline constexpr int32_t kMostTasks = 1000;
int32_t tasks_of(const Elsewhere& where);

/// Writes the form of that name. "command" is the command. "slurm" is a script for sbatch, whose tasks share a folder
/// of results; "parallel" is two lines for a shell: train, show. Throws Error.
std::string text_for(std::string_view form, const Elsewhere& where);
inline constexpr const char* kForms[] = {"command", "slurm", "parallel"};

}  // namespace normscope::experiments
