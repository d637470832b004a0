// normscope translate: the translations of a run trained on sentence pairs, and how good they are.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "addons/translation/training/bleu.h"
#include "addons/translation/training/pairs_task.h"
#include "addons/translation/training/translator.h"
#include "app/cli/options.h"
#include "app/cli/terminal.h"
#include "app/commands/commands.h"
#include "engine/cpu/backend_cpu.h"
#include "training/io/output_file.h"
#include "training/run/run.h"

namespace normscope::commands {
using namespace cli;
namespace {

struct TranslateOptions {
  std::vector<std::string> runs;  ///< several: their weights are averaged
  std::string input, reference, out;
  int32_t beam = 5, limit = 0, threads = 0;
  double penalty = 1.2;
};

constexpr size_t kShown = 5;

/// Sentences to translate and, where they are known, their translations.
struct Work {
  std::vector<std::string> sources, references;
};

Work work_of(const TranslateOptions& options, const PairsTask& pairs) {
  Work work;
  if (options.input.empty()) {
    for (const TsvRow& row : pairs.validation()) {
      work.sources.push_back(row.first);
      work.references.push_back(row.second);
    }
  } else {
    work.sources = with_exit(Exit::Input, [&] { return read_lines(options.input); });
    if (!options.reference.empty())
      work.references = with_exit(Exit::Input, [&] { return read_lines(options.reference); });
    if (!work.references.empty() && work.references.size() != work.sources.size())
      throw CommandError(Exit::Input,
                         fmt::format("{} has {} lines and {} has {}: expected as many", options.input,
                                     work.sources.size(), options.reference, work.references.size()));
  }
  if (work.sources.empty()) throw CommandError(Exit::Input, fmt::format("{} is empty", options.input));
  const auto limit = static_cast<size_t>(options.limit);
  if (limit > 0 && limit < work.sources.size()) {
    work.sources.resize(limit);
    if (!work.references.empty()) work.references.resize(limit);
  }
  return work;
}

void write_lines(const std::string& path, const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  write_file(path, text, "translations");
}

void show(const Work& work, const std::vector<std::string>& translations) {
  for (size_t i = 0; i < std::min(kShown, translations.size()); ++i) {
    say("  {}\n    {}\n", work.sources[i], translations[i]);
    if (!work.references.empty()) say("    ({})\n", work.references[i]);
  }
}

Exit translate(const TranslateOptions& options) {
  const InterruptGuard guard;
  std::optional<EndsAtOnce> loading(std::in_place, "interrupted");  // there is nothing to put by
  const std::unique_ptr<Backend> backend = make_cpu_backend(options.threads);
  const RunSpec spec = with_exit(Exit::Input, [&] { return Run::saved_spec(options.runs.front()); });
  const std::shared_ptr<const Task> task = task_of(spec);
  const auto* const pairs = dynamic_cast<const PairsTask*>(task.get());
  if (!pairs)
    throw CommandError(Exit::Input, fmt::format("{} was trained on {}: expected a run on sentence pairs",
                                                options.runs.front(), spec.data.name));
  const auto run = with_exit(Exit::Input, [&] { return Run::load(options.runs.front(), task, *backend); });
  if (options.runs.size() > 1) with_exit(Exit::Input, [&] { average_weights(options.runs, run->store()); });
  std::vector<NamedFile> inputs = files_of(spec);
  inputs.insert(inputs.end(), {{"--input", options.input}, {"--reference", options.reference}});
  for (const std::string& file : options.runs) inputs.push_back({"translate", file});
  check_outputs({{"--out", options.out}}, inputs);

  const Work work = work_of(options, *pairs);
  std::vector<std::vector<int32_t>> sources;
  size_t cut = 0;
  const int32_t longest = run->spec().model.sequence;
  for (const std::string& sentence : work.sources) {
    sources.push_back(pairs->tokenizer().encode(sentence));
    sources.back().push_back(pairs->end());
    cut += sources.back().size() > static_cast<size_t>(longest);
  }
  if (cut > 0)
    complain(Message("{} of {} sentences are cut after {} pieces, which is all the model reads", cut,
                     sources.size(), longest));
  Translator translator(run->store(), run->spec().model, pairs->begin(), pairs->end(),
                        {.beam = options.beam, .length_penalty = options.penalty});
  loading.reset();
  Progress progress("translating", static_cast<int64_t>(sources.size()));
  const auto rows = translator.translate(sources, [&](size_t done) {
    progress.update(static_cast<int64_t>(done), "");
    return !InterruptGuard::interrupted();
  });
  progress.finish();
  if (InterruptGuard::interrupted()) {
    complain("interrupted");
    return Exit::Interrupted;
  }

  std::vector<std::string> translations;
  for (const auto& row : rows) translations.push_back(task->decode(row));
  Closing closing;
  if (!options.out.empty()) {
    closing.attempt([&] { write_lines(options.out, translations); });
    show(work, translations);
  } else {
    for (const std::string& line : translations) say("{}\n", line);
  }
  if (!work.references.empty()) say("{}\n", to_string(corpus_bleu(translations, work.references)));
  return closing.code(Exit::Ok);
}

}  // namespace

void add_translate(CLI::App& app, Command& command) {
  const auto [sub, options] = add_command(
      app, command, "translate", "Translate with a run that was trained on sentence pairs", translate);
  sub.add_option("runs", options.runs, "a saved run; of several the weights are averaged")
      ->type_name("FILE")
      ->required();
  CLI::Option* input =
      sub.add_option("--input", options.input, "sentences, one a line; without it the run's validation pairs")
          ->type_name("FILE");
  sub.add_option("--reference", options.reference, "their translations, to print BLEU")
      ->type_name("FILE")
      ->needs(input);
  sub.add_option("--out", options.out, "where the translations go; without it they are printed")
      ->type_name("FILE");
  sub.add_option("--beam", options.beam, "width of the beam; 1 is greedy")
      ->transform(whole(1, 100))
      ->type_name("N");
  sub.add_option("--penalty", options.penalty, "a hypothesis scores log p / length^penalty")
      ->check(CLI::Range(0.0, 10.0))
      ->type_name("X");
  sub.add_option("--limit", options.limit, "only the first so many sentences")
      ->transform(whole(1, 100'000'000))
      ->type_name("N")
      ->default_str("all");
  add_threads(sub, options.threads);
}

}  // namespace normscope::commands
