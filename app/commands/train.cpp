// normscope train: runs in lockstep without a window, with log, checkpoint and resume.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>

#include "app/bench/cost.h"
#include "app/bench/memory_plan.h"
#include "app/commands/machine.h"
#include "app/cli/options.h"
#include "app/commands/report.h"
#include "app/commands/run_log.h"
#include "app/commands/specs.h"
#include "app/cli/terminal.h"
#include "app/files/command_text.h"
#include "engine/core/machine_memory.h"
#include "engine/data/pairs_task.h"
#include "engine/io/safetensors.h"
#include "engine/train/evaluate.h"
#include "engine/train/run.h"

namespace normscope::cli {
namespace {

/// What learns data that the command line names alone.
constexpr const char* kUsualPreset = "pre";

struct Job {
  char letter = 'A';
  std::shared_ptr<const Task> task;
  std::unique_ptr<Run> run;
  int32_t first_step = 0;
  double seconds = 0;  ///< spent in Run::step
  double validation = std::numeric_limits<double>::quiet_NaN();

  int32_t budget() const { return run->spec().train.steps; }
  bool active() const { return run->steps_done() < budget() && run->state() != RunState::NonFinite; }
  RunLabel label() const { return {letter, run->spec().seed}; }
};

struct Assignment {
  std::string key, value;
};

Assignment parse_assignment(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos) {
    throw CommandError(Exit::usage, fmt::format("--set '{}': expected KEY=VALUE, as train.rate=1e-3", text));
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

/// What the options for data and start say, before --set has the last word.
void apply_files(const TrainOptions& options, RunSpec& spec) {
  with_exit(Exit::usage, [&] {
    if (!options.pairs.empty() && !options.labels.empty())
      throw CommandError(Exit::usage, "--pairs and --labels: expected one of them");
    if (!options.pairs.empty()) {
      set_field(spec, "model.architecture", "encoder-decoder");
      set_field(spec, "data.pairs", options.pairs);
    }
    if (!options.labels.empty()) {
      set_field(spec, "model.architecture", "encoder");
      set_field(spec, "data.labels", options.labels);
    }
    if (!options.valid.empty()) set_field(spec, "data.valid", options.valid);
    if (!options.init_from.empty()) set_field(spec, "train.init_from", options.init_from);
  });
}

std::string beside_save(const TrainOptions& options) {
  return options.save.empty() ? "" : options.save + ".bpe.model";
}

/// Learned pieces are written where the command line says so, with --save or --set data.tokenizer: a
/// configuration that was opened only names what is read.
bool may_write_tokenizer(const TrainOptions& options, const std::string& path) {
  const auto names_it = [&](const std::string& set) { return set.ends_with("data.tokenizer=" + path); };
  return !path.empty() &&
         (path == beside_save(options) || std::any_of(options.set.begin(), options.set.end(), names_it));
}

/// The pieces of sentence pairs stand beside the run that is saved, unless they are read from elsewhere.
void place_tokenizer(const TrainOptions& options, RunSpec& spec) {
  const std::string& path = spec.data.tokenizer_path;
  std::error_code error;
  if (spec.data.name != "pairs" || options.save.empty() || may_write_tokenizer(options, path)) return;
  if (path.empty() || !std::filesystem::exists(path, error))
    set_field(spec, "data.tokenizer", beside_save(options));
}

void apply_tokens(const TrainOptions& options, RunSpec& spec) {
  if (options.tokens == 0) return;
  const int32_t rows = options.tokens / spec.model.sequence;
  if (rows < 1)
    throw CommandError(Exit::usage,
                       fmt::format("--tokens {}: expected at least one row of {} (model.sequence)",
                                   options.tokens, spec.model.sequence));
  with_exit(Exit::usage, [&] { set_field(spec, "train.batch", std::to_string(rows)); });
}

std::vector<ConfigRun> configured_runs(const TrainOptions& options) {
  std::vector<ConfigRun> runs;
  const bool has_data = !options.text.empty() || !options.pairs.empty() || !options.labels.empty();
  const std::string preset = options.preset.empty() && has_data ? kUsualPreset : options.preset;
  if (!options.config.empty())
    runs = runs_of(options.config);
  else if (preset.empty() && options.runs.empty())
    throw CommandError(
        Exit::usage,
        "train: expected --config, --preset, --run or --resume, or data to learn (--text, --pairs, "
        "--labels)");
  else if (options.runs.empty())
    runs.push_back({'A', with_exit(Exit::usage, [&] { return preset_run(preset); }), {}});
  apply_arguments(runs, options.runs, {}, {});
  for (ConfigRun& run : runs) apply_files(options, run.spec);
  apply_arguments(runs, {}, options.set, options.edits);
  for (ConfigRun& run : runs) {
    apply_tokens(options, run.spec);
    place_tokenizer(options, run.spec);
  }
  override_runs(runs, options.text, options.steps, options.seed);
  return runs;
}

void schedule_edits(std::vector<Edit> edits, Run& run) {
  with_exit(Exit::usage, [&] { run.schedule_edits(std::move(edits)); });
}

/// A requested run and the data it learns from; runs on the same data share it.
struct Planned {
  ConfigRun config;
  std::shared_ptr<const Task> task;
};

std::vector<ConfigRun> asked_runs(const TrainOptions& options) {
  if (options.resume.empty()) return configured_runs(options);
  ConfigRun saved{'A', with_exit(Exit::input, [&] { return Run::saved_spec(options.resume); }), {}};
  if (!options.text.empty()) saved.spec.data.name = "text", saved.spec.data.text_path = options.text;
  return {std::move(saved)};
}

std::vector<Planned> planned_runs(const TrainOptions& options) {
  std::vector<Planned> planned;
  for (ConfigRun& config : asked_runs(options)) {
    const auto same = std::find_if(planned.begin(), planned.end(),
                                   [&](const Planned& p) { return p.config.spec.data == config.spec.data; });
    std::shared_ptr<const Task> task = same != planned.end() ? same->task : task_of(config.spec);
    if (options.resume.empty() && !config.spec.train.init_from.empty())
      with_exit(Exit::input, [&] { SafetensorsFile::load(config.spec.train.init_from); });
    planned.push_back({std::move(config), std::move(task)});
  }
  return planned;
}

std::vector<Job> new_jobs(std::vector<Planned> planned, Backend& backend) {
  std::vector<Job> jobs;
  for (Planned& p : planned) {
    Job job;
    job.letter = p.config.letter;
    job.task = std::move(p.task);
    job.run = with_exit(Exit::usage, [&] { return std::make_unique<Run>(p.config.spec, job.task, backend); });
    schedule_edits(std::move(p.config.edits), *job.run);
    jobs.push_back(std::move(job));
  }
  return jobs;
}

/// A resumed run keeps its specification; what the command line changes is an edit of the run from here on.
Job resumed_job(const TrainOptions& options, std::shared_ptr<const Task> task, Backend& backend) {
  Job job;
  job.task = std::move(task);
  job.run = with_exit(Exit::input, [&] { return Run::load(options.resume, job.task, backend); });
  job.first_step = job.run->steps_done();
  with_exit(Exit::usage, [&] {
    for (const std::string& text : options.set) {
      const Assignment assignment = parse_assignment(text);
      job.run->edit(assignment.key, assignment.value);
    }
    if (options.edits.empty()) {
      std::vector<ConfigRun> runs{{job.letter, job.run->spec(), job.run->scheduled()}};
      require_read(runs, options.set);
    }
  });
  if (options.steps > 0) job.run->set_budget(options.steps);
  std::vector<Edit> edits;
  with_exit(Exit::usage, [&] {
    for (const std::string& text : options.edits) edits.push_back(parse_edit(text));
  });
  schedule_edits(std::move(edits), *job.run);
  return job;
}

/// "runs.safetensors" becomes "runs-A.safetensors" where several runs are saved.
std::string save_path(const std::string& path, const std::string& part) {
  const size_t dot = path.rfind('.');
  const size_t slash = path.rfind('/');
  if (dot == path.npos || (slash != path.npos && dot < slash)) return path + "-" + part;
  return fmt::format("{}-{}{}", path.substr(0, dot), part, path.substr(dot));
}
std::string save_path(const std::string& path, char letter, size_t runs) {
  return runs == 1 ? path : save_path(path, std::string(1, letter));
}

/// The state between, and the last few of them under names of their own. A disk that is full for a while ends no
/// training.
void save_between(const TrainOptions& options, const Job& job, size_t runs) {
  const int32_t step = job.run->steps_done();
  if (options.save.empty() || options.save_every == 0 || step % options.save_every != 0) return;
  const std::string path = save_path(options.save, job.letter, runs);
  job.run->save(path);
  if (options.keep == 0) return;
  const auto kept = [&](int32_t at) {
    std::string name = save_path(path, fmt::format("{:06}", at));
    const std::string& input = job.run->spec().train.init_from;
    if (!input.empty() && same_file(name, input))
      throw CommandError(Exit::usage, fmt::format("--keep: train.init_from reads {}, which stays", name));
    return name;
  };
  job.run->save(kept(step));
  if (step > options.keep * options.save_every)
    std::remove(kept(step - options.keep * options.save_every).c_str());
}

double source_use_of(Run& run) {
  const RunSpec& spec = run.spec();
  return source_use(run.store(), spec.model, run.task(), spec.seed, spec.train.batch);
}

/// What a validation says of a model whose text is worth a line of its own.
void show(const Job& job, size_t runs) {
  const TaskForm form = job.task->form();
  if (form == TaskForm::NextSymbol) return;
  const std::string letter = runs > 1 ? fmt::format(" {}", job.letter) : "";
  const double accuracy = job.run->validation_accuracy();
  say("step {}{}  validation {:.3f}{}  {}\n", job.run->steps_done(), letter, job.validation,
      std::isfinite(accuracy) ? fmt::format("  accuracy {:.1f} %", 100 * accuracy) : "",
      job.run->sample(job.run->spec().model.sequence));
  flush();
}

/// After the loss of a device: all runs from their newest snapshots, on the CPU.
void fall_back(Machine& machine, std::vector<Job>& jobs, const std::string& why) {
  for (Job& job : jobs) job.run->recover_on(machine.cpu(), why);
  machine.leave_device(why);
  for (Job& job : jobs)
    while (job.run->catching_up()) job.run->step();
}

/// `action`, on the CPU once more when the device gives out under it.
template <typename Action>
void with_fall_back(Machine& machine, std::vector<Job>& jobs, Progress& progress, Action&& action) {
  try {
    action();
  } catch (const DeviceError& error) {
    if (!machine.on_device()) throw;
    progress.finish();
    fall_back(machine, jobs, error.what());
    action();
  }
}

void advance(const TrainOptions& options, Machine& machine, std::vector<Job>& jobs, Progress& progress,
             Job& job, RunLog& log, Closing& closing) {
  const size_t runs = jobs.size();
  Run& run = *job.run;
  const auto before = std::chrono::steady_clock::now();
  with_fall_back(machine, jobs, progress, [&] { run.step(); });
  job.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
  const int32_t step = run.steps_done();
  const bool measured = step % options.validate_every == 0 || !job.active();
  if (measured) {
    with_fall_back(machine, jobs, progress, [&] { job.validation = run.validation_loss(); });
    progress.finish();
    show(job, runs);
  }
  closing.attempt([&] { save_between(options, job, runs); });
  const std::span<const double> stats = run.program().stats();
  log.step(job.label(), step, run.last_loss(), learning_rate(run.spec().train.schedule, step),
           run.program().data().stats, std::vector<float>(stats.begin(), stats.end()),
           measured ? std::optional(job.validation) : std::nullopt);
}

std::string progress_note(const std::vector<Job>& jobs) {
  std::string note;
  for (const Job& job : jobs)
    note += fmt::format("{}{} {:.2f}", note.empty() ? "" : "  ", job.letter, job.run->mean_loss(20));
  return note;
}

/// True when the budget was reached, false when interrupted.
bool train_all(const TrainOptions& options, Machine& machine, std::vector<Job>& jobs, RunLog& log,
               Closing& closing) {
  int64_t total = 0, done = 0;
  for (const Job& job : jobs) total += std::max(0, job.budget() - job.first_step);
  Progress progress("training", total);
  for (bool any = true; any;) {
    any = false;
    for (Job& job : jobs) {
      if (!job.active()) continue;
      any = true, ++done;
      advance(options, machine, jobs, progress, job, log, closing);
    }
    if (any) progress.update(std::min(done, total), progress_note(jobs));
    if (InterruptGuard::interrupted()) break;
  }
  progress.finish();
  return !InterruptGuard::interrupted();
}

/// The memory of all runs together, from their plans: printed on request; more than the machine has is
/// refused before anything is allocated.
void check_memory(const TrainOptions& options, const std::vector<Planned>& planned, Backend& backend) {
  size_t sum = 0, saved = 0;
  bench::MemoryNeed largest;
  for (const Planned& p : planned) {
    RunSpec spec = p.config.spec;
    spec.model.vocabulary = p.task->vocabulary();
    spec.model.classes = p.task->classes();
    complete(spec);
    const bench::MemoryNeed need =
        with_exit(Exit::usage, [&] { return bench::memory_need(spec, *p.task, backend); });
    if (options.plan)
      say("run {}\n{}{}", p.config.letter, bench::memory_table(need), bench::largest_table(need));
    sum += need.peak();
    saved += need.gradients - need.reused_gradients;
    if (need.peak() > largest.peak()) largest = need;
  }
  const size_t machine = machine_memory();
  if (options.plan)
    say("{} in all; this machine has {}\n", bench::bytes_text(sum), bench::bytes_text(machine));
  if (machine == 0 || sum <= machine) return;
  if (!options.plan) say("{}{}", bench::memory_table(largest), bench::largest_table(largest));
  throw CommandError(
      Exit::memory,
      fmt::format("the runs need {} of memory and this machine has {}: expected a smaller model or batch{}",
                  bench::bytes_text(sum), bench::bytes_text(machine),
                  saved > 0 ? fmt::format(", or train.reuse_gradients = true, which needs {} less",
                                          bench::bytes_text(saved))
                            : ""));
}

/// A few steps to fill caches and batch, then every instruction timed alone on that batch with the rate at zero.
Exit profile_all(std::vector<Job>& jobs) {
  constexpr int kSteps = 3, kRepeats = 20;
  for (Job& job : jobs) {
    for (int i = 0; i < kSteps; ++i) job.run->step();
    const TrainConfig& train = job.run->spec().train;
    StepInputs inputs;
    inputs.beta1 = train.beta1, inputs.beta2 = train.beta2, inputs.eps = train.eps, inputs.clip = train.clip;
    inputs.momentum = train.momentum, inputs.label_smoothing = train.label_smoothing;
    const ModelConfig& model = job.run->spec().model;
    inputs.dropout[static_cast<size_t>(DropoutKind::Residual)] = dropout_inputs(model.dropout_residual);
    inputs.dropout[static_cast<size_t>(DropoutKind::Attention)] = dropout_inputs(model.dropout_attention);
    inputs.dropout[static_cast<size_t>(DropoutKind::Activation)] = dropout_inputs(model.dropout_activation);
    say("run {}\n{}", job.letter, bench::profile_table(bench::profile(job.run->program(), inputs, kRepeats)));
    if (InterruptGuard::interrupted()) return Exit::interrupted;
  }
  return Exit::ok;
}

std::vector<Job> jobs_on(const TrainOptions& options, const std::vector<Planned>& planned, Backend& backend) {
  std::vector<Job> jobs;
  if (options.resume.empty())
    jobs = new_jobs(planned, backend);
  else
    jobs.push_back(resumed_job(options, planned.front().task, backend));
  // Nobody looks at attention here unless the run is kept: a device need not store it.
  if (options.save.empty() && backend.recomputes_probabilities())
    for (Job& job : jobs) job.run->measure_live(false);
  return jobs;
}

/// Every file that the command is going to write, against every one that it reads. The checkpoint that is
/// gone on with may be saved over.
void check_files(const TrainOptions& options, const std::vector<Planned>& planned) {
  std::vector<NamedFile> inputs = {{"--config", options.config}}, outputs;
  with_exit(Exit::internal, [&] {
    make_folder(std::filesystem::path(options.log).parent_path().string(), Access::shared, "--log");
  });
  for (const Planned& p : planned) {
    for (const NamedFile& file : files_of(p.config.spec))
      if (!may_write_tokenizer(options, file.path)) inputs.push_back(file);
    if (!options.save.empty())
      outputs.push_back({"--save", save_path(options.save, p.config.letter, planned.size())});
  }
  std::vector<NamedFile> log_inputs = inputs;
  log_inputs.push_back({"--resume", options.resume});
  check_outputs({{"--log", options.log}}, log_inputs);
  outputs.push_back({"--log", options.log});
  check_outputs(outputs, inputs);
}

/// Pieces that were learned, before the first state that needs them.
void write_tokenizers(const TrainOptions& options, const std::vector<Planned>& planned) {
  for (const Planned& p : planned) {
    const std::string& path = p.config.spec.data.tokenizer_path;
    const auto* pairs = dynamic_cast<const PairsTask*>(p.task.get());
    std::error_code error;
    if (pairs && may_write_tokenizer(options, path) && !std::filesystem::exists(path, error))
      with_exit(Exit::internal, [&] { pairs->tokenizer().save(path); });
  }
}

void save_all(const TrainOptions& options, const std::vector<Job>& jobs, Closing& closing) {
  if (options.save.empty()) return;
  for (const Job& job : jobs)
    closing.attempt([&] {
      const std::string path = save_path(options.save, job.letter, jobs.size());
      job.run->save(path);
      say("saved {} at step {}\n", path, job.run->steps_done());
    });
}

RunResult result_of(Job& job) {
  const int32_t trained = job.run->steps_done() - job.first_step;
  if (std::isnan(job.validation) && trained > 0) job.validation = job.run->validation_loss();
  return result_of(job.label(), job.run->spec(), job.run->edits(), job.run->state(), *job.run->history(),
                   *job.task, job.validation, trained > 0 ? job.seconds * 1e3 / trained : NAN,
                   source_use_of(*job.run));
}

}  // namespace

Exit train(const TrainOptions& options) {
  const InterruptGuard guard;
  Machine machine(options.backend, options.threads);
  if (!options.resume.empty() && options.seed >= 0)
    throw CommandError(Exit::usage, "--seed: a resumed run keeps its seed");
  std::vector<Planned> planned = planned_runs(options);
  check_memory(options, planned, machine.cpu());
  if (options.plan) return Exit::ok;
  if (!options.profile) check_files(options, planned);
  std::vector<Job> jobs;
  try {
    jobs = jobs_on(options, planned, machine.backend());
  } catch (const DeviceError& error) {  // too little memory there
    machine.leave_device(error.what());
    jobs = jobs_on(options, planned, machine.backend());
  }
  if (options.profile) return profile_all(jobs);
  write_tokenizers(options, planned);
  RunLog log(options.log, !options.resume.empty());

  // Weights first, then the table, then the rest: nothing that fails takes along what is worth more.
  Closing closing;
  bool complete = false;
  closing.attempt([&] { complete = train_all(options, machine, jobs, log, closing); });
  save_all(options, jobs, closing);
  std::vector<RunResult> results;
  for (Job& job : jobs) closing.attempt([&] { results.push_back(result_of(job)); });
  say("{}", table(results));
  flush();
  for (const RunResult& result : results) log.result(result);
  closing.attempt([&] { log.check(); });
  if (InterruptGuard::interrupted()) complain("interrupted");
  return closing.code(complete ? Exit::ok : Exit::interrupted);
}

}  // namespace normscope::cli
