// normscope tape also shows one step of a run: fold, memory, checks, single instructions.
#include <fmt/format.h>

#include <algorithm>

#include "addons/tape-screen/app/commands/tape.h"
#include "addons/tape-screen/training/fold.h"
#include "addons/tape-screen/training/numeric_check.h"
#include "app/cli/exit_code.h"
#include "app/cli/options.h"
#include "engine/core/machine.h"
#include "engine/cpu/backend_cpu.h"
#include "engine/ops/rules.h"
#include "training/io/text_table.h"
#include "training/measure/step/memory_map.h"
#include "training/measure/step/profile.h"
#include "training/run/footprint.h"
#include "training/run/run.h"

namespace normscope::commands {
using namespace cli;
namespace {

using nlohmann::json;

constexpr int kRepeats = 20;

/// A run, stepped up to the step that is looked at, and that step on a copy.
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
  const TensorSummary s = player.summary(tensor);
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

}  // namespace

RunSpec prepared_spec(RunSpec spec, const Task& task, Backend& backend, bool copies) {
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

}  // namespace normscope::commands
