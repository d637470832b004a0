// normscope tape: the recorded tape of a configuration and the program sealed from it, as text or as JSON.
// Trains nothing.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "app/cli/options.h"
#include "app/cli/specs.h"
#include "app/cli/terminal.h"
#include "app/commands/commands.h"
#include "engine/core/machine_memory.h"
#include "engine/cpu/backend_cpu.h"
#include "engine/measure/listing.h"
#include "engine/train/evaluate.h"
#include "engine/train/memory_plan.h"
#include "engine/train/network.h"

namespace normscope::cli {
namespace {

using nlohmann::json;

struct TapeOptions {
  std::string config, preset, text, program = "training";
  std::vector<std::string> runs, set;
  bool json = false;
};

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

/// Sealing allocates: a model that the machine cannot hold is refused before.
void require_memory(const RunSpec& spec, const Task& task, Backend& backend) {
  const size_t need = with_exit(Exit::Usage, [&] { return memory_need(spec, task, backend).peak(); });
  const size_t machine = machine_memory();
  if (machine > 0 && need > machine)
    throw CommandError(Exit::Memory,
                       fmt::format("the run needs {} of memory and this machine has {}: expected "
                                   "a smaller model or batch",
                                   bytes_text(need), bytes_text(machine)));
}

Listing listing_of(RunSpec spec, const std::string& program) {
  const std::shared_ptr<const Task> task = task_of(spec);
  const std::unique_ptr<Backend> backend = make_cpu_backend(1);
  spec.model.vocabulary = task->vocabulary();
  spec.model.classes = task->classes();
  complete(spec);
  require_memory(spec, *task, *backend);
  return with_exit(Exit::Usage, [&] {
    validate(spec);
    task->require_context(spec.model.sequence);
    const std::unique_ptr<Network> network = build_network(spec, *task, *backend, 1);
    if (program == "measurement") return list(network->measured->program().data());
    if (program == "training") return list(network->program->data());
    const BatchShape shape =
        task->shape(spec.seed, 1, Split::Validation, spec.train.batch, spec.model.sequence);
    return list(evaluation_program(network->store, spec.model, shape).data());
  });
}

json to_json(const Shape& shape) { return std::vector<int64_t>(shape.dim, shape.dim + shape.rank); }

json to_json(const Place& place) {
  if (place.block.empty()) return nullptr;
  return {{"block", place.block}, {"offset", place.offset}, {"reused", place.reused}};
}

json to_json(const ListedInstruction& i) {
  json operands = json::array();
  for (const ListedOperand& o : i.operands) {
    json operand = {{"use", o.use}, {"value", o.value}, {"place", to_json(o.place)}};
    if (!o.write.empty()) operand["write"] = o.write;
    operands.push_back(std::move(operand));
  }
  json out = {{"phase", i.phase}, {"op", i.op}, {"name", i.name}, {"layer", i.layer}};
  out["node"] = i.node < 0 ? json(nullptr) : json(i.node);
  out["operands"] = std::move(operands);
  if (i.phase == "update") out["parameters"] = i.parameters;
  if (!i.stat.empty()) out["stat"] = i.stat;
  return out;
}

json to_json(const Listing& all) {
  json out = {{"parameters", json::array()}, {"values", json::array()}, {"nodes", json::array()}};
  for (const ListedParameter& p : all.parameters)
    out["parameters"].push_back({{"name", p.name},
                                 {"shape", to_json(p.shape)},
                                 {"layer", p.layer},
                                 {"trainable", p.trainable},
                                 {"place", to_json(p.place)}});
  for (const ListedValue& v : all.values)
    out["values"].push_back({{"name", v.name},
                             {"role", v.role},
                             {"type", v.type},
                             {"shape", to_json(v.shape)},
                             {"place", to_json(v.place)},
                             {"gradient", to_json(v.gradient)}});
  for (const ListedNode& n : all.nodes)
    out["nodes"].push_back({{"op", n.op},
                            {"name", n.name},
                            {"layer", n.layer},
                            {"inputs", n.inputs},
                            {"saved", n.saved},
                            {"shape", to_json(n.shape)}});
  out["instructions"] = json::array();
  for (const ListedInstruction& i : all.instructions) out["instructions"].push_back(to_json(i));
  out["stats"] = all.stats;
  out["totals"] = {{"numbers", all.numbers},
                   {"forward", all.forward},
                   {"backward", all.backward},
                   {"update", all.update},
                   {"floats",
                    {{"batch", all.batch},
                     {"store", all.store},
                     {"activations", all.activations},
                     {"gradients", all.gradients},
                     {"workspace", all.workspace}}}};
  return out;
}

Exit tape(const TapeOptions& options) {
  json runs = json::array();
  for (const ConfigRun& run : chosen_runs(options)) {
    const Listing listing = listing_of(run.spec, options.program);
    const std::string name = run.spec.name.empty() ? default_name(run.spec) : run.spec.name;
    if (!options.json) {
      say("run {} ({}), {} program\n\n{}\n", run.letter, name, options.program, to_string(listing));
      continue;
    }
    json one = to_json(listing);
    one["run"] = std::string(1, run.letter);
    one["name"] = name;
    one["program"] = options.program;
    runs.push_back(std::move(one));
  }
  if (options.json) say("{}\n", json{{"format", "normscope tape 1"}, {"runs", std::move(runs)}}.dump(1));
  return Exit::Ok;
}

}  // namespace

void add_tape(CLI::App& app, Command& command) {
  const auto shared = std::make_shared<TapeOptions>();
  TapeOptions& options = *shared;
  CLI::App& sub =
      *app.add_subcommand("tape", "Print the recorded tape of runs and the program sealed from it");
  sub.footer(fmt::format("Presets: {}.\n{}", fmt::join(preset_names(), ", "), kFooter));
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
  sub.callback([shared, &command] { command = [shared] { return tape(*shared); }; });
}

}  // namespace normscope::cli
