#include "addons/systems/training/dependency_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>

#include "addons/systems/engine/parser.h"
#include "addons/systems/training/parsing_task.h"
#include "engine/core/error.h"
#include "engine/tape/seal.h"

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

namespace {

double percent(int64_t part, int64_t whole) {
  if (whole == 0) return std::numeric_limits<double>::quiet_NaN();
  return 100 * static_cast<double>(part) / static_cast<double>(whole);
}

/// "nmod" for "nmod:poss".
std::string_view universal(std::string_view label) { return label.substr(0, label.find(':')); }

void require_same_words(const DependencyTree& gold, const DependencyTree& parsed, size_t number) {
  if (gold.words.size() != parsed.words.size())
    fail("attachment", "sentence {} has {} words and its parse {}: expected the same words", number,
         gold.words.size(), parsed.words.size());
  for (size_t w = 0; w < gold.words.size(); ++w)
    if (gold.words[w].form != parsed.words[w].form)
      fail("attachment", "word {} of sentence {} is '{}' and in its parse '{}': expected the same words",
           w + 1, number, gold.words[w].form, parsed.words[w].form);
}

}  // namespace

double Attachment::unlabelled() const { return percent(heads, words); }
double Attachment::labelled() const { return percent(labelled_heads, words); }

bool is_punctuation(const TreeWord& word) {
  constexpr std::string_view kPenn[] = {"``", "''", ":", ",", "."};
  if (word.upos != "_") return word.upos == "PUNCT";
  return std::find(std::begin(kPenn), std::end(kPenn), word.xpos) != std::end(kPenn);
}

Attachment attachment(std::span<const DependencyTree> gold, std::span<const DependencyTree> parsed,
                      bool punctuation) {
  if (gold.size() != parsed.size())
    fail("attachment", "{} sentences and {} parses: expected as many", gold.size(), parsed.size());
  Attachment sum;
  for (size_t i = 0; i < gold.size(); ++i) {
    require_same_words(gold[i], parsed[i], i + 1);
    for (size_t w = 0; w < gold[i].words.size(); ++w) {
      const TreeWord &right = gold[i].words[w], &given = parsed[i].words[w];
      if (!punctuation && is_punctuation(right)) continue;
      ++sum.words;
      if (right.head != given.head) continue;
      ++sum.heads;
      sum.labelled_heads += universal(right.label) == universal(given.label);
    }
  }
  return sum;
}

std::string to_string(const Attachment& attachment) {
  return fmt::format("UAS {:.2f}  LAS {:.2f}", attachment.unlabelled(), attachment.labelled());
}

}  // namespace normscope
