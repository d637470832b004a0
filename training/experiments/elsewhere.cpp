#include "training/experiments/elsewhere.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/core/error.h"

namespace normscope::experiments {
namespace {

std::string show_text(const Elsewhere& where) {
  return fmt::format("{} --store {}-results{}", where.command(" "), where.name, where.shows);
}

std::string slurm_text(const Elsewhere& where) {
  const int32_t tasks = tasks_of(where);
  std::string script = fmt::format(
      "#!/bin/bash\n"
      "#SBATCH --job-name=normscope-{}\n"
      "#SBATCH --array=0-{}\n"
      "#SBATCH --cpus-per-task=1\n",
      where.name, tasks - 1);
  if (where.cuda) script += "#SBATCH --gres=gpu:1\n";
  script +=
      "# Your cluster may want more, such as --time. A placement of a file, placements/NAME.toml in the folder of\n"
      "# your settings, has to be on every node.\n";
  // The count is written out: SLURM_ARRAY_TASK_COUNT is 1 for a task that is submitted again alone.
  return script +
         fmt::format(
             "exec {} \\\n  --threads 1 \\\n  --store {}-results \\\n  --shard "
             "\"$SLURM_ARRAY_TASK_ID\"/{}\n"
             "# A task that was killed: sbatch --array=ITS_NUMBER with this file; what it finished is kept.\n"
             "# When all are done:\n#   {}\n",
             where.command(" \\\n  "), where.name, tasks, show_text(where));
}

std::string parallel_text(const Elsewhere& where) {
  const int32_t tasks = tasks_of(where);
  return fmt::format("seq 0 {} | parallel -q {} --threads 1 --store {}-results --shard {{}}/{}\n{}\n",
                     tasks - 1, where.command(" "), where.name, tasks, show_text(where));
}

}  // namespace

std::string backend_text(const BackendChoice& backend, std::string_view between) {
  std::string line;
  if (backend.cuda) line.append(between).append("--backend cuda");
  if (backend.tf32) line.append(between).append("--tf32");
  return line;
}

int32_t tasks_of(const Elsewhere& where) {
  return where.tasks > 0 ? where.tasks : static_cast<int32_t>(std::clamp<int64_t>(where.runs, 1, kMostTasks));
}

std::string text_for(std::string_view form, const Elsewhere& where) {
  if (form == "command") return where.command(" ") + "\n";
  if (form == "slurm") return slurm_text(where);
  if (form == "parallel") return parallel_text(where);
  fail("--print-command", "'{}' is unknown: expected command, slurm or parallel", form);
}

}  // namespace normscope::experiments
