// normscope study answers one question by one or several sweeps and writes a page, from a file of studies/. It can be
// resumed and shared out over machines: finished runs are kept.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "addons/papers/app/study/study_file.h"
#include "app/cli/specs.h"
#include "app/cli/study.h"
#include "app/cli/terminal.h"
#include "app/commands/commands.h"

namespace normscope::commands {
using namespace cli;
namespace {

struct AskedStudy {
  std::string name;    ///< of a file, or "list"
  std::string folder;  ///< of the files; empty: the program's
  bool quick = false;
  StudyOptions study{};
};

std::string folder_of(const AskedStudy& options) {
  return options.folder.empty() ? sweep::studies_folder() : options.folder;
}

sweep::StudyFile study_of(const AskedStudy& options) {
  return with_exit(Exit::Input, [&] {
    sweep::StudyFile study = sweep::read_study(folder_of(options), options.name);
    return options.quick ? sweep::quick(std::move(study)) : study;
  });
}

Exit list_studies(const AskedStudy& options) {
  const std::string folder = folder_of(options);
  for (const std::string& name : sweep::study_names(folder)) {
    const sweep::StudyFile study = with_exit(Exit::Input, [&] { return sweep::read_study(folder, name); });
    say("{:<20} {} ({} runs)\n", name, study.question, sweep::jobs_of(study).size());
  }
  return Exit::Ok;
}

std::string study_command_of(const AskedStudy& options, std::string_view between) {
  std::string line = "normscope study " + options.name;
  if (options.quick) line.append(between).append("--quick");
  return line + backend_line(options.study.backend, between);
}

Exit train_study(const AskedStudy& options) {
  const sweep::StudyFile asked = study_of(options);
  const std::vector<sweep::Job> jobs = sweep::jobs_of(asked);
  const experiments::Study study = sweep::study_of(asked, jobs);
  std::vector<sweep::Grid> grids;
  StudyWork work{.name = "study",
                 .file = options.name,
                 .of = fmt::format("{} grids", asked.parts.size()),
                 .runs = static_cast<int64_t>(jobs.size()),
                 .inputs = {{"a study", asked.file}}};
  const auto picture_of = [&](const sweep::StudyPart& part, sweep::Metric metric) {
    return options.study.out.empty()
               ? std::string()
               : fmt::format("{}/{}", options.study.out, sweep::picture_name(asked, part, metric));
  };
  for (const sweep::StudyPart& part : asked.parts)
    for (const sweep::Metric metric : part.metrics())
      work.outputs.push_back({"--out", picture_of(part, metric)});
  work.command = [&](std::string_view between) { return study_command_of(options, between); };
  work.train = [&](experiments::ResultStore& store, const experiments::RunnerOptions& runner,
                   const OnProgress& on_progress) {
    const experiments::StudyResults studied =
        experiments::train(study, store, runner, on_progress, [](size_t, const experiments::Taken&) {});
    grids = sweep::grids_of(asked, jobs, sweep::records_of(asked, studied));
    return count_of(study, studied);
  };
  work.show = [&] {
    say("{}\n", sweep::to_text(asked, grids));
    return true;
  };
  work.json = [&] { return sweep::to_json(asked, grids).dump(1) + "\n"; };
  work.csv = [&] { return sweep::to_csv(asked, grids); };
  work.markdown = [&](const StudyFiles& files) {
    return sweep::to_markdown(asked, grids, !options.study.out.empty(),
                              page_command(work.command(" "), files));
  };
  work.close = [&](Closing& closing) {
    for (size_t i = 0; i < grids.size(); ++i)
      for (const sweep::Metric metric : asked.parts[i].metrics())
        closing.save(picture_of(asked.parts[i], metric), "study",
                     [&] { return sweep::to_svg(grids[i], metric); });
    return Exit::Ok;
  };
  return run_study(options.study, work);
}

Exit study(const AskedStudy& options) {
  return options.name == "list" ? list_studies(options) : train_study(options);
}

}  // namespace

void add_study_command(CLI::App& app, Command& command) {
  const auto [sub, options] =
      add_command(app, command, "study",
                  "One question, the grids of runs that answer it, and a page; can be resumed", study);
  sub.add_option("name", options.name, "list, or the name of a study (study list)")
      ->type_name("NAME")
      ->required();
  sub.add_flag("--quick", options.quick, "one seed in each cell");
  sub.add_option("--studies", options.folder, "another folder of studies")->type_name("DIR");
  add_study(sub, options.study,
            {"write the grids as JSON (docs/log-format.md)", "one line a run, grid by grid", nullptr,
             "a page with what was found, tables and, with --out, pictures"});
}

}  // namespace normscope::commands
