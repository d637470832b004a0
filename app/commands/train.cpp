// normscope train trains runs in lockstep without a window, with log, checkpoint and resume.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <numbers>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/options.h"
#include "app/cli/terminal.h"
#include "app/commands/commands.h"
#include "app/commands/run_log.h"
#include "engine/core/machine.h"
#include "engine/core/stopwatch.h"
#include "engine/io/output_file.h"
#include "engine/io/safetensors.h"
#include "training/data/task.h"
#include "training/files/command_text.h"
#include "training/files/config_file.h"
#include "training/files/places.h"
#include "training/io/text.h"
#include "training/measure/step/profile.h"
#include "training/run/checkpoint.h"
#include "training/run/evaluate.h"
#include "training/run/footprint.h"
#include "training/run/run.h"
#include "training/spec/spec.h"
#include "training/spec/spec_text.h"

namespace normscope::commands {
using namespace cli;
namespace {

struct TrainOptions {
  std::string config, preset, text, log, save, resume;
  std::vector<std::string> runs, set, edits;
  std::map<std::string, std::string> files;     ///< of --NAME FILE, by TaskKind::name
  std::map<const LogForm*, std::string> forms;  ///< folders
  std::string valid, init_from;
  int32_t steps = 0;   ///< 0: as configured
  int32_t tokens = 0;  ///< tokens per batch; 0: train.batch rows
  int32_t validate_every = 50;
  int32_t save_every = 0;  ///< 0: at the end only
  int32_t keep = 0;        ///< how many of the last saved states keep names of their own
  int64_t seed = -1;       ///< -1: as configured
  int32_t threads = 0;
  bool plan = false;     ///< print the memory that the runs need, train nothing
  bool profile = false;  ///< time every node of a step instead of training
  cli::BackendOptions backend;
};

/// A requested run and its task, which is shared by all runs on the same data.
struct RunPlan {
  ConfigRun config;
  std::shared_ptr<const Task> task;
};

struct Job {
  char letter = 'A';
  std::shared_ptr<const Task> task{};
  std::unique_ptr<Run> run{};
  int32_t first_step = 0;
  Stopwatch clock{};  ///< of Run::step
  double validation = std::numeric_limits<double>::quiet_NaN();
  std::vector<Score> scores{};  ///< measured with the validation loss, where the task has any

  int32_t budget() const { return run->spec().train.steps; }
  bool active() const { return run->steps_done() < budget() && run->state() != RunState::NonFinite; }
  RunLabel label() const { return {letter, run->spec().seed}; }
};

// ---- the command's other output: saved states and the learned pieces of texts

std::string beside_save(const TrainOptions& options) {
  return options.save.empty() ? "" : options.save + ".bpe.model";
}

/// Allows writing learned pieces only if the command line asks for it, by --save or --set data.tokenizer, because an
/// opened configuration may name only files to read.
bool may_write_tokenizer(const TrainOptions& options, const std::string& path) {
  const auto names_it = [&](const std::string& set) { return set.ends_with("data.tokenizer=" + path); };
  return !path.empty() && (path == beside_save(options) || std::ranges::any_of(options.set, names_it));
}

/// Learned pieces that are there already are read.
bool writes_tokenizer(const TrainOptions& options, const DataSpec& data) {
  std::error_code error;
  return kind_of(data).learns_tokenizer && may_write_tokenizer(options, data.tokenizer_path) &&
         !std::filesystem::exists(data.tokenizer_path, error);
}

/// Turns "runs.safetensors" into "runs-A.safetensors" where several runs are saved.
std::string save_path(const std::string& path, const std::string& part) {
  const size_t dot = path.rfind('.');
  const size_t slash = last_separator(path);
  if (dot == path.npos || (slash != path.npos && dot < slash)) return path + "-" + part;
  return fmt::format("{}-{}{}", path.substr(0, dot), part, path.substr(dot));
}
std::string save_path(const std::string& path, char letter, size_t runs) {
  return runs == 1 ? path : save_path(path, std::string(1, letter));
}

/// Puts learned pieces beside the saved run, unless they are read from elsewhere.
void place_tokenizer(const TrainOptions& options, RunSpec& spec) {
  const std::string& path = spec.data.tokenizer_path;
  std::error_code error;
  if (!kind_of(spec.data).learns_tokenizer || options.save.empty() || may_write_tokenizer(options, path))
    return;
  if (path.empty() || !std::filesystem::exists(path, error))
    set_field(spec, "data.tokenizer", beside_save(options));
}

/// The name that a state keeps with --keep.
std::string kept_path(const std::string& path, int32_t step) {
  return save_path(path, fmt::format("{:06}", step));
}

/// Saves the state during training, and the last few states under names of their own. A disk that is
/// full for a while does not end the training.
void save_between(const TrainOptions& options, const Job& job, size_t runs) {
  const int32_t step = job.run->steps_done();
  if (options.save.empty() || options.save_every == 0 || step % options.save_every != 0) return;
  const std::string path = save_path(options.save, job.letter, runs);
  job.run->save(path);
  if (options.keep == 0) return;
  job.run->save(kept_path(path, step));
  if (step > options.keep * options.save_every)
    std::remove(kept_path(path, step - options.keep * options.save_every).c_str());
}

/// The states of --keep whose names some `files` have, since there may be as many states as steps.
std::vector<NamedFile> kept_states(const TrainOptions& options, const std::string& save,
                                   const std::vector<NamedFile>& files) {
  std::vector<NamedFile> kept;
  if (options.keep == 0 || options.save_every == 0) return kept;
  for (const NamedFile& file : files) {
    std::error_code error;
    std::string name = std::filesystem::canonical(file.path, error).filename().string();
    if (error) name = std::filesystem::path(file.path).filename().string();
    const size_t dash = std::filesystem::path(save).stem().string().size() + 1;
    int64_t step = 0;
    if (name.size() < dash || !parse_integer(name.substr(dash, name.find('.', dash) - dash), step)) continue;
    const std::string state = kept_path(save, static_cast<int32_t>(step));
    if (step % options.save_every == 0 && name == std::filesystem::path(state).filename())
      kept.push_back({"--keep", state});
  }
  return kept;
}

/// The path of a run's log in another form.
std::string log_path(const LogForm& form, const std::string& folder, char letter, size_t runs) {
  if (folder.empty()) return "";
  return (std::filesystem::path(folder) / (runs > 1 ? std::string(1, letter) : "") / form.file).string();
}

/// Checks every file that the command will write against every file that it reads. The checkpoint being
/// resumed may be overwritten.
void check_files(const TrainOptions& options, const std::vector<RunPlan>& planned) {
  std::vector<NamedFile> inputs = {{"--config", options.config}}, outputs, logs = {{"--log", options.log}};
  for (const auto& [form, folder] : options.forms)
    for (const RunPlan& p : planned)
      logs.push_back({form->flag, log_path(*form, folder, p.config.letter, planned.size())});
  for (const NamedFile& log : logs)
    with_exit(Exit::Internal, [&] {
      make_folder(std::filesystem::path(log.path).parent_path().string(), Access::Shared, log.option);
    });
  for (const RunPlan& p : planned) {
    const DataSpec& data = p.config.spec.data;
    const bool learns = writes_tokenizer(options, data);
    for (const NamedFile& file : files_of(p.config.spec))
      if (!learns || file.path != data.tokenizer_path) inputs.push_back(file);
    const auto shared = [&](const NamedFile& output) { return output.path == data.tokenizer_path; };
    if (learns && std::ranges::none_of(outputs, shared))
      outputs.push_back({"data.tokenizer", data.tokenizer_path});
    if (!options.save.empty())
      outputs.push_back({"--save", save_path(options.save, p.config.letter, planned.size())});
  }
  std::vector<NamedFile> log_inputs = inputs;
  log_inputs.push_back({"--resume", options.resume});
  std::vector<NamedFile> others = log_inputs;
  others.insert(others.end(), logs.begin(), logs.end());
  for (const RunPlan& p : planned)
    for (NamedFile& state :
         kept_states(options, save_path(options.save, p.config.letter, planned.size()), others))
      outputs.push_back(std::move(state));
  check_outputs(logs, log_inputs);
  outputs.insert(outputs.end(), logs.begin(), logs.end());
  check_outputs(outputs, inputs);
}

/// Writes learned pieces before the first state that needs them.
void write_tokenizers(const TrainOptions& options, const std::vector<RunPlan>& planned) {
  for (const RunPlan& p : planned) {
    const DataSpec& data = p.config.spec.data;
    if (writes_tokenizer(options, data))
      with_exit(Exit::Internal, [&] { p.task->save_tokenizer(data.tokenizer_path); });
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

// ---- --plan and --profile: the memory of the runs, and the time of a step by node

/// Adds up the memory of all runs from their plans. It prints the sum on request, and refuses more than
/// the machine has before anything is allocated.
void check_memory(const TrainOptions& options, const std::vector<RunPlan>& planned, Backend& backend) {
  size_t sum = 0, saved = 0;
  Footprint largest;
  for (const RunPlan& p : planned) {
    RunSpec spec = p.config.spec;
    fit_to_data(spec, *p.task);
    const Footprint need = with_exit(Exit::Usage, [&] {
      spec.train.critical_every = critical_every(spec, p.config.edits);
      return footprint_of(spec, *p.task, backend);
    });
    if (options.plan) say("run {}\n{}{}", p.config.letter, footprint_table(need), largest_table(need));
    if (const int32_t every = spec.train.critical_every; options.plan && every > 0)
      say("critical rate: {}\n", critical_cost_text(every));
    sum += need.peak();
    saved += need.gradients - need.reused_gradients;
    if (need.peak() > largest.peak()) largest = need;
  }
  const size_t machine = machine_memory();
  if (options.plan) say("{} in all; this machine has {}\n", size_words(sum), size_words(machine));
  if (machine == 0 || sum <= machine) return;
  if (!options.plan) say("{}{}", footprint_table(largest), largest_table(largest));
  throw CommandError(
      Exit::Memory,
      fmt::format(
          "the runs need {} of memory and this machine has {}: expected a smaller model or batch{}",
          size_words(sum), size_words(machine),
          saved > 0 ? fmt::format(", or train.reuse_gradients = true, which needs {} less", size_words(saved))
                    : ""));
}

/// Takes a few steps to fill caches and batch, then times every instruction alone on that batch with the
/// rate at zero. Called within an EndsAtOnce: a step of a huge model cannot stop in its middle.
Exit profile_all(std::vector<Job>& jobs) {
  constexpr int kSteps = 3, kRepeats = 20;
  for (Job& job : jobs) {
    for (int i = 0; i < kSteps; ++i) job.run->step();
    const TrainConfig& train = job.run->spec().train;
    StepInputs inputs{.lr = 0};
    inputs.beta1 = train.beta1;
    inputs.beta2 = train.beta2;
    inputs.eps = train.eps;
    inputs.clip = train.clip;
    inputs.momentum = train.momentum;
    inputs.label_smoothing = train.label_smoothing;
    set_dropout(inputs, job.run->spec().model);
    say("run {}\n{}", job.letter, profile_table(profile(job.run->program(), inputs, kRepeats)));
    flush();
  }
  return Exit::Ok;
}

// ---- the runs that the command line asks for, or the saved one that goes on

std::pair<std::string, std::string> parse_assignment(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos) {
    throw CommandError(Exit::Usage, fmt::format("--set '{}': expected KEY=VALUE, as train.lr=1e-3", text));
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

/// "--labels or --treebank": every flag that names data.
std::string file_flags(std::string_view between) {
  std::vector<std::string> flags;
  for (const TaskKind* kind : task_kinds())
    if (!kind->flag_help.empty()) flags.push_back(fmt::format("--{}", kind->name));
  return fmt::format("{}", fmt::join(flags, between));
}

/// The data that a flag names; nullptr: none does.
const TaskKind* named_data(const TrainOptions& options) {
  const TaskKind* named = nullptr;
  for (const auto& [name, path] : options.files) {
    if (path.empty()) continue;
    if (named) throw CommandError(Exit::Usage, fmt::format("{}: expected one of them", file_flags(", ")));
    named = find_kind(name);
  }
  return named;
}

/// Applies the options for data and start, before --set has the last word.
void apply_files(const TrainOptions& options, RunSpec& spec) {
  with_exit(Exit::Usage, [&] {
    if (const TaskKind* kind = named_data(options)) {
      set_field(spec, "model.architecture", kind->learners);
      set_field(spec, kind->file, options.files.at(std::string(kind->name)));
    }
    if (!options.valid.empty()) set_field(spec, "data.valid", options.valid);
    if (!options.init_from.empty()) set_field(spec, "train.init_from", place_of_weights(options.init_from));
  });
}

/// Refuses unread validation data after --set, which may have chosen the data.
void require_valid_read(const TrainOptions& options, const RunSpec& spec) {
  const std::string reason = options.valid.empty() ? "" : unused_reason(spec, "data.valid");
  if (!reason.empty())
    throw CommandError(Exit::Usage, fmt::format("--valid would change nothing: {}", reason));
}

void apply_tokens(const TrainOptions& options, RunSpec& spec) {
  if (options.tokens == 0) return;
  const int32_t rows = options.tokens / spec.model.sequence;
  if (rows < 1)
    throw CommandError(Exit::Usage,
                       fmt::format("--tokens {}: expected at least one row of {} (model.sequence)",
                                   options.tokens, spec.model.sequence));
  with_exit(Exit::Usage, [&] { set_field(spec, "train.batch", std::to_string(rows)); });
}

std::vector<ConfigRun> configured_runs(const TrainOptions& options) {
  std::vector<ConfigRun> runs;
  const TaskKind* const named = named_data(options);
  const bool says_something = !options.text.empty() || !options.set.empty();
  const std::string usual(named ? named->preset : says_something ? kUsualPreset : "");
  const std::string preset = options.preset.empty() && options.runs.empty() ? usual : options.preset;
  if (!options.config.empty())
    runs = runs_of(options.config);
  else if (preset.empty() && options.runs.empty())
    throw CommandError(
        Exit::Usage,
        fmt::format(
            "train: which run? expected --config, --preset, --run, --set or --resume, or data to learn "
            "(--text, {}); normscope train --preset pre is one",
            file_flags(", ")));
  else if (options.runs.empty())
    runs.push_back({'A', with_exit(Exit::Usage, [&] { return preset_run(preset); }), {}});
  apply_arguments(runs, options.runs, {}, {});
  for (ConfigRun& run : runs) apply_files(options, run.spec);
  apply_arguments(runs, {}, options.set, options.edits);
  for (ConfigRun& run : runs) {
    apply_tokens(options, run.spec);
    place_tokenizer(options, run.spec);
  }
  override_runs(runs, options.text, options.steps, options.seed);
  for (const ConfigRun& run : runs) require_valid_read(options, run.spec);
  return runs;
}

void schedule_edits(std::vector<Edit> edits, Run& run) {
  with_exit(Exit::Usage, [&] { run.schedule_edits(std::move(edits)); });
}

std::vector<ConfigRun> asked_runs(const TrainOptions& options) {
  if (options.resume.empty()) return configured_runs(options);
  const RunRecord from =
      with_exit(Exit::Input, [&] { return read_checkpoint(SafetensorsFile::load(options.resume)); });
  ConfigRun saved{'A', from.spec(), from.scheduled};
  if (!options.text.empty()) {
    saved.spec.data.name = "text";
    saved.spec.data.text_path = options.text;
  }
  with_exit(Exit::Usage, [&] {  // see resumed_job()
    for (const std::string& text : options.set) {
      const auto [key, value] = parse_assignment(text);
      saved.edits.push_back({from.steps() + 1, key, value});
    }
    for (const std::string& text : options.edits) saved.edits.push_back(parse_edit(text));
  });
  return {std::move(saved)};
}

std::vector<Job> new_jobs(std::vector<RunPlan> planned, Backend& backend) {
  std::vector<Job> jobs;
  for (RunPlan& p : planned) {
    Job job{.letter = p.config.letter, .task = std::move(p.task)};
    job.run = with_exit(Exit::Usage, [&] { return std::make_unique<Run>(p.config.spec, job.task, backend); });
    schedule_edits(std::move(p.config.edits), *job.run);
    jobs.push_back(std::move(job));
  }
  return jobs;
}

/// Keeps the run's specification; changes on the command line become edits of the run from here on.
Job resumed_job(const TrainOptions& options, std::shared_ptr<const Task> task, Backend& backend) {
  Job job;
  job.task = std::move(task);
  job.run = with_exit(Exit::Input, [&] { return Run::load(options.resume, job.task, backend); });
  job.first_step = job.run->steps_done();
  with_exit(Exit::Usage, [&] {
    for (const std::string& text : options.set) {
      const auto [key, value] = parse_assignment(text);
      job.run->edit(key, value);
    }
    if (options.edits.empty()) {
      std::vector<ConfigRun> runs{{job.letter, job.run->spec(), job.run->scheduled()}};
      require_read(runs, options.set);
    }
  });
  if (options.steps > 0) job.run->set_budget(options.steps);
  std::vector<Edit> edits;
  with_exit(Exit::Usage, [&] {
    for (const std::string& text : options.edits) edits.push_back(parse_edit(text));
  });
  schedule_edits(std::move(edits), *job.run);
  return job;
}

/// Throws Error where train.init_from cannot be read, before anything is trained.
void check_weights(const std::string& path) {
  if (const ModelFormat* format = format_of_weights(path))
    format->check(path);
  else
    SafetensorsFile::load(path);
}

std::vector<RunPlan> planned_runs(const TrainOptions& options) {
  std::vector<RunPlan> planned;
  for (ConfigRun& config : asked_runs(options)) {
    const auto same = std::ranges::find_if(
        planned, [&](const RunPlan& p) { return p.config.spec.data == config.spec.data; });
    std::shared_ptr<const Task> task = same != planned.end() ? same->task : task_of(config.spec);
    if (options.resume.empty() && !config.spec.train.init_from.empty())
      with_exit(Exit::Input, [&] { check_weights(config.spec.train.init_from); });
    planned.push_back({std::move(config), std::move(task)});
  }
  return planned;
}

/// Makes the planned runs, or the saved run that goes on, on `backend`.
std::vector<Job> jobs_on(const TrainOptions& options, const std::vector<RunPlan>& planned, Backend& backend) {
  std::vector<Job> jobs;
  if (options.resume.empty())
    jobs = new_jobs(planned, backend);
  else
    jobs.push_back(resumed_job(options, planned.front().task, backend));
  // Nobody looks at attention here unless the run is kept: a device need not store it.
  if (options.save.empty() && backend.recomputes_probabilities())
    for (Job& job : jobs)
      if (critical_every(job.run->spec(), job.run->scheduled()) == 0) job.run->measure_live(false);
  return jobs;
}

// ---- the steps: all runs in lockstep, with log and validations, on the CPU when a device gives out

/// The result of a validation, for a model that remembers, or whose text is worth a line of its own.
void show(const Job& job, size_t runs) {
  const TaskForm form = job.task->form();
  const bool remembers = job.run->spec().model.memory > 0;
  if (form == TaskForm::NextSymbol && !remembers) return;
  const std::string letter = runs > 1 ? fmt::format(" {}", job.letter) : "";
  if (remembers) {
    const std::string bits = job.task->of_characters() ? fmt::format("  {:.3f} bits per character",
                                                                     job.validation / std::numbers::ln2)
                                                       : "";
    say("step {}{}  validation {:.3f}{}\n", job.run->steps_done(), letter, job.validation, bits);
    flush();
    return;
  }
  const double accuracy = job.run->validation_accuracy();
  say("step {}{}  validation {:.3f}{}{}  {}\n", job.run->steps_done(), letter, job.validation,
      std::isfinite(accuracy) ? fmt::format("  accuracy {:.1f} %", 100 * accuracy) : "",
      job.scores.empty() ? "" : "  " + to_string(job.scores),
      job.run->sample(job.run->spec().model.sequence));
  flush();
}

/// Continues all runs from their newest snapshots on the CPU, after the loss of a device.
void fall_back(Machine& machine, std::vector<Job>& jobs, const std::string& why) {
  for (Job& job : jobs) job.run->recover_on(machine.cpu(), why);
  machine.leave_device(why);
  for (Job& job : jobs)
    while (job.run->catching_up()) job.run->step();
}

/// Runs `action`; if the device fails, all runs move to the CPU and `action` runs once more.
template <typename Action>
void with_fall_back(Machine& machine, std::vector<Job>& jobs, cli::Progress& progress, Action&& action) {
  try {
    action();
  } catch (const DeviceError& error) {
    if (!machine.on_device()) throw;
    progress.finish();
    fall_back(machine, jobs, error.what());
    action();
  }
}

void advance(const TrainOptions& options, Machine& machine, std::vector<Job>& jobs, cli::Progress& progress,
             Job& job, RunLog& log, Closing& closing) {
  const size_t runs = jobs.size();
  Run& run = *job.run;
  job.clock.restart();
  with_fall_back(machine, jobs, progress, [&] { run.step(); });
  job.clock.lap();
  if (const Message notice = run.take_notice(); !notice.empty()) {
    progress.finish();
    complain(runs > 1 ? Message("run {}: {}", job.letter, notice) : notice);
  }
  const int32_t step = run.steps_done();
  const bool measured = step % options.validate_every == 0 || !job.active();
  if (measured) {
    with_fall_back(machine, jobs, progress, [&] {
      job.validation = run.validation_loss();
      job.scores = scores_of(run.store(), run.spec().model, run.task());
    });
    progress.finish();
    show(job, runs);
  }
  std::vector<float> stats;
  int32_t found = -1;
  if (!run.history()->frame(step, stats, found) || found != step) stats.clear();
  log.step(job.label(), step, run.last_loss(), static_cast<double>(run.history()->rate().values.back()),
           run.history()->layout(), stats, measured ? std::optional(job.validation) : std::nullopt,
           measured ? std::span<const Score>(job.scores) : std::span<const Score>());
  // The log comes first: a run that is killed between the two writes its last steps again, and lacks none.
  closing.attempt([&] { save_between(options, job, runs); });
}

std::string progress_note(const std::vector<Job>& jobs) {
  std::string note;
  for (const Job& job : jobs)
    note += fmt::format("{}{} {:.2f}", note.empty() ? "" : "  ", job.letter,
                        job.run->mean_loss(loss_window(job.run->steps_done(), job.run->edits())));
  return note;
}

/// Prints the note of each data set once.
void say_notes(const std::vector<Job>& jobs) {
  std::set<const Task*> said;
  for (const Job& job : jobs)
    if (const std::string note = job.task->note(); !note.empty() && said.insert(job.task.get()).second) {
      say("{}\n", note);
      flush();
    }
}

/// True when the budget was reached, false when interrupted.
bool train_all(const TrainOptions& options, Machine& machine, std::vector<Job>& jobs, RunLog& log,
               Closing& closing) {
  say_notes(jobs);
  int64_t total = 0, done = 0;
  for (const Job& job : jobs) total += std::max(0, job.budget() - job.first_step);
  cli::Progress progress("training", total);
  for (bool any = true; any;) {
    any = false;
    for (Job& job : jobs) {
      if (!job.active()) continue;
      any = true;
      ++done;
      advance(options, machine, jobs, progress, job, log, closing);
    }
    if (any) progress.update(std::min(done, total), progress_note(jobs));
    if (InterruptGuard::interrupted()) break;
  }
  progress.finish();
  return !InterruptGuard::interrupted();
}

// ---- the command

/// Adds the options that name the run: exactly one of them, or data alone.
void add_sources(CLI::App& sub, TrainOptions& options) {
  CLI::Option* config = add_value(sub, "--config", options.config, "FILE", "runs from a TOML file");
  CLI::Option* preset = add_value(sub, "--preset", options.preset, "PRESET", "a run by name", {},
                                  "with data of one's own, what is usual for them")
                            ->excludes(config);
  add_runs(sub, options.runs, options.set, options.edits);
  sub.get_option("--run")->excludes(config, preset);
  add_value(sub, "--text", options.text, "FILE", "a UTF-8 text of your own to learn");
  for (const TaskKind* kind : task_kinds())
    if (!kind->flag_help.empty())
      add_value(sub, fmt::format("--{}", kind->name), options.files[std::string(kind->name)], "FILE",
                std::string(kind->flag_help));
  add_value(sub, "--valid", options.valid, "FILE", "pairs, labelled texts or trees to validate on");
  add_value(sub, "--init-from", options.init_from, "FILE",
            "a saved run whose weights are taken over: fine-tuning");
  add_value(sub, "--tokens", options.tokens, "N",
            "tokens of a batch, padding included, instead of train.batch rows", whole(2, 10'000'000),
            "train.batch rows");
}

void add_course(CLI::App& sub, TrainOptions& options) {
  add_steps(sub, options.steps, "budget of steps");
  add_seed(sub, options.seed);
  add_value(sub, "--validate-every", options.validate_every, "N", "steps between validations",
            whole(1, 10'000'000));
  add_value(sub, "--save-every", options.save_every, "N", "save every so many steps too (with --save)",
            whole(1, 10'000'000), "at the end only");
  add_value(sub, "--keep", options.keep, "N",
            "keep the last so many of these states as FILE-STEP, to average them", whole(1, 1000), "none");
  add_value(sub, "--log", options.log, "FILE",
            "one JSON object a line (docs/log-format.md); with --resume it goes on");
  for (const LogForm* form : log_forms())
    add_value(sub, form->flag, options.forms[form], "FOLDER", form->help);
  add_value(sub, "--save", options.save, "FILE",
            "checkpoint at the end, and on Ctrl+C, SIGTERM, SIGHUP or what batch systems send");
}

/// Excludes presets and data, which a saved run has itself. --text says where a moved text is.
void add_resume(CLI::App& sub, TrainOptions& options) {
  CLI::Option* resume = add_value(sub, "--resume", options.resume, "FILE", "go on from a checkpoint");
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
  RunResult result =
      result_of(job.label(), job.run->spec(), job.run->edits(), job.run->state(), *job.run->history(),
                *job.task, job.validation, 1e3 * job.clock.seconds_each(), source_use_of(*job.run));
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

  for (const auto& [form, folder] : options.forms)
    for (const Job& job : jobs)
      if (!folder.empty())
        log.also(*form, job.letter, log_path(*form, folder, job.letter, jobs.size()), !options.resume.empty(),
                 job.first_step);

  // Weights come first, then the table, then the rest: nothing that fails takes along what is worth more.
  Closing closing;
  bool complete = false;
  closing.attempt([&] { complete = train_all(options, machine, jobs, log, closing); });
  save_all(options, jobs, closing);
  std::vector<RunResult> results;
  for (Job& job : jobs) closing.attempt([&] { results.push_back(result_of(job)); });
  say("{}", to_text(table(results), terminal_width()));
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
