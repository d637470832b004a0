// normscope zoo trains every placement, norm, initialisation and optimizer on one model, as a table that the program
// makes. It can be resumed: finished runs are kept.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "addons/papers/app/zoo/own.h"
#include "addons/papers/app/zoo/summary.h"
#include "app/cli/options.h"
#include "app/cli/specs.h"
#include "app/cli/study.h"
#include "app/cli/terminal.h"
#include "app/commands/commands.h"
#include "app/lessons/progress.h"
#include "training/files/command_text.h"

namespace normscope::commands {
using namespace cli;
namespace {

struct ZooOptions {
  bool list = false;  ///< name the entries and train nothing
  std::string only;   ///< names of entries and groups, with commas; empty: all
  std::vector<int32_t> depths;
  std::vector<std::string> set;   ///< on the model that the entries change
  int32_t seeds = 3;              ///< seeds 1..seeds
  int32_t steps = 0, warmup = 0;  ///< 0: as the depth has it
  StudyOptions study{};
};

zoo::Plan plan_of(const ZooOptions& options) {
  zoo::Plan plan;
  std::vector<zoo::Entry> own =
      with_exit(Exit::Input, [] { return zoo::read_own(zoo::own_path(lessons::Progress::default_path())); });
  for (zoo::Entry& placement : zoo::own_placements()) own.push_back(std::move(placement));
  plan.entries = with_exit(Exit::Usage, [&] { return zoo::entries_named(options.only, own); });
  if (!options.depths.empty()) plan.depths = options.depths;
  if (options.only.empty()) plan.deep = zoo::depth_question();
  plan.seeds = options.seeds;
  plan.steps = options.steps;
  plan.warmup = options.warmup;
  plan.base = options.set;
  return plan;
}

Exit list(const zoo::Plan& plan) {
  const zoo::Group* group = nullptr;
  for (const zoo::Entry& entry : plan.entries) {
    if (!group || *group != entry.group) {
      say("{} ({})\n", zoo::title(entry.group), to_string(entry.group));
      if (const zoo::System* system = zoo::system_of(entry.group))
        say("  preset {}: {}\n", system->preset, system->what);
    }
    group = &entry.group;
    say("  {:<22} {:<44} {}\n  {:<22}   {}\n", entry.name, entry.title, entry.source, "",
        fmt::join(entry.set, "  "));
  }
  return Exit::Ok;
}

/// The line that trains the same runs.
std::string zoo_command_of(const ZooOptions& options, std::string_view between) {
  std::string line = "normscope zoo";
  const auto add = [&](const std::string& option) { line.append(between).append(option); };
  if (!options.depths.empty()) add(fmt::format("--depth {}", fmt::join(options.depths, ",")));
  if (!options.only.empty()) add("--only " + shell_quoted(options.only));
  if (options.seeds != zoo::Plan{}.seeds) add(fmt::format("--seeds {}", options.seeds));
  if (options.steps > 0) add(fmt::format("--steps {}", options.steps));
  if (options.warmup > 0) add(fmt::format("--warmup {}", options.warmup));
  for (const std::string& assignment : options.set) add("--set " + shell_quoted(assignment));
  return line + backend_line(options.study.backend, between);
}

/// Throws for the first run that could not be trained at all.
void refuse_failed(const zoo::Summary& summary) {
  for (const zoo::Row& row : summary.rows)
    for (const zoo::Arm& arm : row.arms)
      for (const auto& run : arm.runs)
        if (run && run->verdict == zoo::Verdict::Failed)
          throw CommandError(Exit::Internal, fmt::format("zoo: {}: {}", row.entry.name, run->what));
}

Exit zoo(const ZooOptions& options) {
  const zoo::Plan plan = plan_of(options);
  if (options.list) return list(plan);
  const std::vector<zoo::Job> jobs = with_exit(Exit::Usage, [&] { return zoo::jobs_of(plan); });
  const experiments::Study study = zoo::study_of(jobs);
  zoo::Summary summary;
  StudyWork work{.name = "zoo",
                 .file = "zoo",
                 .of = fmt::format("{} entries", plan.entries.size()),
                 .runs = static_cast<int64_t>(jobs.size()),
                 .inputs = jobs.empty() ? std::vector<NamedFile>{} : files_of(jobs.front().spec)};
  work.command = [&](std::string_view between) { return zoo_command_of(options, between); };
  work.train = [&](experiments::ResultStore& store, const experiments::RunnerOptions& runner,
                   const OnProgress& on_progress) {
    const experiments::StudyResults studied = experiments::train(study, store, runner, on_progress);
    summary = zoo::summarise(plan, jobs, studied.records());
    return count_of(study, studied);
  };
  work.show = [&] {
    say("{}\n", zoo::to_text(summary));
    return true;
  };
  work.json = [&] { return zoo::to_json(summary).dump(1) + "\n"; };
  work.csv = [&] { return zoo::to_csv(summary); };
  if (zoo::has_picture(plan)) work.svg = [&] { return zoo::to_svg(summary); };
  work.without_svg = "the picture is of losses of letters, which none of these guesses";
  work.markdown = [&](const StudyFiles& files) {
    return zoo::to_markdown(summary, picture_beside(files), page_command(work.command(" "), files));
  };
  work.close = [&](Closing& closing) {
    closing.attempt([&] { refuse_failed(summary); });
    return Exit::Ok;
  };
  return run_study(options.study, work);
}

}  // namespace

void add_zoo(CLI::App& app, Command& command) {
  const auto [sub, options] = add_command(
      app, command, "zoo",
      "Every placement, norm, initialisation and optimizer on one model, as a table; can be resumed", zoo);
  sub.add_flag("--list", options.list, "name the entries and train nothing");
  sub.add_option("--only", options.only, "entries or groups (zoo --list), with commas")
      ->type_name("NAMES")
      ->default_str("all");
  sub.add_option("--depth", options.depths, "layers, with commas: 6 is the default model; 12, 18, 24")
      ->transform(whole(1, 256))
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("N")
      ->default_str("6");
  sub.add_option("--seeds", options.seeds, "seeds 1 to N")->transform(whole(1, 1000))->type_name("N");
  add_steps(sub, options.steps, "budget of steps of every run");
  sub.add_option("--warmup", options.warmup, "warm-up of the arm that has one")
      ->transform(whole(1, 100'000))
      ->type_name("N")
      ->default_str("200");
  sub.add_option("--set", options.set, "a field of the model that the entries change; can be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  add_study(sub, options.study,
            {"write the table as JSON (docs/log-format.md)", "one line a run",
             "a picture of the final losses", "a page, with the picture where --svg is given too"});
}

}  // namespace normscope::commands
