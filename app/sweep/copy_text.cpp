#include "app/sweep/copy_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/core/error.h"
#include "training/files/command_text.h"

namespace normscope::sweep {
namespace {

constexpr const char* kShards = "sweep-shards";  ///< a store a task below it
constexpr const char* kResults = "sweep-results";

std::string show_text(const Plan& plan, const Elsewhere& where) {
  return fmt::format("{} --store {} --csv sweep.csv --json sweep.json --svg sweep.svg",
                     command_text(plan, where), kResults);
}

std::string merge_text() { return fmt::format("normscope merge {}/* --store {}", kShards, kResults); }

}  // namespace

int32_t tasks_of(const Plan& plan, const Elsewhere& where) {
  return where.tasks > 0 ? where.tasks : static_cast<int32_t>(std::min<int64_t>(plan.runs(), kMostTasks));
}

std::string command_text(const Plan& plan, const Elsewhere& where, std::string_view between) {
  std::string line = "normscope sweep";
  const auto add = [&](const std::string& option) { line.append(between).append(option); };
  for (const std::string& assignment : plan.set) add("--set " + shell_quoted(assignment));
  for (const Axis& axis : plan.axes) add("--axis " + shell_quoted(to_text(axis)));
  if (plan.steps > 0) add(fmt::format("--steps {}", plan.steps));
  if (plan.seeds != 1) add(fmt::format("--seeds {}", plan.seeds));
  for (const MoreSeeds& more : plan.more) add("--more-seeds " + shell_quoted(to_text(more, plan)));
  if (!where.metric.empty()) add("--metric " + where.metric);
  if (where.backend.cuda) add("--backend cuda");
  if (where.backend.tf32) add("--tf32");
  return line;
}

std::string slurm_text(const Plan& plan, const Elsewhere& where) {
  const int32_t tasks = tasks_of(plan, where);
  std::string script = fmt::format(
      "#!/bin/bash\n"
      "#SBATCH --job-name=normscope-sweep\n"
      "#SBATCH --array=0-{}\n"
      "#SBATCH --cpus-per-task=1\n"
      "#SBATCH --signal=B:TERM@60\n",
      tasks - 1);
  if (where.backend.cuda) script += "#SBATCH --gres=gpu:1\n";
  // The count is written out: of a task that is submitted again alone, SLURM_ARRAY_TASK_COUNT is 1.
  script += fmt::format(
      "exec {} \\\n  --threads 1 \\\n  --store {}/\"$SLURM_ARRAY_TASK_ID\" \\\n  --shard \"$SLURM_ARRAY_TASK_ID\"/{}\n",
      command_text(plan, where, " \\\n  "), kShards, tasks);
  return script + fmt::format(
                      "# A task that was killed: sbatch --array=ITS_NUMBER with this file; it goes on.\n"
                      "# When all are done:\n#   {}\n#   {}\n",
                      merge_text(), show_text(plan, where));
}

std::string parallel_text(const Plan& plan, const Elsewhere& where) {
  const int32_t tasks = tasks_of(plan, where);
  return fmt::format("seq 0 {} | parallel -q {} --threads 1 --store {}/{{}} --shard {{}}/{}\n{}\n{}\n",
                     tasks - 1, command_text(plan, where), kShards, tasks, merge_text(),
                     show_text(plan, where));
}

std::string text_for(std::string_view form, const Plan& plan, const Elsewhere& where) {
  if (form == "command") return command_text(plan, where) + "\n";
  if (form == "slurm") return slurm_text(plan, where);
  if (form == "parallel") return parallel_text(plan, where);
  fail("--print-command", "'{}' is unknown: expected command, slurm or parallel", form);
}

}  // namespace normscope::sweep
