#include "app/cli/options.h"

#include <CLI/CLI.hpp>

#include "app/cli/terminal.h"
#include "engine/io/output_file.h"
#include "training/files/command_text.h"
#include "training/spec/spec.h"
#include "training/spec/spec_text.h"

namespace normscope::cli {

CLI::Validator whole(int64_t low, int64_t high) {
  const auto read = [low, high](std::string& text) {
    int64_t value = 0;
    if (!parse_integer(text, value))
      return fmt::format("'{}' is not a whole number: expected {} to {}", text, low, high);
    if (value < low || value > high)
      return fmt::format("{} is out of range: expected {} to {}", text, low, high);
    text = std::to_string(value);  // which is the same number in any base that the option might guess
    return std::string();
  };
  return {read, fmt::format("INT in [{} - {}]", low, high), ""};
}

void add_backend(CLI::App& app, BackendOptions& options, const char* standard) {
  app.add_option("--backend", options.backend,
                 "where runs train: cpu, or cuda on an NVIDIA GPU (the same numbers within rounding)")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->type_name("NAME")
      ->default_str(standard);
  app.add_flag("--tf32", options.tf32, "with --backend cuda: matrix products with 10-bit mantissas, faster");
}

void add_look(CLI::App& app, std::string& theme, double& scale, bool both) {
  app.add_option("--theme", theme, both ? "light, dark or both (two pictures)" : "light or dark")
      ->check(CLI::IsMember(both ? std::vector<std::string>{"light", "dark", "both"}
                                 : std::vector<std::string>{"light", "dark"}))
      ->type_name("NAME");
  CLI::Option* size = app.add_option("--scale", scale, "size of everything")
                          ->check(CLI::Range(0.75, 2.5))
                          ->type_name("FACTOR");
  if (scale == 0) size->default_str("as remembered");
}

void add_steps(CLI::App& app, int32_t& steps, const char* help) {
  CLI::Option* option =
      app.add_option("--steps", steps, help)->transform(whole(1, 10'000'000))->type_name("N");
  if (steps == 0) option->default_str("as the runs have it");
}

void add_seed(CLI::App& app, int64_t& seed) {
  app.add_option("--seed", seed, "seed of weights, batches and dropout")
      ->transform(whole(0, static_cast<int64_t>(find_field("run.seed")->high)))
      ->type_name("N")
      ->default_str("as the runs have it");
}

void add_runs(CLI::App& app, std::vector<std::string>& runs, std::vector<std::string>& sets,
              std::vector<std::string>& edits) {
  app.add_option("--run", runs, "a run from a preset, as A=post; can be repeated, in letter order")
      ->type_name("LETTER=PRESET")
      ->allow_extra_args(false);
  app.add_option("--set", sets, "a field of every run or of one, as B:train.lr=1e-3; can be repeated")
      ->type_name("[LETTER:]KEY=VALUE")
      ->allow_extra_args(false);
  app.add_option("--edit", edits,
                 "change a field at a step, as 214:train.lr=1e-3 or A:214:lr=1e-3; can be repeated")
      ->type_name("[LETTER:]STEP:KEY=VALUE")
      ->allow_extra_args(false);
}

CLI::Option* add_link(CLI::App& app, std::string& link) {
  return app
      .add_option("--link", link,
                  "the runs, step and view of a link, as the window copies it (docs/links.md)")
      ->type_name("LINK");
}

void add_threads(CLI::App& app, int32_t& threads) {
  app.add_option("--threads", threads,
                 "threads that train; 0: one per core it may use (never changes a result)")
      ->transform(whole(0, 256))
      ->type_name("N");
}

void add_store(CLI::App& app, StoreOptions& options) {
  app.add_option("--store", options.folder, "the folder that keeps each run's result; none: nothing is kept")
      ->type_name("DIR")
      ->default_str("in the user's cache");
  app.add_option(
         "--shard", options.shard,
         "train only part I of N, counted from 0, and judge nothing, so that machines can share the runs")
      ->type_name("I/N");
}

void add_main_runs(CLI::App& app, MainOptions& options) {
  CLI::Option* text =
      app.add_option("--text", options.text, "a UTF-8 text of your own to learn")->type_name("FILE");
  CLI::Option* config =
      app.add_option("--config", options.config, "the runs of a TOML file instead of the three built in")
          ->type_name("FILE")
          ->excludes(text);
  add_runs(app, options.runs, options.set, options.edits);
  app.get_option("--run")->excludes(config);  // --run would silently replace the runs of the file
  add_link(app, options.link)->excludes(config)->excludes(app.get_option("--run"));
  add_steps(app, options.steps, "budget of steps");
  app.add_option("--seeds", options.seeds, "without a window: train with seeds 1 to N")
      ->transform(whole(1, 1000))
      ->type_name("N");
}

void add_main_options(CLI::App& app, MainOptions& options, const char* standard_backend) {
  add_main_runs(app, options);
  app.add_option("--out", options.out, "without a window: folder of the log and the screenshots")
      ->type_name("DIR")
      ->default_str("out");
  add_threads(app, options.threads);
  add_backend(app, options.backend, standard_backend);
}

std::vector<ConfigRun> runs_of(const std::string& config) {
  if (!config.empty()) return with_exit(Exit::Usage, [&] { return read_config(config); });
  std::vector<ConfigRun> runs;
  char letter = 'A';
  for (RunSpec& spec : default_comparison()) runs.push_back({letter++, std::move(spec), {}});
  return runs;
}

void apply_arguments(std::vector<ConfigRun>& runs, const std::vector<std::string>& presets,
                     const std::vector<std::string>& sets, const std::vector<std::string>& edits) {
  with_exit(Exit::Usage, [&] {
    if (!presets.empty()) runs = runs_from(presets);
    for (const std::string& set : sets) apply_set(runs, set);
    for (const std::string& edit : edits) apply_edit(runs, edit);
    require_read(runs, sets);
    for (ConfigRun& run : runs) run.edits = portable_edits(run.spec, std::move(run.edits));
  });
}

void override_runs(std::vector<ConfigRun>& runs, const std::string& text, int32_t steps, int64_t seed) {
  with_exit(Exit::Usage, [&] {
    for (ConfigRun& run : runs) {
      if (!text.empty()) {
        set_field(run.spec, "data.name", "text");
        set_field(run.spec, "data.text", text);
      }
      if (steps > 0) set_field(run.spec, "train.steps", std::to_string(steps));
      if (seed >= 0) set_field(run.spec, "run.seed", std::to_string(seed));
      run.spec.data.context = run.spec.model.sequence;
      validate(run.spec);
    }
  });
}

link::LinkedView link_of(const std::string& link, const std::string& text,
                         const std::vector<std::string>& sets, const std::vector<std::string>& edits) {
  return with_exit(Exit::Usage, [&] {
    link::LinkedView view = link::read_link(link);
    apply_arguments(view.runs, {}, sets, edits);
    if (!text.empty()) override_runs(view.runs, text, 0, -1);
    link::require_needed(view, view.runs);
    override_runs(view.runs, "", 0, -1);
    return view;
  });
}

MainRuns main_runs(const MainOptions& options) {
  MainRuns out;
  if (options.link.empty()) {
    out.runs = runs_of(options.config);
    apply_arguments(out.runs, options.runs, options.set, options.edits);
  } else {
    out.link = link_of(options.link, options.text, options.set, options.edits);
    out.runs = out.link->runs;
  }
  override_runs(out.runs, options.text, options.steps, -1);
  return out;
}

std::shared_ptr<const Task> task_of(const RunSpec& spec) {
  return with_exit(Exit::Input, [&] { return make_task(spec.data); });
}

std::vector<NamedFile> files_of(const RunSpec& spec) {
  std::vector<NamedFile> files;
  for (const Field* file : file_fields()) files.push_back({std::string(file->key), file->get(spec)});
  return files;
}

void refuse_clashes(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const NamedFile& output = outputs[i];
    if (output.path.empty()) continue;
    const auto clash = [&](const NamedFile& other) {
      return !other.path.empty() && same_file(output.path, other.path);
    };
    for (const NamedFile& input : inputs)
      if (clash(input))
        throw CommandError(Exit::Usage, fmt::format("{} {}: {} reads this file: expected another name",
                                                    output.option, output.path, input.option));
    for (size_t j = 0; j < i; ++j)
      if (clash(outputs[j]))
        throw CommandError(Exit::Usage, fmt::format("{} {}: {} writes this file: expected another name",
                                                    output.option, output.path, outputs[j].option));
  }
}

void check_outputs(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs) {
  refuse_clashes(outputs, inputs);
  for (const NamedFile& output : outputs)
    if (!output.path.empty()) with_exit(Exit::Internal, [&] { AtomicFile(output.path, output.option); });
}

BackendChoice backend_of(const BackendOptions& options) {
  const BackendChoice choice{options.backend == "cuda", options.tf32};
  if (choice.tf32 && !choice.cuda) throw CommandError(Exit::Usage, "--tf32: expected --backend cuda with it");
  if (!choice.cuda) return choice;
  if (const std::string reason = cuda_unavailable(); !reason.empty())
    throw CommandError(Exit::Device, "--backend cuda: " + reason);
  return choice;
}

Machine::Machine(const BackendOptions& options, int32_t threads) {
  const BackendChoice choice = backend_of(options);
  cpu_ = make_cpu_backend(threads);
  if (choice.cuda) device_ = with_exit(Exit::Device, [&] { return make_backend(choice, threads); });
}

void Machine::leave_device(const std::string& why) {
  complain(why + ": going on on the CPU");
  device_.reset();
}

}  // namespace normscope::cli
