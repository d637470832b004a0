// normscope parse prints the dependency trees of a trained parser, and their attachment scores.
#include <algorithm>

#include "addons/systems/training/dependency_parser.h"
#include "app/commands/commands.h"

namespace normscope::commands {
using namespace cli;
namespace {

struct ParseOptions {
  std::string run, input, out;
  int32_t threads = 0;
};

bool has_tree(const DependencyTree& tree) { return tree.words.front().head != kNoHead; }

/// Refuses words alone: tags are a third of what the parser reads, and their lack would not show.
void require_tags(const std::vector<DependencyTree>& sentences, const std::string& path) {
  for (size_t i = 0; i < sentences.size(); ++i) {
    const std::vector<TreeWord>& words = sentences[i].words;
    if (std::ranges::any_of(words, [](const TreeWord& word) { return tag_of(word) != "_"; })) continue;
    throw CommandError(
        Exit::Input,
        fmt::format("{}: sentence {} of {}, which begins with '{}', has no tags: expected UPOS or "
                    "XPOS of its words",
                    path, i + 1, sentences.size(), words.front().form));
  }
}

/// Prints the scores of sentences with a tree; to standard error if the trees go to standard output.
void say_scores(const std::vector<DependencyTree>& sentences, const std::vector<DependencyTree>& parsed,
                bool beside_trees) {
  std::vector<DependencyTree> gold, ours;
  size_t crossing = 0;
  for (size_t i = 0; i < sentences.size(); ++i) {
    if (!has_tree(sentences[i])) continue;
    gold.push_back(sentences[i]);
    ours.push_back(parsed[i]);
    crossing += !is_projective(heads_of(sentences[i]));
  }
  if (gold.empty()) return;
  const Attachment all = attachment(gold, ours, true), words = attachment(gold, ours, false);
  const std::string line =
      fmt::format("{} sentences ({} not projective), {} words: {}; without punctuation, {} words: {}",
                  gold.size(), crossing, all.words, to_string(all), words.words, to_string(words));
  if (beside_trees)
    complain(line);
  else
    say("{}\n", line);
}

Exit parse(const ParseOptions& options) {
  const InterruptGuard guard;
  std::optional<EndsAtOnce> loading(std::in_place, "interrupted");  // there is nothing to put by
  const std::unique_ptr<Backend> backend = make_cpu_backend(options.threads);
  const RunSpec spec = with_exit(Exit::Input, [&] { return Run::saved_spec(options.run); });
  const std::shared_ptr<const Task> task = task_of(spec);
  const auto* const trees = dynamic_cast<const ParsingTask*>(task.get());
  if (!trees)
    throw CommandError(Exit::Input, fmt::format("{} was trained on {}: expected a run on a treebank",
                                                options.run, spec.data.name));
  const auto run = with_exit(Exit::Input, [&] { return Run::load(options.run, task, *backend); });
  std::vector<NamedFile> inputs = files_of(spec);
  inputs.insert(inputs.end(), {{"--input", options.input}, {"parse", options.run}});
  check_outputs({{"--out", options.out}}, inputs);

  const std::vector<DependencyTree> sentences =
      options.input.empty()
          ? trees->validation()
          : with_exit(Exit::Input, [&] { return read_conllu(options.input, TreeColumns::Unparsed); });
  if (!options.input.empty()) require_tags(sentences, options.input);
  DependencyParser parser(run->store(), run->spec().model, trees->parse_vocabulary());
  loading.reset();
  Progress progress("parsing", static_cast<int64_t>(sentences.size()));
  const std::vector<DependencyTree> parsed = parser.parse(sentences, [&](size_t done) {
    if (!options.out.empty()) progress.update(static_cast<int64_t>(done), "");  // else the trees are printed
    return !InterruptGuard::interrupted();
  });
  progress.finish();
  if (InterruptGuard::interrupted()) {
    complain("interrupted");
    return Exit::Interrupted;
  }

  Closing closing;
  const std::string text = conllu_text(parsed);
  if (options.out.empty())
    say("{}", text);
  else
    closing.attempt([&] { write_file(options.out, text, "parse"); });
  say_scores(sentences, parsed, options.out.empty());
  return closing.code(Exit::Ok);
}

}  // namespace

void add_parse(CLI::App& app, Command& command) {
  const auto [sub, options] =
      add_command(app, command, "parse", "Parse sentences with a run that was trained on a treebank", parse);
  add_value(sub, "run", options.run, "FILE", "a saved run of a parser")->required();
  add_value(sub, "--input", options.input, "FILE",
            "sentences in CoNLL-U, with tags, with trees or with _ for them; without it the run's "
            "validation trees");
  add_value(sub, "--out", options.out, "FILE", "where the trees go; without it they are printed");
  add_threads(sub, options.threads);
}

}  // namespace normscope::commands
