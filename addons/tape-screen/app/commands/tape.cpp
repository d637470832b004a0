// normscope tape prints the recorded tape of a configuration and the program sealed from it, as text or as JSON; and
// one step of it as the engine executes it: fold, memory, checks, single instructions.
#include <fmt/format.h>

#include "addons/tape-screen/app/tape_writers.h"
#include "app/commands/commands.h"
#include "engine/core/machine.h"
#include "training/io/text.h"
#include "training/run/evaluate.h"
#include "training/run/footprint.h"
#include "training/run/network.h"

namespace normscope::commands {
using namespace cli;
namespace {

using nlohmann::json;
using tape_screen::to_json;

struct TapeOptions {
  std::string config, preset, text, program = "training";
  std::vector<std::string> runs, set;
  bool json = false, rules = false;
  // One step.
  bool fold = false, layers = false, memory = false, changes = false;
  std::vector<std::string> checks, instructions;
  int32_t after = 0;    ///< steps trained before
  int32_t threads = 1;  ///< 0: one per physical core

  /// Whether an option needs the step itself and not only its program.
  bool wants_step() const { return fold || memory || !checks.empty() || !instructions.empty(); }
};

/// Completes the specification for its data. Throws CommandError(memory) where the machine cannot hold the run.
RunSpec prepared_spec(RunSpec spec, const Task& task, Backend& backend, bool copies = false) {
  fit_to_data(spec, task);
  const size_t need = with_exit(Exit::Usage, [&] {
    return std::max(footprint_of(spec, task, backend).peak(),
                    copies ? played_bytes(spec, task, backend) : size_t{0});
  });
  const size_t machine = machine_memory();
  if (machine > 0 && need > machine)
    throw CommandError(
        Exit::Memory,
        fmt::format("the {} needs {} of memory and this machine has {}: expected "
                    "a smaller model or batch",
                    copies ? "run with a copy of its step" : "run", size_words(need), size_words(machine)));
  return spec;
}

/// The requested parts of a step, as text and as fields of the run's object.
struct StepReport {
  std::string text;
  nlohmann::json fields = nlohmann::json::object();
};
constexpr int kRepeats = 20;

/// A run trained up to the requested step, and a copy that plays this step.
struct StepLook {
  StepLook(RunSpec spec, const TapeOptions& options)
      : task(task_of(spec)), backend(make_cpu_backend(options.threads)) {
    spec = prepared_spec(std::move(spec), *task, *backend, true);
    with_exit(Exit::Usage, [&] { run = std::make_unique<Run>(std::move(spec), task, *backend); });
    run->measure_live(false);
    for (int32_t i = 0; i < options.after; ++i) run->step();
    step = run->steps_done() + 1;
    player = run->play_next();
  }
  std::shared_ptr<const Task> task;
  std::unique_ptr<Backend> backend;
  std::unique_ptr<Run> run;
  std::unique_ptr<StepPlayer> player;
  int32_t step = 1;
};

void add_fold(StepLook& looked, const TapeOptions& options, StepReport& report) {
  looked.run->step();  // fills the batch of the run's own program: the one that is timed
  Program& program = looked.run->program();
  StepInputs inputs = looked.player->inputs();
  inputs.lr = 0;
  std::vector<double> seconds;
  for (const InstructionProfile& p : profile(program, inputs, kRepeats)) seconds.push_back(p.seconds);
  const MachinePeak machine =
      measure_machine_peak(options.threads > 0 ? options.threads : usable_cores(), 0.1);
  const Roofline roof{1e9 * machine.gflops, 1e9 * machine.bandwidth_gbs};
  Fold folded = fold(program.data(), seconds);
  measure_gradients(folded, *looked.player);
  const double loss = looked.player->program().loss();
  const auto broken = looked.player->seek_not_finite();
  report.text += fmt::format(
      "\nstep {}, loss {:.4g}; times: median of {}, each instruction alone; {}, threads: {}, FMA peak {:.0f} GFLOP/s, "
      "memory {:.1f} GB/s\n{}",
      looked.step, loss, kRepeats, machine.processor, machine.threads, machine.gflops, machine.bandwidth_gbs,
      to_string(folded, roof, !options.layers));
  report.text += broken
                     ? fmt::format("first not finite: {}, element {}, instruction {}\n",
                                   looked.player->name(broken->tensor), broken->element, broken->instruction)
                     : "every number of this step is finite\n";
  json one = to_json(folded, roof);
  one["processor"] = machine.processor;
  one["threads"] = machine.threads;
  one["repeats"] = kRepeats;
  one["loss"] = loss;
  one["not_finite"] = broken ? json{{"instruction", broken->instruction},
                                    {"tensor", looked.player->name(broken->tensor)},
                                    {"element", broken->element}}
                             : json(nullptr);
  report.fields["fold"] = std::move(one);
}

void add_checks(StepLook& looked, const TapeOptions& options, StepReport& report) {
  std::vector<NumericCheck> checks;
  for (const std::string& what : options.checks) {
    if (what != "all") {
      checks.push_back(with_exit(Exit::Usage, [&] { return check_element(*looked.player, what); }));
      continue;
    }
    for (NumericCheck& check : check_every_op(*looked.player)) checks.push_back(std::move(check));
  }
  report.text += fmt::format(
      "\nstep {}: one element by central differences of its instruction alone, at the h with the least error\n{}",
      looked.step, to_string(checks));
  report.fields["checks"] = json::array();
  for (const NumericCheck& check : checks) report.fields["checks"].push_back(to_json(check));
}

std::string number(double value) { return fmt::format("{:.4g}", value); }

/// Adds a row of the table and an object for one tensor.
void add_tensor(const StepPlayer& player, TensorId tensor, const char* use,
                std::vector<std::vector<std::string>>& rows, json& list) {
  const ValueInfo& info = player.data().values[static_cast<size_t>(tensor.value)];
  if (info.dtype != DType::F32 || !player.is_there(tensor)) return;
  const TensorSummary s = summarise(player.read(tensor));
  rows.push_back({use, player.name(tensor), to_string(info.shape), number(s.mean), number(s.deviation),
                  number(s.low), number(s.high), number(s.norm),
                  s.first_not_finite < 0 ? "" : fmt::format("not finite at {}", s.first_not_finite)});
  json one = to_json(s);
  one["use"] = use;
  one["tensor"] = info.name;
  one["gradient"] = tensor.gradient;
  list.push_back(std::move(one));
}

/// Adds one instruction: what it computes, and its tensors right after it.
void add_instruction(StepPlayer& player, size_t index, StepReport& report) {
  const Instruction& it = player.data().instructions[index];
  const OpRule& rule = rule_of(it);
  const bool up = it.phase == Phase::Backward && it.op != OpKind::Probe;
  player.seek(index + 1);
  std::vector<std::vector<std::string>> rows{{"", "tensor", "shape", "mean", "sd", "from", "to", "norm", ""}};
  json tensors = json::array();
  for (const TensorId t : player.reads(index)) add_tensor(player, t, "reads", rows, tensors);
  for (const TensorId t : player.writes(index)) add_tensor(player, t, "writes", rows, tensors);
  report.text += fmt::format("\n{}: {}, {} {}\n  {}\n  {}\n", index, rule.title, to_string(it.phase), it.name,
                             up ? rule.rule : rule.formula, rule.shapes);
  if (*rule.source) report.text += fmt::format("  {}\n", rule.source);
  report.text += text_table(rows, "lllrrrrrl");
  report.fields["shown"].push_back({{"instruction", index},
                                    {"title", rule.title},
                                    {"formula", rule.formula},
                                    {"rule", rule.rule},
                                    {"shapes", rule.shapes},
                                    {"source", rule.source},
                                    {"tensors", std::move(tensors)}});
}

void add_instructions(StepLook& looked, const TapeOptions& options, StepReport& report) {
  report.fields["shown"] = json::array();
  StepPlayer& player = *looked.player;
  for (const std::string& name : options.instructions) {
    const size_t before = report.fields["shown"].size();
    for (size_t i = 0; i < player.size(); ++i)
      if (player.data().instructions[i].name == name) add_instruction(player, i, report);
    if (report.fields["shown"].size() == before)
      throw CommandError(
          Exit::Usage,
          fmt::format("tape --instruction {}: expected a name as normscope tape prints it", name));
  }
}

/// Trains `options.after` steps and looks at the next. Throws CommandError (usage, input, memory).
StepReport step_report(RunSpec spec, const TapeOptions& options) {
  StepLook looked(std::move(spec), options);
  StepReport report;
  report.fields["step"] = looked.step;
  if (options.memory) {
    const MemoryMap map = memory_map(looked.run->program().data());
    report.text += "\n" + to_string(map);
    report.fields["memory"] = to_json(map);
  }
  if (!options.checks.empty()) add_checks(looked, options, report);
  if (!options.instructions.empty()) add_instructions(looked, options, report);
  if (options.fold) add_fold(looked, options, report);
  return report;
}

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

/// A run's programs at step 0. Sealing allocates, so a model too large for the machine is refused first.
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

/// The listing is left out if anything else was requested.
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
    if (options.changes && first)
      change = change_of(first->network->program->data(), sealed.network->program->data());
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
  add_value(sub, "--check", options.checks, "WHAT",
            "an element's gradient by differences: all (one of every op), or INSTRUCTION/TENSOR[ELEMENT], "
            "as L01.ffn.1/L01.ffn.w1[3,7]; can be repeated");
  add_value(sub, "--instruction", options.instructions, "NAME",
            "formula, local rule and tensors of an instruction, as L01.attn.stream; can be repeated");
  sub.add_flag("--changes", options.changes,
               "of several runs: which instructions came and went against the first");
  add_value(sub, "--after", options.after, "N", "steps to train before the step that is looked at",
            whole(0, 10'000'000), "0");
  add_threads(sub, options.threads);
  sub.add_flag("--rules", options.rules,
               "formula, shapes and local rule of every op, as Markdown (docs/ops.md)");
}

}  // namespace

void add_tape(CLI::App& app, Command& command) {
  const auto [sub, options] = add_command(
      app, command, "tape", "Print the recorded tape of runs and the program sealed from it", tape);
  sub.footer(fmt::format("Presets: {}.\n{}", fmt::join(offered_presets(), ", "), kFooter));
  CLI::Option* config = add_value(sub, "--config", options.config, "FILE", "runs from a TOML file");
  CLI::Option* preset =
      add_value(sub, "--preset", options.preset, "PRESET", "a run by name", {}, kUsualPreset)
          ->excludes(config);
  add_value(sub, "--run", options.runs, "LETTER=PRESET",
            "a run from a preset, as A=post; can be repeated, in letter order")
      ->excludes(config)
      ->excludes(preset);
  add_value(sub, "--set", options.set, "[LETTER:]KEY=VALUE",
            "a field of every run or of one, as B:model.layers=2; can be repeated");
  add_value(sub, "--text", options.text, "FILE", "a UTF-8 text of your own to learn");
  add_value(sub, "--program", options.program, "NAME",
            "training; evaluation: a validation batch, forward only; measurement: the fixed sequence",
            CLI::IsMember({"training", "evaluation", "measurement"}));
  sub.add_flag("--json", options.json, "one JSON object instead of text (docs/log-format.md)");
  add_step_options(sub, options);
}

}  // namespace normscope::commands
