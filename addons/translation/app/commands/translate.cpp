// normscope translate: the translations of a run trained on sentence pairs, and their BLEU.
#include "addons/translation/training/bleu.h"
#include "addons/translation/training/pairs_task.h"
#include "addons/translation/training/translator.h"
#include "app/commands/commands.h"
#include "training/session/analysis.h"

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

struct AverageOptions {
  std::vector<std::string> files;
  std::string out;
};

Exit average(const AverageOptions& options) {
  const std::unique_ptr<Backend> backend = make_cpu_backend(1);
  const RunSpec spec = with_exit(Exit::Input, [&] { return Run::saved_spec(options.files.back()); });
  const std::shared_ptr<const Task> task = task_of(spec);
  // The written run is the last state with the mean of the weights.
  const auto run = with_exit(Exit::Input, [&] { return Run::load(options.files.back(), task, *backend); });
  std::vector<NamedFile> inputs = files_of(spec);
  for (const std::string& file : options.files) inputs.push_back({"average", file});
  check_outputs({{"--out", options.out}}, inputs);
  with_exit(Exit::Input, [&] { average_weights(options.files, run->store()); });
  with_exit(Exit::Internal, [&] { run->save(options.out); });
  say("{}: mean weights of {} states, step {}, validation loss {:.4f}\n", options.out, options.files.size(),
      run->steps_done(), loss_without(*run, {}));
  return Exit::Ok;
}

struct BleuOptions {
  std::string translations, references;
};

Exit bleu(const BleuOptions& options) {
  const auto translations = with_exit(Exit::Input, [&] { return read_lines(options.translations); });
  const auto references = with_exit(Exit::Input, [&] { return read_lines(options.references); });
  say("{}\n", to_string(with_exit(Exit::Input, [&] { return corpus_bleu(translations, references); })));
  return Exit::Ok;
}

}  // namespace

void add_translate(CLI::App& app, Command& command) {
  const auto [sub, options] = add_command(
      app, command, "translate", "Translate with a run that was trained on sentence pairs", translate);
  add_value(sub, "runs", options.runs, "FILE", "a saved run; of several the weights are averaged")
      ->required();
  CLI::Option* input = add_value(sub, "--input", options.input, "FILE",
                                 "sentences, one a line; without it the run's validation pairs");
  add_value(sub, "--reference", options.reference, "FILE", "their translations, to print BLEU")->needs(input);
  add_value(sub, "--out", options.out, "FILE", "where the translations go; without it they are printed");
  add_value(sub, "--beam", options.beam, "N", "width of the beam; 1 is greedy", whole(1, 100));
  add_value(sub, "--penalty", options.penalty, "X", "a hypothesis scores log p / length^penalty",
            CLI::Range(0.0, 10.0));
  add_value(sub, "--limit", options.limit, "N", "only the first so many sentences", whole(1, 100'000'000),
            "all");
  add_threads(sub, options.threads);
}

void add_average(CLI::App& app, Command& command) {
  const auto [sub, options] = add_command(app, command, "average",
                                          "The mean weights of saved states, as a run that goes on", average);
  add_value(sub, "runs", options.files, "FILE", "saved states of one model")->required();
  add_value(sub, "--out", options.out, "FILE", "the run to write")->required();
}

void add_bleu(CLI::App& app, Command& command) {
  const auto [sub, options] =
      add_command(app, command, "bleu", "BLEU of translations, as sacreBLEU's 13a computes it", bleu);
  add_value(sub, "translations", options.translations, "FILE", "one a line")->required();
  add_value(sub, "references", options.references, "FILE", "one a line")->required();
}

}  // namespace normscope::commands
