// normscope evaluate: how well a saved run predicts data that it was not trained on, a text with any memory.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/cli/options.h"
#include "app/cli/terminal.h"
#include "app/commands/commands.h"
#include "engine/cpu/backend_cpu.h"
#include "training/run/network.h"
#include "training/run/run.h"

namespace normscope::commands {
using namespace cli;
namespace {

struct EvaluateOptions {
  std::string file;
  std::vector<int32_t> memory;  ///< none: as the run has it
  int32_t batches = 0;          ///< 0: a whole pass
  bool json = false;
  int32_t threads = 0;
};

bool reads_text(const RunSpec& spec) {
  return spec.model.architecture == Architecture::Decoder &&
         (spec.data.name == "corpus" || spec.data.name == "text");
}

struct Row {
  int32_t memory = 0;
  TextLoss loss;
};

nlohmann::json json_of(const Row& row, const RunSpec& spec, const Task& task) {
  nlohmann::json one = {{"memory", row.memory},        {"segment", spec.model.sequence},
                        {"batches", row.loss.batches}, {"targets", row.loss.targets},
                        {"loss", row.loss.loss},       {"perplexity", std::exp(row.loss.loss)}};
  if (task.of_characters()) one["bits_per_character"] = row.loss.bits();
  return one;
}

void print(const std::vector<Row>& rows, const Task& task) {
  const bool characters = task.of_characters();
  say("{:>8} {:>10} {:>10} {:>10} {:>12}{}\n", "memory", "batches", "targets", "loss", "perplexity",
      characters ? "  bits per character" : "");
  for (const Row& row : rows) {
    say("{:>8} {:>10} {:>10} {:>10.4f} {:>12.4f}", row.memory, row.loss.batches, row.loss.targets,
        row.loss.loss, std::exp(row.loss.loss));
    if (characters) say("{:>20.4f}", row.loss.bits());
    say("\n");
  }
}

/// Throws CommandError for an impossible memory: Exit::Usage if the command line asks for it, else Exit::Input.
void require_memory(const RunSpec& spec, int32_t memory, const EvaluateOptions& options) {
  ModelConfig model = spec.model;
  model.memory = memory;
  with_exit(options.memory.empty() ? Exit::Input : Exit::Usage, [&] { validate(model); });
}

std::vector<Row> rows_of(Run& run, const RunSpec& spec, const Task& task, const EvaluateOptions& options) {
  const std::vector<int32_t> wanted =
      options.memory.empty() ? std::vector<int32_t>{spec.model.memory} : options.memory;
  const int32_t most = options.batches > 0 ? options.batches : 1'000'000;
  for (const int32_t memory : wanted) require_memory(spec, memory, options);
  std::vector<Row> rows;
  for (const int32_t memory : wanted)
    rows.push_back(
        {memory, with_exit(Exit::Input, [&] { return text_loss(run.store(), spec, task, memory, most); })});
  return rows;
}

/// For any run but a decoder's on a text: its loss on the fixed validation batches.
std::vector<Row> fixed_batches(Run& run, const EvaluateOptions& options) {
  if (!options.memory.empty() || options.batches > 0)
    throw CommandError(
        Exit::Usage, fmt::format("{} does not go on from batch to batch: expected a decoder's run on a text, "
                                 "or none of the options for one",
                                 options.file));
  Row row;
  row.loss.loss = run.validation_loss();
  return {row};
}

Exit evaluate(const EvaluateOptions& options) {
  const EndsAtOnce at_once("interrupted");  // nothing is printed before all is known
  const std::unique_ptr<Backend> backend = make_cpu_backend(options.threads);
  RunSpec spec = with_exit(Exit::Input, [&] { return Run::saved_spec(options.file); });
  const bool text = reads_text(spec);
  std::shared_ptr<const Task> task = task_of(spec);
  const auto run = with_exit(Exit::Input, [&] { return Run::load(options.file, task, *backend); });
  if (text && !spec.data.consecutive) {
    spec.data.consecutive = true;
    task = task_of(spec);
  }
  spec.model = run->spec().model;  // with the size of the vocabulary
  const std::vector<Row> rows = text ? rows_of(*run, spec, *task, options) : fixed_batches(*run, options);
  if (!options.json) {
    if (text)
      print(rows, *task);
    else
      say("validation loss {:.4f}\n", rows[0].loss.loss);
    return Exit::Ok;
  }
  nlohmann::json result = {{"run", spec.name.empty() ? default_name(spec) : spec.name},
                           {"step", run->steps_done()},
                           {"unit", task->unit()}};
  if (text)
    for (const Row& row : rows) result["rows"].push_back(json_of(row, spec, *task));
  else
    result["loss"] = rows[0].loss.loss;
  say("{}\n", result.dump(2));
  return Exit::Ok;
}

}  // namespace

void add_evaluate(CLI::App& app, Command& command) {
  const auto [sub, options] =
      add_command(app, command, "evaluate",
                  "Measure a saved run on its validation data: loss, and bits per character", evaluate);
  add_value(sub, "run", options.file, "FILE", "a saved run")->required();
  if (find_field("model.memory"))  // an add-on's
    sub.add_option(
           "--memory", options.memory,
           "symbols before the segment that are seen, one or several: 0,64,256; longer than in training too")
        ->delimiter(',')
        ->transform(whole(0, kMaxMemory))
        ->type_name("N")
        ->default_str("as the run has it");
  add_value(sub, "--batches", options.batches, "N", "only the first so many batches", whole(1, 1'000'000),
            "all");
  sub.add_flag("--json", options.json, "one JSON object instead of a table");
  add_threads(sub, options.threads);
}

}  // namespace normscope::commands
