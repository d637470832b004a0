// See dependency_parser.h.
#include "addons/systems/training/dependency_parser.h"

#include <algorithm>
#include <utility>

#include "addons/systems/engine/parser.h"
#include "engine/core/error.h"
#include "engine/tape/seal.h"
#include "addons/systems/training/parsing_task.h"

namespace normscope {
namespace {

constexpr int32_t kParsed = 128;  // sentences at a time

void write_tree(const ParseState& state, const ParseVocabulary& vocabulary, DependencyTree& tree) {
  for (size_t w = 0; w < tree.words.size(); ++w) {
    const auto number = static_cast<int32_t>(w) + 1;
    tree.words[w].head = state.head(number);
    tree.words[w].label = vocabulary.label(state.label(number));
  }
}

}  // namespace

DependencyParser::Logits DependencyParser::logits_of(Store& store, const ModelConfig& model) {
  if (model.architecture != Architecture::Parser || model.sequence != kParseFeatures)
    fail("parse", "the model is no parser of {} features: expected one", kParseFeatures);
  Tape tape(store);
  const ValueId logits = record_transition_logits(tape, model, kParsed);
  return {tape.value(logits).name, seal(tape, {.backward = false, .reuse_bytes = true})};
}

DependencyParser::DependencyParser(Store& store, const ModelConfig& model, const ParseVocabulary& vocabulary)
    : vocabulary_(&vocabulary), logits_(logits_of(store, model)) {
  if (model.classes != vocabulary.transitions() || model.vocabulary != vocabulary.size())
    fail("parse", "a model of {} symbols and {} transitions for {} and {}: expected that of the same trees",
         model.vocabulary, model.classes, vocabulary.size(), vocabulary.transitions());
}

int32_t DependencyParser::best(const ParseState& state, std::span<const float> logits) const {
  int32_t best = -1;
  for (int32_t t = 0; t < vocabulary_->transitions(); ++t) {
    if (!vocabulary_->allowed(state, t)) continue;
    if (best < 0 || logits[static_cast<size_t>(t)] > logits[static_cast<size_t>(best)]) best = t;
  }
  return best;
}

std::vector<DependencyTree> DependencyParser::parse(std::span<const DependencyTree> sentences,
                                                    const std::function<bool(size_t)>& progress) {
  Parsing parsing{{sentences.begin(), sentences.end()}};
  go_on(parsing, progress);
  return std::move(parsing.trees);
}

void DependencyParser::go_on(Parsing& parsing, const std::function<bool(size_t)>& progress) {
  auto& [out, rows, next, done] = parsing;
  const std::span<int32_t> tokens = logits_.program.tokens("tokens");
  std::ranges::fill(tokens, 0);
  while (!parsing.complete()) {
    for (; next < out.size() && rows.size() < static_cast<size_t>(kParsed); ++next)
      rows.push_back(
          {next, vocabulary_->encode(out[next]), ParseState(static_cast<int32_t>(out[next].words.size()))});
    for (size_t r = 0; r < rows.size(); ++r) {
      const ParseFeatures features = vocabulary_->features(rows[r].state, rows[r].sentence);
      std::ranges::copy(features, tokens.begin() + static_cast<std::ptrdiff_t>(r * features.size()));
    }
    logits_.program.replay({});
    const std::vector<float> logits = logits_.program.read(logits_.name);
    const auto classes = static_cast<size_t>(vocabulary_->transitions());
    for (size_t r = 0; r < rows.size(); ++r) {
      const int32_t chosen = best(rows[r].state, std::span(logits).subspan(r * classes, classes));
      rows[r].state.apply(ParseVocabulary::move_of(chosen), ParseVocabulary::label_of(chosen));
      if (rows[r].state.finished()) write_tree(rows[r].state, *vocabulary_, out[rows[r].place]);
    }
    done += std::erase_if(rows, [](const Parsing::Row& row) { return row.state.finished(); });
    if (progress && !progress(done)) break;
  }
}

namespace {

/// How well a model parses the validation trees.
class TreebankScoring final : public Scoring {
 public:
  explicit TreebankScoring(const ParsingTask& task) : task_(&task), parsing_{task.validation()} {}

  bool advance(Store& store, const ModelConfig& model, const std::function<bool()>& may_go_on) override {
    DependencyParser(store, model, task_->parse_vocabulary()).go_on(parsing_, [&](size_t) {
      return may_go_on();
    });
    return parsing_.complete();
  }
  std::vector<Score> scores() const override {
    const Attachment found = attachment(task_->validation(), parsing_.trees, task_->punctuation());
    return {{"uas", "UAS", found.unlabelled(), "%"}, {"las", "LAS", found.labelled(), "%"}};
  }

 private:
  const ParsingTask* task_;
  Parsing parsing_;
};

}  // namespace

std::unique_ptr<Scoring> ParsingTask::scoring() const { return std::make_unique<TreebankScoring>(*this); }

}  // namespace normscope
