// normscope zoo: every placement, norm, initialisation and optimizer on one model, as a table that the
// program makes. Resumable: finished runs are kept, interrupted ones go on from their step.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/cli/options.h"
#include "app/cli/products.h"
#include "app/cli/results.h"
#include "app/cli/specs.h"
#include "app/cli/terminal.h"
#include "app/commands/commands.h"
#include "app/lessons/progress.h"
#include "app/zoo/own.h"
#include "app/zoo/summary.h"
#include "app/zoo/trainer.h"

namespace normscope::cli {
namespace {

struct ZooOptions {
  bool list = false;    ///< name the entries and train nothing
  bool stored = false;  ///< show what is there and train nothing
  std::string only;     ///< names of entries and groups, with commas; empty: all
  std::vector<int32_t> depths;
  std::vector<std::string> set;   ///< on the model that the entries change
  int32_t seeds = 3;              ///< seeds 1..seeds
  int32_t steps = 0, warmup = 0;  ///< 0: as the depth has it
  std::string json, csv, svg, markdown, out;
  StoreOptions store{};
  int32_t threads = 0;  ///< runs at a time
};

namespace fs = std::filesystem;

zoo::Plan plan_of(const ZooOptions& options) {
  zoo::Plan plan;
  const std::vector<zoo::Entry> own =
      with_exit(Exit::Input, [] { return zoo::read_own(zoo::own_path(lessons::Progress::default_path())); });
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

/// What the files are called: as asked, or by default in --out.
struct Files {
  std::string json, csv, svg, markdown;
};

Files outputs_of(const ZooOptions& options) {
  const auto place = [&](const std::string& asked, const char* name) {
    return !asked.empty() || options.out.empty() ? asked : options.out + "/" + name;
  };
  return {place(options.json, "zoo.json"), place(options.csv, "zoo.csv"), place(options.svg, "zoo.svg"),
          place(options.markdown, "zoo.md")};
}

/// As --store says, else beside the files of --out, else in the user's cache.
experiments::ResultStore store_of(const ZooOptions& options) {
  const bool beside = options.store.folder.empty() && !options.out.empty();
  return experiments::ResultStore(
      results_folder(beside ? options.out + "/runs" : options.store.folder, options.stored));
}

/// The line that makes the same table, without what only names files of this machine.
std::string command_of(const ZooOptions& options) {
  std::string line = "normscope zoo";
  if (!options.depths.empty()) line += fmt::format(" --depth {}", fmt::join(options.depths, ","));
  if (!options.only.empty()) line += " --only " + options.only;
  if (options.seeds != zoo::Plan{}.seeds) line += fmt::format(" --seeds {}", options.seeds);
  if (options.steps > 0) line += fmt::format(" --steps {}", options.steps);
  if (options.warmup > 0) line += fmt::format(" --warmup {}", options.warmup);
  for (const std::string& assignment : options.set) line += " --set " + assignment;
  for (const auto& [option, path] :
       {std::pair("--svg", options.svg), std::pair("--markdown", options.markdown)})
    if (!path.empty() && fs::path(path).is_relative()) line += fmt::format(" {} {}", option, path);
  return line;
}

void write_files(const ZooOptions& options, const Files& files, const zoo::Summary& summary,
                 Closing& closing) {
  closing.save(files.json, "zoo", [&] { return zoo::to_json(summary).dump(1) + "\n"; });
  closing.save(files.csv, "zoo", [&] { return zoo::to_csv(summary); });
  closing.save(files.svg, "zoo", [&] { return zoo::to_svg(summary); });
  if (files.markdown.empty()) return;
  const fs::path folder = fs::absolute(files.markdown).parent_path();
  const std::string picture =
      files.svg.empty() ? "" : fs::absolute(files.svg).lexically_relative(folder).generic_string();
  closing.save(files.markdown, "zoo",
               [&] { return zoo::to_markdown(summary, picture, command_of(options)); });
}

/// Runs that could not be trained at all: one line.
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
  Files files = outputs_of(options);
  make_folder(options.out, Access::Shared, "zoo");
  check_outputs(
      {{"--json", files.json}, {"--csv", files.csv}, {"--svg", files.svg}, {"--markdown", files.markdown}},
      jobs.empty() ? std::vector<NamedFile>{} : files_of(jobs.front().spec));
  experiments::ResultStore store = store_of(options);
  if (!files.svg.empty() && !zoo::has_picture(plan)) {
    complain(fmt::format(
        "zoo: {} is not written: the picture is of losses of letters, which none of these guesses",
        files.svg));
    files.svg.clear();
  }

  const InterruptGuard guard;
  if (!options.stored) use_fastest_products();
  Bars bars;
  const experiments::RunnerOptions runner{options.threads, 1, options.stored, shard_of(options.store)};
  const zoo::Visit visit = zoo::visit(jobs, store, runner, std::ref(bars));
  bars.finish(store);

  const zoo::Summary summary = zoo::summarise(plan, jobs, visit.records);
  say("{}\n{} runs trained, {} taken from {}\n", zoo::to_text(summary), visit.trained, visit.stored,
      store.folder().empty() ? "nowhere" : store.folder());
  Closing closing;
  write_files(options, files, summary, closing);
  closing.attempt([&] { require_kept(store); });
  if (!visit.complete) {
    complain(interrupted_text(store));
    return closing.code(Exit::Interrupted);
  }
  closing.attempt([&] { refuse_failed(summary); });
  return closing.code(Exit::Ok);
}

}  // namespace

void add_zoo(CLI::App& app, Command& command) {
  const auto options = std::make_shared<ZooOptions>();
  CLI::App& sub = *app.add_subcommand(
      "zoo", "Every placement, norm, initialisation and optimizer on one model, as a table; can be resumed");
  sub.footer(kFooter);
  sub.add_flag("--list", options->list, "name the entries and train nothing");
  sub.add_flag("--stored", options->stored, "the table of what was trained before; train nothing");
  sub.add_option("--only", options->only, "entries or groups (zoo --list), with commas")
      ->type_name("NAMES")
      ->default_str("all");
  sub.add_option("--depth", options->depths, "layers, with commas: 6 is the default model; 12, 18, 24")
      ->check(CLI::Range(1, 256))
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("N")
      ->default_str("6");
  sub.add_option("--seeds", options->seeds, "seeds 1 to N")->check(CLI::Range(1, 1000))->type_name("N");
  add_steps(sub, options->steps, "budget of steps of every run");
  sub.add_option("--warmup", options->warmup, "warm-up of the arm that has one")
      ->check(CLI::Range(1, 100'000))
      ->type_name("N")
      ->default_str("200");
  sub.add_option("--set", options->set, "a field of the model that the entries change; can be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  sub.add_option("--json", options->json, "write the table as JSON (docs/log-format.md)")->type_name("FILE");
  sub.add_option("--csv", options->csv, "one line a run")->type_name("FILE");
  sub.add_option("--svg", options->svg, "a picture of the final losses")->type_name("FILE");
  sub.add_option("--markdown", options->markdown, "a page, with the picture where --svg is given too")
      ->type_name("FILE");
  sub.add_option("--out", options->out,
                 "a folder for all four and for the runs, which are otherwise kept in the user's cache")
      ->type_name("DIR");
  add_store(sub, options->store);
  sub.add_option("--threads", options->threads,
                 "runs at a time, a thread each; 0: one per core it may use (never changes a result)")
      ->check(CLI::Range(0, 256))
      ->type_name("N");
  sub.callback([options, &command] { command = [options] { return zoo(*options); }; });
}

}  // namespace normscope::cli
