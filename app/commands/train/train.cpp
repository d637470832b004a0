// normscope train trains runs in lockstep without a window, with log, checkpoint and resume. This file has the flags,
// and the order of the work, whose parts are in the files beside.
#include "app/commands/train/train.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <optional>

#include "app/commands/commands.h"
#include "training/data/task.h"
#include "training/run/evaluate.h"
#include "training/spec/spec.h"

namespace normscope::commands {
using namespace cli;
namespace {

/// Adds what trains: exactly one of them, or data alone.
void add_sources(CLI::App& sub, TrainOptions& options) {
  CLI::Option* config =
      sub.add_option("--config", options.config, "runs from a TOML file")->type_name("FILE");
  CLI::Option* preset = sub.add_option("--preset", options.preset, "a run by name")
                            ->type_name("PRESET")
                            ->excludes(config)
                            ->default_str("with data of one's own, what is usual for them");
  add_runs(sub, options.runs, options.set, options.edits);
  sub.get_option("--run")->excludes(config, preset);
  sub.add_option("--text", options.text, "a UTF-8 text of your own to learn")->type_name("FILE");
  for (const TaskKind* kind : task_kinds())
    if (!kind->flag_help.empty())
      sub.add_option(fmt::format("--{}", kind->name), options.files[std::string(kind->name)],
                     std::string(kind->flag_help))
          ->type_name("FILE");
  sub.add_option("--valid", options.valid, "pairs, labelled texts or trees to validate on")
      ->type_name("FILE");
  sub.add_option("--init-from", options.init_from, "a saved run whose weights are taken over: fine-tuning")
      ->type_name("FILE");
  sub.add_option("--tokens", options.tokens,
                 "tokens of a batch, padding included, instead of train.batch rows")
      ->transform(whole(2, 10'000'000))
      ->type_name("N")
      ->default_str("train.batch rows");
}

void add_course(CLI::App& sub, TrainOptions& options) {
  add_steps(sub, options.steps, "budget of steps");
  add_seed(sub, options.seed);
  sub.add_option("--validate-every", options.validate_every, "steps between validations")
      ->transform(whole(1, 10'000'000))
      ->type_name("N");
  sub.add_option("--save-every", options.save_every, "save every so many steps too (with --save)")
      ->transform(whole(1, 10'000'000))
      ->type_name("N")
      ->default_str("at the end only");
  sub.add_option("--keep", options.keep,
                 "keep the last so many of these states as FILE-STEP, to average them")
      ->transform(whole(1, 1000))
      ->type_name("N")
      ->default_str("none");
  sub.add_option("--log", options.log,
                 "one JSON object a line (docs/log-format.md); with --resume it goes on")
      ->type_name("FILE");
  sub.add_option("--save", options.save, "checkpoint at the end, and on Ctrl+C, SIGTERM or SIGHUP")
      ->type_name("FILE");
}

/// Excludes presets and data, which a saved run has itself. --text says where a moved text is.
void add_resume(CLI::App& sub, TrainOptions& options) {
  CLI::Option* resume =
      sub.add_option("--resume", options.resume, "go on from a checkpoint")->type_name("FILE");
  for (const char* name : {"--config", "--preset", "--run", "--valid", "--init-from", "--tokens"})
    resume->excludes(sub.get_option(name));
  for (const auto& [name, path] : options.files) resume->excludes(sub.get_option("--" + name));
}

double source_use_of(Run& run) {
  const RunSpec& spec = run.spec();
  return source_use(run.store(), spec.model, run.task(), spec.seed, spec.train.batch);
}

RunResult result_of(Job& job) {
  const int32_t trained = job.run->steps_done() - job.first_step;
  if (std::isnan(job.validation) && trained > 0) job.validation = job.run->validation_loss();
  Run& run = *job.run;
  if (job.scores.empty()) job.scores = scores_of(run.store(), run.spec().model, run.task());
  RunResult result = result_of(job.label(), job.run->spec(), job.run->edits(), job.run->state(),
                               *job.run->history(), *job.task, job.validation,
                               trained > 0 ? job.seconds * 1e3 / trained : NAN, source_use_of(*job.run));
  result.scores = job.scores;
  return result;
}

Exit train(const TrainOptions& options) {
  const InterruptGuard guard;
  std::optional<EndsAtOnce> loading(std::in_place, "interrupted: nothing was trained");
  Machine machine(options.backend, options.threads);
  if (!options.resume.empty() && options.seed >= 0)
    throw CommandError(Exit::Usage, "--seed: a resumed run keeps its seed");
  std::vector<RunPlan> planned = planned_runs(options);
  check_memory(options, planned, machine.backend());
  if (options.plan) return Exit::Ok;
  if (!options.profile) check_files(options, planned);
  std::vector<Job> jobs;
  try {
    jobs = jobs_on(options, planned, machine.backend());
  } catch (const DeviceError& error) {  // too little memory there
    machine.leave_device(error.what());
    jobs = jobs_on(options, planned, machine.backend());
  }
  if (options.profile) return profile_all(jobs);
  loading.reset();
  write_tokenizers(options, planned);
  const Job& first = jobs.front();
  RunLog log(options.log, identity_of(first.run->spec().data, *first.task), !options.resume.empty());

  // Weights come first, then the table, then the rest: nothing that fails takes along what is worth more.
  Closing closing;
  bool complete = false;
  closing.attempt([&] { complete = train_all(options, machine, jobs, log, closing); });
  save_all(options, jobs, closing);
  std::vector<RunResult> results;
  for (Job& job : jobs) closing.attempt([&] { results.push_back(result_of(job)); });
  say("{}", to_text(table(results)));
  flush();
  for (const RunResult& result : results) log.result(result);
  closing.attempt([&] { log.check(); });
  if (InterruptGuard::interrupted()) complain("interrupted");
  return closing.code(complete ? Exit::Ok : Exit::Interrupted);
}

}  // namespace

void add_train(CLI::App& app, Command& command) {
  const auto [sub, options] = add_command(
      app, command, "train", "Train without a window, one run or those of a configuration file", train);
  sub.footer(fmt::format("Presets: {}.\n{}", fmt::join(offered_presets(), ", "), kFooter));
  add_sources(sub, options);
  add_course(sub, options);
  add_resume(sub, options);
  sub.add_flag("--plan", options.plan, "print the memory that the runs need, and train nothing");
  sub.add_flag("--profile", options.profile,
               "time every node of a step, forward, backward, update, and train nothing");
  add_threads(sub, options.threads);
  add_backend(sub, options.backend);
}

}  // namespace normscope::commands
