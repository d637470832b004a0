// A sweep as text to be run elsewhere: as the command, as a job array for Slurm, as a line for GNU parallel. All three
// train the very plan, extra seeds of regions included. Called by the command (--print-command), the screen (Copy) and
// the tests, which execute them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/sweep/sweep_plan.h"
#include "training/spec/backend_choice.h"

namespace normscope::sweep {

struct Elsewhere {
  int32_t tasks = 0;  ///< shards; 0: one a run, at most kMostTasks
  BackendChoice backend{};
  std::string metric{};  ///< of the colour; empty: the usual one
};

/// Slurm's usual limit of an array is 1001.
inline constexpr int32_t kMostTasks = 1000;
int32_t tasks_of(const Plan& plan, const Elsewhere& where);

/// "normscope sweep --axis ... --seeds 3"; `between` stands before each option.
std::string command_text(const Plan& plan, const Elsewhere& where = {}, std::string_view between = " ");
/// A script for sbatch; every task keeps its runs in a store of its own, and its last lines say how they are merged.
std::string slurm_text(const Plan& plan, const Elsewhere& where = {});
/// Three lines for a shell: train, merge, show.
std::string parallel_text(const Plan& plan, const Elsewhere& where = {});

/// By the name of the form: "command", "slurm" or "parallel". Throws Error.
std::string text_for(std::string_view form, const Plan& plan, const Elsewhere& where);
inline constexpr const char* kForms[] = {"command", "slurm", "parallel"};

}  // namespace normscope::sweep
