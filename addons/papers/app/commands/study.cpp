// normscope study answers one question by one or several sweeps and writes a page, from a file of studies/. normscope
// zoo is one of them, with options: every placement, norm, initialisation and optimizer on one model. Both can be
// resumed and shared out over machines: finished runs are kept.
#include <fmt/ranges.h>

#include "addons/papers/app/study_file.h"
#include "app/cli/study.h"
#include "app/commands/commands.h"
#include "app/lesson-player/progress.h"
#include "training/files/command_text.h"

namespace normscope::commands {
using namespace cli;
namespace {

struct AskedStudy {
  std::string name = "list";  ///< of a file, or "list"
  std::string folder;         ///< of the files; empty: the program's
  bool quick = false;
  StudyOptions study{};
};

struct AskedZoo {
  bool list = false;  ///< name the rows and train nothing
  zoo::Choice choice{};
  StudyOptions study{};
};

std::string folder_of(const AskedStudy& options) {
  return options.folder.empty() ? sweep::studies_folder() : options.folder;
}

Exit list_studies(const std::string& folder) {
  for (const std::string& name : sweep::study_names(folder)) {
    const sweep::StudyFile study = with_exit(Exit::Input, [&] { return sweep::read_study(folder, name); });
    say("{:<20} {} ({} runs)\n", name, study.question, sweep::study_of(study).runs.size());
  }
  return Exit::Ok;
}

/// Trains a study and shows it; `command` is its line, with `between` before each option.
Exit train_study(const sweep::StudyFile& asked, const StudyOptions& options,
                 std::function<std::string(std::string_view between)> command) {
  const experiments::Study study = with_exit(Exit::Usage, [&] { return sweep::study_of(asked); });
  std::vector<sweep::Grid> grids;
  StudyWork work{.name = "study",
                 .file = asked.name,
                 .extent = fmt::format("{} grids", asked.parts.size()),
                 .runs = static_cast<int64_t>(study.runs.size()),
                 .inputs = {{"a study", asked.file}}};
  const auto picture_of = [&](const sweep::Plan& part, sweep::Metric metric) {
    return options.out.empty() ? std::string()
                               : fmt::format("{}/{}", options.out, sweep::picture_name(asked, part, metric));
  };
  for (const sweep::Plan& part : asked.parts)
    for (const sweep::Metric metric : part.metrics())
      work.outputs.push_back({"--out", picture_of(part, metric)});
  work.command = std::move(command);
  work.train = [&](auto& store, const auto& runner, const OnProgress& on_progress) {
    StudyResults results = experiments::train(study, store, runner, on_progress);
    grids = sweep::grids_of(asked, results);
    return results;
  };
  work.show = [&] {
    say("{}\n", sweep::to_text(asked, grids));
    return true;
  };
  work.json = [&] { return sweep::to_json(asked, grids).dump(1) + "\n"; };
  work.csv = [&] { return sweep::to_csv(grids); };
  work.markdown = [&](const StudyFiles& files) {
    return sweep::to_markdown(asked, grids, !options.out.empty(), page_command(work.command(" "), files));
  };
  work.close = [&](Closing& closing) {
    for (const sweep::Grid& grid : grids)
      for (const sweep::Metric metric : grid.plan.metrics())
        closing.save(picture_of(grid.plan, metric), "study", [&] { return sweep::to_svg(grid, metric); });
    return Exit::Ok;
  };
  return run_study(options, work);
}

Exit study(const AskedStudy& options) {
  const std::string folder = folder_of(options);
  if (options.name == "list") return list_studies(folder);
  with_exit(Exit::Usage, [&] { sweep::require_study(folder, options.name); });
  sweep::StudyFile asked = with_exit(Exit::Input, [&] { return sweep::read_study(folder, options.name); });
  if (options.quick) asked = sweep::quick(std::move(asked));
  return train_study(asked, options.study, [&](std::string_view between) {
    std::string line = "normscope study " + shell_quoted(options.name);
    if (options.quick) line.append(between).append("--quick");
    add_option_text(line, between, "--studies", options.folder);
    return line + backend_line(options.study.backend, between);
  });
}

std::string zoo_command_of(const AskedZoo& options, std::string_view between) {
  const zoo::Choice& choice = options.choice;
  std::string line = "normscope zoo";
  const auto add = [&](const std::string& option) { line.append(between).append(option); };
  if (choice.depths != zoo::Choice{}.depths) add(fmt::format("--depth {}", fmt::join(choice.depths, ",")));
  add_option_text(line, between, "--only", choice.only);
  if (choice.seeds != zoo::Choice{}.seeds) add(fmt::format("--seeds {}", choice.seeds));
  if (choice.steps > 0) add(fmt::format("--steps {}", choice.steps));
  if (choice.warmup > 0) add(fmt::format("--warmup {}", choice.warmup));
  for (const std::string& assignment : choice.set) add_option_text(line, between, "--set", assignment);
  return line + backend_line(options.study.backend, between);
}

Exit zoo_command(const AskedZoo& options) {
  const sweep::StudyFile asked =
      with_exit(Exit::Usage, [&] { return zoo::study_of(options.choice, zoo::own_placements()); });
  if (!options.list)
    return train_study(asked, options.study,
                       [&](std::string_view between) { return zoo_command_of(options, between); });
  for (const sweep::Plan& part : asked.parts) {
    say("{} ({})\n", part.title, part.name);
    for (const sweep::Bundle& row : part.bundles)
      say("  {:<22} {:<44} {}\n  {:<22}   {}\n", row.name, row.title, row.source, "",
          fmt::join(row.set, "  "));
  }
  return Exit::Ok;
}

}  // namespace

void add_study_command(CLI::App& app, Command& command) {
  const auto [sub, options] =
      add_command(app, command, "study",
                  "One question, the grids of runs that answer it, and a page; can be resumed", study);
  add_value(sub, "name", options.name, "NAME", "the name of a study; without one, which there are");
  sub.add_flag("--quick", options.quick, "one seed in each cell");
  add_value(sub, "--studies", options.folder, "DIR", "another folder of studies");
  add_study(sub, options.study,
            {"write the grids as JSON (docs/log-format.md)", "one line a run", "",
             "a page with what was found, tables and, with --out, pictures"});
}

void add_zoo(CLI::App& app, Command& command) {
  const auto [sub, options] = add_command(
      app, command, "zoo",
      "Every placement, norm, initialisation and optimizer on one model, as a table; can be resumed",
      zoo_command);
  zoo::Choice& choice = options.choice;
  sub.add_flag("--list", options.list, "name the rows and train nothing");
  add_value(sub, "--only", choice.only, "NAMES", "rows or parts (zoo --list), with commas", {}, "all");
  add_value(sub, "--depth", choice.depths, "N", "layers, with commas: 6 is the default model; 12, 18, 24",
            whole(1, 256), "6")
      ->delimiter(',');
  add_value(sub, "--seeds", choice.seeds, "N", "seeds 1 to N", whole(1, 1000));
  add_steps(sub, choice.steps, "budget of steps of every run");
  add_value(sub, "--warmup", choice.warmup, "N", "warm-up of the runs that have one", whole(1, 100'000),
            "200");
  add_value(sub, "--set", choice.set, "KEY=VALUE",
            "a field of the model that the rows change; can be repeated");
  add_study(sub, options.study,
            {"write the grids as JSON (docs/log-format.md)", "one line a run", "",
             "a page with tables and, with --out, pictures"});
}

}  // namespace normscope::commands
