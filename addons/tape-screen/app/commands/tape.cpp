// normscope tape prints the recorded tape of a configuration and the program sealed from it, as text or as JSON; and
// one step of it as the engine executes it (tape_step.cpp).
#include "addons/tape-screen/app/commands/tape.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <optional>

#include "addons/tape-screen/training/change.h"
#include "addons/tape-screen/training/listing.h"
#include "app/cli/options.h"
#include "app/cli/terminal.h"
#include "app/commands/commands.h"
#include "engine/cpu/backend_cpu.h"
#include "engine/ops/rules.h"
#include "training/run/evaluate.h"
#include "training/run/network.h"

namespace normscope::commands {
using namespace cli;
namespace {

using nlohmann::json;

std::vector<ConfigRun> chosen_runs(const TapeOptions& options) {
  std::vector<ConfigRun> runs;
  if (!options.config.empty())
    runs = runs_of(options.config);
  else if (options.runs.empty())
    runs.push_back(
        {'A',
         with_exit(Exit::Usage,
                   [&] { return preset_run(options.preset.empty() ? kUsualPreset : options.preset); }),
         {}});
  apply_arguments(runs, options.runs, options.set, {});
  override_runs(runs, options.text, 0, -1);
  return runs;
}

/// A run's programs at step 0. Sealing allocates, so a model too large for the machine is refused before.
struct SealedStep {
  explicit SealedStep(RunSpec spec)
      : task(task_of(spec)),
        backend(make_cpu_backend(1)),
        spec(prepared_spec(std::move(spec), *task, *backend)) {
    network = with_exit(Exit::Usage, [&] {
      validate(this->spec);
      task->require_context(this->spec.model.sequence);
      return build_network(this->spec, *task, *backend, 1);
    });
  }

  Listing listing(const std::string& program) const {
    if (program == "measurement") {
      if (!network->measured)
        throw CommandError(
            Exit::Usage,
            "--program measurement: expected a transformer: this model has no sub-layers that are measured");
      return list(network->measured->program().data());
    }
    if (program == "training") return list(network->program->data());
    const BatchShape shape =
        task->shape(spec.seed, 1, Split::Validation, spec.train.batch, spec.model.sequence);
    return with_exit(Exit::Usage,
                     [&] { return list(evaluation_program(network->store, spec.model, shape).data()); });
  }

  std::shared_ptr<const Task> task;
  std::unique_ptr<Backend> backend;
  RunSpec spec;
  std::unique_ptr<Network> network;
};

/// What became of the first run's program in this one.
ProgramChange changes_since(const SealedStep& first, const SealedStep& other) {
  return change_of(first.network->program->data(), other.network->program->data());
}

void check_options(const TapeOptions& options, size_t runs) {
  const bool of_step = options.wants_step() || options.changes;
  if (of_step && options.program != "training")
    throw CommandError(Exit::Usage, fmt::format("tape --program {}: expected training with --fold, --memory, "
                                                "--check, --instruction and --changes",
                                                options.program));
  if (options.changes && runs < 2)
    throw CommandError(Exit::Usage, "tape --changes: expected two runs or more, as --run A=post --run B=pre");
  if (options.layers && !options.fold)
    throw CommandError(Exit::Usage, "tape --layers: expected --fold with it");
}

/// The listing only where nothing else was asked for.
std::string text_of(const TapeOptions& options, const Listing& listing, const ProgramChange* change,
                    const StepReport& report) {
  std::string text;
  if (!options.wants_step() && !options.changes) text = "\n" + to_string(listing);
  if (change) text += "\nagainst the first run\n" + to_string(*change);
  return text + report.text;
}

Exit tape(const TapeOptions& options) {
  if (options.rules) {
    say("{}", rules_page());
    return Exit::Ok;
  }
  const std::vector<ConfigRun> chosen = chosen_runs(options);
  check_options(options, chosen.size());
  json runs = json::array();
  std::optional<SealedStep> first;
  for (const ConfigRun& run : chosen) {
    SealedStep sealed(run.spec);
    const Listing listing = sealed.listing(options.program);
    std::optional<ProgramChange> change;
    if (options.changes && first) change = changes_since(*first, sealed);
    if (options.changes && !first) first.emplace(std::move(sealed));
    const StepReport report = options.wants_step() ? step_report(run.spec, options) : StepReport{};
    const std::string name = run.spec.name.empty() ? default_name(run.spec) : run.spec.name;
    if (!options.json) {
      say("run {} ({}), {} program\n{}\n", run.letter, name, options.program,
          text_of(options, listing, change ? &*change : nullptr, report));
      continue;
    }
    json one = to_json(listing);
    one["run"] = std::string(1, run.letter);
    one["name"] = name;
    one["program"] = options.program;
    if (change) one["changes"] = to_json(*change);
    one.update(report.fields);
    runs.push_back(std::move(one));
  }
  if (options.json) say("{}\n", json{{"format", "normscope tape 1"}, {"runs", std::move(runs)}}.dump(1));
  return Exit::Ok;
}

void add_step_options(CLI::App& sub, TapeOptions& options) {
  sub.add_flag(
      "--fold", options.fold,
      "one step: every op with its gradient on a line, their times and what the machine's peak needs");
  sub.add_flag("--layers", options.layers, "with --fold: a line a layer");
  sub.add_flag("--memory", options.memory, "which buffer lies where, from which instruction to which");
  sub.add_option(
         "--check", options.checks,
         "an element's gradient by differences: all (one of every op), or INSTRUCTION/TENSOR[ELEMENT], "
         "as L01.ffn.1/L01.ffn.w1[3,7]; can be repeated")
      ->type_name("WHAT")
      ->allow_extra_args(false);
  sub.add_option("--instruction", options.instructions,
                 "formula, local rule and tensors of an instruction, as L01.attn.stream; can be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  sub.add_flag("--changes", options.changes,
               "of several runs: which instructions came and went against the first");
  sub.add_option("--after", options.after, "steps to train before the step that is looked at")
      ->transform(whole(0, 10'000'000))
      ->type_name("N")
      ->default_str("0");
  add_threads(sub, options.threads);
  sub.add_flag("--rules", options.rules,
               "formula, shapes and local rule of every op, as Markdown (docs/ops.md)");
}

}  // namespace

void add_tape(CLI::App& app, Command& command) {
  const auto [sub, options] = add_command(
      app, command, "tape", "Print the recorded tape of runs and the program sealed from it", tape);
  sub.footer(fmt::format("Presets: {}.\n{}", fmt::join(offered_presets(), ", "), kFooter));
  CLI::Option* config =
      sub.add_option("--config", options.config, "runs from a TOML file")->type_name("FILE");
  CLI::Option* preset = sub.add_option("--preset", options.preset, "a run by name")
                            ->type_name("PRESET")
                            ->excludes(config)
                            ->default_str(kUsualPreset);
  sub.add_option("--run", options.runs, "a run from a preset, as A=post; can be repeated, in letter order")
      ->type_name("LETTER=PRESET")
      ->allow_extra_args(false)
      ->excludes(config)
      ->excludes(preset);
  sub.add_option("--set", options.set, "a field of every run or of one, as B:model.layers=2; can be repeated")
      ->type_name("[LETTER:]KEY=VALUE")
      ->allow_extra_args(false);
  sub.add_option("--text", options.text, "a UTF-8 text of your own to learn")->type_name("FILE");
  sub.add_option("--program", options.program,
                 "training; evaluation: a validation batch, forward only; measurement: the fixed sequence")
      ->check(CLI::IsMember({"training", "evaluation", "measurement"}))
      ->type_name("NAME");
  sub.add_flag("--json", options.json, "one JSON object instead of text (docs/log-format.md)");
  add_step_options(sub, options);
}

}  // namespace normscope::commands
