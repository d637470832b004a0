#include "app/sweep/copy_text.h"

#include <fmt/format.h>

#include "training/files/command_text.h"

namespace normscope::sweep {

std::string command_text(const Plan& plan, const Elsewhere& where, std::string_view between) {
  std::string line = "normscope sweep";
  const auto add = [&](const std::string& option) { line.append(between).append(option); };
  for (const std::string& assignment : plan.set) add("--set " + shell_quoted(assignment));
  for (const Axis& axis : plan.axes) add("--axis " + shell_quoted(to_text(axis)));
  if (plan.steps > 0) add(fmt::format("--steps {}", plan.steps));
  if (plan.seeds != 1) add(fmt::format("--seeds {}", plan.seeds));
  for (const MoreSeeds& more : plan.more) add("--more-seeds " + shell_quoted(to_text(more, plan)));
  if (!where.metric.empty()) add("--metric " + where.metric);
  return line + experiments::backend_text(where.backend, between);
}

std::string text_for(std::string_view form, const Plan& plan, const Elsewhere& where) {
  return experiments::text_for(
      form,
      {"sweep", [&](std::string_view between) { return command_text(plan, where, between); },
       " --csv sweep.csv --json sweep.json --svg sweep.svg", plan.runs(), where.tasks, where.backend.cuda});
}

}  // namespace normscope::sweep
