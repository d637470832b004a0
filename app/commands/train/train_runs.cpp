// normscope train trains the runs that the command line asks for, or the saved one that goes on.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "app/cli/specs.h"
#include "app/commands/train/train.h"
#include "training/data/task.h"
#include "training/files/command_text.h"
#include "training/io/safetensors.h"
#include "training/run/checkpoint.h"
#include "training/run/model_formats.h"
#include "training/spec/spec.h"

namespace normscope::commands {
using namespace cli;
namespace {

struct Assignment {
  std::string key, value;
};

Assignment parse_assignment(const std::string& text) {
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

/// Sets what the options for data and start say, before --set has the last word.
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
  const std::string usual(named ? named->preset : options.text.empty() ? "" : kUsualPreset);
  const std::string preset = options.preset.empty() && options.runs.empty() ? usual : options.preset;
  if (!options.config.empty())
    runs = runs_of(options.config);
  else if (preset.empty() && options.runs.empty())
    throw CommandError(
        Exit::Usage,
        fmt::format("train: expected --config, --preset, --run or --resume, or data to learn (--text, {})",
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
      const Assignment assignment = parse_assignment(text);
      saved.edits.push_back({from.steps() + 1, assignment.key, assignment.value});
    }
    for (const std::string& text : options.edits) saved.edits.push_back(parse_edit(text));
  });
  return {std::move(saved)};
}

std::vector<Job> new_jobs(std::vector<RunPlan> planned, Backend& backend) {
  std::vector<Job> jobs;
  for (RunPlan& p : planned) {
    Job job;
    job.letter = p.config.letter;
    job.task = std::move(p.task);
    job.run = with_exit(Exit::Usage, [&] { return std::make_unique<Run>(p.config.spec, job.task, backend); });
    schedule_edits(std::move(p.config.edits), *job.run);
    jobs.push_back(std::move(job));
  }
  return jobs;
}

/// Keeps the run's specification; what the command line changes is an edit of the run from here on.
Job resumed_job(const TrainOptions& options, std::shared_ptr<const Task> task, Backend& backend) {
  Job job;
  job.task = std::move(task);
  job.run = with_exit(Exit::Input, [&] { return Run::load(options.resume, job.task, backend); });
  job.first_step = job.run->steps_done();
  with_exit(Exit::Usage, [&] {
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
  with_exit(Exit::Usage, [&] {
    for (const std::string& text : options.edits) edits.push_back(parse_edit(text));
  });
  schedule_edits(std::move(edits), *job.run);
  return job;
}

/// Throws Error for what train.init_from cannot read, before anything is trained.
void check_weights(const std::string& path) {
  if (const ModelFormat* format = format_of_weights(path))
    format->check(path);
  else
    SafetensorsFile::load(path);
}

}  // namespace

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

}  // namespace normscope::commands
