// normscope compare trains the runs of the default comparison (or of a configuration) over their seeds as a study:
// table, JSON-lines log, pictures of the Lab. With files it compares these and trains nothing (compare_files.h).
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "addons/compare/app/commands/compare_files.h"
#include "addons/compare/app/commands/compare_study.h"
#include "app/cli/machine.h"
#include "app/cli/options.h"
#include "app/cli/specs.h"
#include "app/cli/study.h"
#include "app/cli/terminal.h"
#include "app/commands/commands.h"
#include "app/commands/report.h"
#include "training/data/data_identity.h"

namespace normscope::commands {
using namespace cli;
namespace {

constexpr const char* kOutFolder = "out";

std::string out_folder(const std::string& out) { return out.empty() ? kOutFolder : out; }

/// Sums up the seeds of each run: "A (Post-LN): stuck 5, learns 0 of 5 seeds; loss minus …".
std::vector<std::string> agreement_lines(const CompareStudy& study) {
  std::vector<std::string> lines;
  for (const ConfigRun& run : study.letters()) {
    int32_t stuck = 0, learns = 0, count = 0;
    double most = -INFINITY, least = INFINITY;
    const RunResult* any = nullptr;
    for (const RunResult& r : study.results()) {
      if (r.label.letter != run.letter) continue;
      any = &r;
      ++count;
      stuck += r.verdict == "stuck";
      learns += r.verdict.starts_with("learns");
      most = std::max(most, r.loss - r.unigram);
      least = std::min(least, r.loss - r.unigram);
    }
    if (count > 1)
      lines.push_back(fmt::format(
          "{} ({}): stuck {}, learns {} of {} seeds; loss minus {} {:+.3f} to {:+.3f} nats", run.letter,
          any->name, stuck, learns, count, frequencies_of(any->data.unit), least, most));
  }
  return lines;
}

/// The line that trains the same runs.
std::string compare_command_of(const MainOptions& options, const BackendOptions& backend,
                               std::string_view between) {
  std::string line = "normscope compare";
  const auto add = [&](const char* option, const std::string& value) {
    add_option_text(line, between, option, value);
  };
  add("--text", options.text);
  add("--config", options.config);
  add("--link", options.link);
  for (const std::string& run : options.runs) add("--run", run);
  for (const std::string& set : options.set) add("--set", set);
  for (const std::string& edit : options.edits) add("--edit", edit);
  if (options.steps > 0) add("--steps", std::to_string(options.steps));
  if (options.seeds > 1) add("--seeds", std::to_string(options.seeds));
  return line + backend_line(backend, between);
}

nlohmann::json compared_json(const CompareStudy& study, int32_t seeds) {
  return {{"format", "normscope compare table 1"},
          {"seeds", seeds},
          {"complete", study.complete()},
          {"runs", to_json(table(study.results()))}};
}

std::string compared_page(const CompareStudy& study, const std::string& command) {
  std::string out =
      fmt::format("# Comparison\n\nMade by `{}`.\n\n{}", command, to_markdown(table(study.results(), false)));
  const char* before = "\n- ";
  for (const std::string& line : agreement_lines(study)) {
    out += before + line + "\n";
    before = "- ";
  }
  return out;
}

void show_compared(const CompareStudy& study, int32_t seeds) {
  say("{}", to_text(table(study.results())));
  if (seeds == 1) say("One seed; --seeds 5 trains five and says how far they agree.\n");
  for (const std::string& line : agreement_lines(study)) say("{}\n", line);
  flush();
}

/// Writes log and pictures. Where the store lacks a run, an earlier log and its pictures stay.
Exit close_compared(const CompareStudy& study, const StudyOptions& options, const std::string& log_path,
                    Closing& closing) {
  if (options.stored && !study.complete()) {
    say("--stored: runs are missing, so log and pictures stay as they were\n");
  } else {
    closing.attempt([&] {
      study.log(log_path);
      say("wrote {}\n", log_path);
    });
    study.draw(options, out_folder(options.out), closing);
  }
  closing.attempt([&] { study.require_trained(); });
  return Exit::Ok;
}

Exit train_compared(const MainOptions& options, const StudyOptions& study_options) {
  auto [runs, link] = main_runs(options);
  if (link)  // the link says how far, and with which seed
    override_runs(runs, "", options.steps > 0 ? 0 : link->step, -1);
  backend_of(study_options.backend);
  CompareStudy study(std::move(runs), options.seeds, link.has_value());
  const std::string folder = out_folder(study_options.out), log_path = folder + "/runs.jsonl";
  if (!study_options.dry_run && study_options.print_command.empty())
    with_exit(Exit::Internal, [&] { make_folder(folder, Access::Shared, "--out"); });
  StudyWork work{
      .name = "compare",
      .file = "compare",
      .of = fmt::format("{} run{} with {} seed{}", study.letters().size(),
                        study.letters().size() == 1 ? "" : "s", options.seeds, options.seeds == 1 ? "" : "s"),
      .runs = study.runs(),
      .inputs = {{"--config", options.config}},
      .outputs = {{"--out", log_path},
                  {"--out", lab_picture_path(folder, false)},
                  {"--out", lab_picture_path(folder, true)}},
      .files_of_a_part = false};
  for (const ConfigRun& run : study.letters())
    for (NamedFile& file : files_of(run.spec)) work.inputs.push_back(std::move(file));
  work.command = [&](std::string_view between) {
    return compare_command_of(options, study_options.backend, between);
  };
  work.train = [&](experiments::ResultStore& store, const experiments::RunnerOptions& runner,
                   const OnProgress& on_progress) { return study.train(store, runner, on_progress); };
  work.show = [&] {
    show_compared(study, options.seeds);
    return true;
  };
  work.json = [&] { return compared_json(study, options.seeds).dump(1) + "\n"; };
  work.csv = [&] { return to_csv(table(study.results())); };
  work.markdown = [&](const StudyFiles& files) {
    return compared_page(study, page_command(work.command(" "), files));
  };
  work.close = [&](Closing& closing) { return close_compared(study, study_options, log_path, closing); };
  return run_study(study_options, work);
}

/// Puts what was asked for without a name (name_outputs()) into --out.
StudyFiles files_to_write(const CompareOptions& asked, const std::string& folder) {
  const auto place = [&](const std::string& path, std::string_view unnamed, const char* ending) {
    return path == unnamed ? folder + "/compare" + ending : path;
  };
  return {place(asked.json, kStandardOutput, ".json"), place(asked.csv, folder, ".csv"), "",
          place(asked.markdown, kStandardOutput, ".md")};
}

}  // namespace

Exit compare(const MainOptions& options) {
  StudyOptions study;
  study.out = options.out;
  study.threads = options.threads;
  study.backend = options.backend;
  return train_compared(options, study);
}

void add_compare(CLI::App& app, Command& command) {
  const auto options = std::make_shared<MainOptions>();
  const auto study = std::make_shared<StudyOptions>();
  const auto files = std::make_shared<CompareOptions>();
  CLI::App& sub = *app.add_subcommand(
      "compare",
      "Put saved runs and logs side by side; without files train the three runs and print their table");
  add_main_runs(sub, *options);
  add_study(sub, *study, {nullptr, nullptr, nullptr, nullptr});
  sub.get_option("--out")->default_str(kOutFolder);
  add_compare_files(sub, *files);
  sub.callback([&sub, options, study, files, &command] {
    name_outputs(sub, *files, out_folder(study->out));
    command = [options, study, files] {
      if (!files->files.empty()) return compare_files(*files);
      check_named(*files);
      study->files = files_to_write(*files, out_folder(study->out));
      return train_compared(*options, *study);
    };
  });
}

}  // namespace normscope::commands
