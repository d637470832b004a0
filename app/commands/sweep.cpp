// normscope sweep: one or two settings over their values, every cell over its seeds, and the border where it begins to
// learn. Resumable and shared out over machines: finished runs are kept, interrupted ones go on from their step.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "app/cli/machine.h"
#include "app/cli/options.h"
#include "app/cli/products.h"
#include "app/cli/results.h"
#include "app/cli/specs.h"
#include "app/cli/terminal.h"
#include "app/commands/commands.h"
#include "app/sweep/copy_text.h"
#include "app/sweep/sweep_writers.h"
#include "app/sweep/trainer.h"

namespace normscope::cli {
namespace {

struct SweepOptions {
  std::string preset;  ///< a sweep that is ready to start
  std::vector<std::string> axes, set, more_seeds;
  int32_t steps = 0, seeds = 1;  ///< steps 0: as the run has it
  std::string metric = "loss";
  std::string json, csv, svg;
  std::string print_command;  ///< command, slurm, parallel; empty: train
  int32_t tasks = 0;          ///< of the printed array; 0: one a run
  bool dry_run = false, stored = false;
  StoreOptions store{};
  BackendOptions backend{};
  int32_t threads = 0;
};

std::string preset_names_text() {
  std::vector<std::string> names;
  for (const sweep::Preset& preset : sweep::presets())
    names.push_back(fmt::format("{} ({})", preset.name, preset.title));
  return fmt::format("{}", fmt::join(names, ", "));
}

sweep::Plan sweep_plan_of(const SweepOptions& options) {
  if (options.preset.empty() == options.axes.empty())
    throw CommandError(
        Exit::Usage,
        fmt::format("sweep: expected {}: --axis KEY=VALUES, or one of {}",
                    options.axes.empty() ? "something to sweep" : "axes or a sweep that is ready, not both",
                    preset_names_text()));
  return with_exit(Exit::Usage, [&] {
    sweep::PlanText text{options.set, options.axes, options.more_seeds, options.steps, options.seeds};
    if (!options.preset.empty()) text.axes = sweep::text_of(sweep::preset_plan(options.preset)).axes;
    return sweep::plan_from(text);
  });
}

int32_t sweep_cores(const SweepOptions& options, const BackendChoice& backend) {
  if (options.threads > 0) return options.threads;
  return backend.cuda ? 1 : experiments::default_runs_at_a_time();
}

/// Counts what is there and guesses at the rest.
Exit dry_run_sweep(const SweepOptions& options, const sweep::Plan& plan, const std::vector<sweep::Job>& jobs,
                   experiments::RunnerOptions runner) {
  experiments::ResultStore store(results_folder(options.store.folder, true));
  runner.stored_only = true;
  const sweep::Visit visit =
      sweep::visit(jobs, store, runner, [](const experiments::Progress&) { return true; });
  std::vector<RunSpec> missing;
  for (const size_t job : visit.missing) missing.push_back(jobs[job].spec);
  const auto refused = static_cast<size_t>(
      std::count_if(jobs.begin(), jobs.end(), [](const sweep::Job& job) { return !job.refused.empty(); }));
  const int32_t cores = sweep_cores(options, runner.backend);
  say("{} cells, {} runs: {} are in the store, {} cannot be trained, {} are to be trained here\n",
      plan.columns() * plan.rows(), static_cast<size_t>(visit.stored) + refused + missing.size(),
      visit.stored, refused, missing.size());
  if (!missing.empty())
    say("about {} on {} core{}\n",
        sweep::duration_words(sweep::estimated_seconds(missing, cores, runner.backend)), cores,
        cores == 1 ? "" : "s");
  return Exit::Ok;
}

void write_sweep(const SweepOptions& options, const sweep::Grid& grid, sweep::Metric metric,
                 Closing& closing) {
  closing.save(options.json, "sweep", [&] { return sweep::to_json(grid).dump(1) + "\n"; });
  closing.save(options.csv, "sweep", [&] { return sweep::to_csv(grid); });
  closing.save(options.svg, "sweep", [&] { return sweep::to_svg(grid, metric); });
}

/// The progress bar with how many runs are there already, and what they do.
class SweepNote {
 public:
  explicit SweepNote(size_t runs) : runs_(runs) {}
  void operator()(size_t, const experiments::Record& record) {
    ++known_;
    learn_ += record.verdict == experiments::Verdict::Learns;
  }
  bool operator()(experiments::Progress at, Bars& bars) const {
    if (!at.looking) at.note = fmt::format("{} of {} runs, {} learn", known_.load(), runs_, learn_.load());
    return bars(at);
  }

 private:
  size_t runs_;
  std::atomic<int64_t> known_{0}, learn_{0};
};

Exit train_sweep(const SweepOptions& options, const sweep::Plan& plan, const std::vector<sweep::Job>& jobs,
                 const experiments::RunnerOptions& runner, sweep::Metric metric) {
  const auto first =
      std::find_if(jobs.begin(), jobs.end(), [](const sweep::Job& job) { return job.refused.empty(); });
  check_outputs({{"--json", options.json}, {"--csv", options.csv}, {"--svg", options.svg}},
                files_of(first->spec));
  task_of(first->spec);  // data that cannot be used is said before anything is made
  experiments::ResultStore store(results_folder(options.store.folder, options.stored));
  const InterruptGuard guard;
  if (!options.stored) use_fastest_products();
  Bars bars;
  SweepNote told(jobs.size());
  const sweep::Visit visit = sweep::visit(
      jobs, store, runner, [&](const experiments::Progress& at) { return told(at, bars); }, std::ref(told));
  bars.finish(store);

  const sweep::Grid grid = sweep::grid_of(plan, jobs, visit.records);
  if (runner.shard.count == 1) say("{}\n", sweep::to_text(grid, metric));
  say("{} runs trained, {} taken from {}\n", visit.trained, visit.stored,
      store.folder().empty() ? "nowhere" : store.folder());
  Closing closing;
  write_sweep(options, grid, metric, closing);
  closing.attempt([&] { require_kept(store); });
  if (visit.complete) return closing.code(Exit::Ok);
  complain(interrupted_text(store));
  return closing.code(Exit::Interrupted);
}

Exit sweep_command(const SweepOptions& options) {
  const sweep::Plan plan = sweep_plan_of(options);
  const sweep::Metric metric = with_exit(Exit::Usage, [&] { return sweep::metric_from(options.metric); });
  const std::vector<sweep::Job> jobs = with_exit(Exit::Usage, [&] { return sweep::jobs_of(plan); });
  if (!options.print_command.empty()) {
    const sweep::Elsewhere where{options.tasks,
                                 {options.backend.backend == "cuda", options.backend.tf32},
                                 metric == sweep::Metric::Loss ? "" : options.metric};
    say("{}", sweep::text_for(options.print_command, plan, where));
    return Exit::Ok;
  }
  experiments::RunnerOptions runner;
  runner.runs_at_a_time = options.threads;
  runner.threads_each = 0;
  runner.stored_only = options.stored;
  runner.shard = shard_of(options.store);
  runner.backend = backend_of(options.backend);
  return options.dry_run ? dry_run_sweep(options, plan, jobs, runner)
                         : train_sweep(options, plan, jobs, runner, metric);
}

void add_swept(CLI::App& sub, SweepOptions& options) {
  std::vector<std::string> names;
  for (const sweep::Preset& preset : sweep::presets()) names.emplace_back(preset.name);
  sub.add_option("preset", options.preset, "a sweep that is ready to start, in the place of --axis")
      ->check(CLI::IsMember(names))
      ->type_name("NAME");
  sub.add_option(
         "--axis", options.axes,
         "a setting and its values, as train.warmup=0,50,200 or train.lr=1e-4:1e-2:log7; once across, twice "
         "for a grid")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  sub.add_option("--set", options.set, "a field of every run, which are Post-LN otherwise; can be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  add_steps(sub, options.steps, "budget of steps of every run");
  sub.add_option("--seeds", options.seeds, "seeds 1 to N in every cell")
      ->check(CLI::Range(1, 1000))
      ->type_name("N");
  sub.add_option("--more-seeds", options.more_seeds,
                 "N seeds more in a region of the grid, as 2@train.lr=1e-3:1e-2; can be repeated")
      ->type_name("N@REGION")
      ->allow_extra_args(false);
}

void add_shown(CLI::App& sub, SweepOptions& options) {
  const std::vector<std::string_view> metrics = sweep::metric_names();
  sub.add_option("--metric", options.metric, "what table and colours show")
      ->check(CLI::IsMember(std::vector<std::string>(metrics.begin(), metrics.end())))
      ->type_name("NAME");
  sub.add_option("--json", options.json, "write the cells as JSON (docs/log-format.md)")->type_name("FILE");
  sub.add_option("--csv", options.csv, "one line a run")->type_name("FILE");
  sub.add_option("--svg", options.svg, "a picture of the grid with the border where it begins to learn")
      ->type_name("FILE");
}

}  // namespace

void add_sweep(CLI::App& app, Command& command) {
  const auto options = std::make_shared<SweepOptions>();
  CLI::App& sub = *app.add_subcommand(
      "sweep",
      "One or two settings over their values: where it learns, as a table and a picture; can be resumed");
  sub.footer(kFooter);
  add_swept(sub, *options);
  add_shown(sub, *options);
  sub.add_flag("--stored", options->stored, "the table of what was trained before; train nothing");
  sub.add_flag("--dry-run", options->dry_run, "count the runs and guess their time; train none to its end");
  sub.add_option("--print-command", options->print_command,
                 "print the sweep to be run elsewhere: as a command, a job array for Slurm, for GNU parallel")
      ->check(CLI::IsMember(std::vector<std::string>(std::begin(sweep::kForms), std::end(sweep::kForms))))
      ->type_name("FORM");
  sub.add_option("--tasks", options->tasks, "with --print-command slurm or parallel: how many shards")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N")
      ->default_str("one a run");
  add_store(sub, options->store);
  sub.add_option(
         "--threads", options->threads,
         "runs side by side, or threads of the last ones; 0: one per core it may use (never changes a result)")
      ->check(CLI::Range(0, 256))
      ->type_name("N");
  add_backend(sub, options->backend);
  sub.callback([options, &command] { command = [options] { return sweep_command(*options); }; });
}

}  // namespace normscope::cli
