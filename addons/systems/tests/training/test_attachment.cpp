// These tests hold attachment scores against an independent method: the evaluation of the CoNLL 2018 shared task,
// written anew from its definition (the script itself is not among the project's sources) and on the text of files.
#include <tuple>

#include "addons/systems/training/conllu.h"
#include "addons/systems/training/dependency_parser.h"
#include "catch.hpp"
#include "engine/core/philox.h"

namespace normscope::test::attachment_tests {
namespace {

/// A word of a CoNLL-U text: which characters of the text without blanks it covers.
struct EvaluatedWord {
  size_t begin = 0, end = 0;
  int head = 0;
  std::string relation, upos, xpos;
};

/// The words of all sentences, read column by column from the file's text and by nothing of the engine.
std::vector<std::vector<EvaluatedWord>> evaluated(const std::string& text) {
  std::vector<std::vector<EvaluatedWord>> sentences(1);
  size_t at = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() && !sentences.back().empty()) sentences.emplace_back();
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> columns(1);
    for (const char c : line)
      if (c == '\t')
        columns.emplace_back();
      else
        columns.back() += c;
    if (columns[0].find_first_of("-.") != std::string::npos)
      continue;  // a token of several words, an empty node
    const size_t begin = at;
    for (const char c : columns[1]) at += c != ' ';
    sentences.back().push_back({begin, at, std::stoi(columns[6]), columns[7].substr(0, columns[7].find(':')),
                                columns[3], columns[4]});
  }
  if (sentences.back().empty()) sentences.pop_back();
  return sentences;
}

/// UAS and LAS as the CoNLL 2018 shared task defines them: the F1 of words, aligned by the
/// characters that they cover, whose head is aligned with the head of the other one (or is the root in both) and, for
/// LAS, whose relation is the same up to its colon. `left_out` words of the gold file count on neither side.
template <class LeftOut>
std::pair<double, double> conll_scores(const std::string& gold, const std::string& system, LeftOut left_out) {
  std::map<std::pair<size_t, size_t>, std::tuple<size_t, size_t, std::string>> by_span;
  const auto head_of = [](const std::vector<EvaluatedWord>& sentence, const EvaluatedWord& word) {
    if (word.head == 0) return std::pair<size_t, size_t>{0, 0};  // no word covers nothing
    const EvaluatedWord& head = sentence.at(static_cast<size_t>(word.head) - 1);
    return std::pair{head.begin, head.end};
  };
  size_t golds = 0, systems = 0, heads = 0, labelled = 0;
  for (const auto& sentence : evaluated(gold))
    for (const EvaluatedWord& word : sentence) {
      if (left_out(word)) continue;
      const auto head = head_of(sentence, word);
      by_span[{word.begin, word.end}] = {head.first, head.second, word.relation};
      ++golds;
    }
  for (const auto& sentence : evaluated(system))
    for (const EvaluatedWord& word : sentence) {
      const auto other = by_span.find({word.begin, word.end});
      if (other == by_span.end()) continue;
      ++systems;
      const auto head = head_of(sentence, word);
      const auto& [begin, end, relation] = other->second;
      if (head != std::pair{begin, end}) continue;
      ++heads;
      labelled += relation == word.relation;
    }
  const auto f1 = [&](size_t right) {
    const double precision = static_cast<double>(right) / static_cast<double>(systems),
                 recall = static_cast<double>(right) / static_cast<double>(golds);
    return right == 0 ? 0 : 100 * 2 * precision * recall / (precision + recall);
  };
  return {f1(heads), f1(labelled)};
}

}  // namespace

TEST_CASE("attachment: equals the evaluation of the CoNLL 2018 shared task, written anew from its definition",
          "[treebank]") {
  auto chance = [n = uint64_t{0}](uint32_t among) mutable {
    return static_cast<int32_t>(random_word(++n, 3, 5, Purpose::Sample, 11) % among);
  };
  size_t differ = 0;
  for (int round = 0; round < 20; ++round) {
    std::vector<DependencyTree> gold = made_treebank(static_cast<uint64_t>(round) + 1, 0, 40), parsed;
    for (DependencyTree& tree : gold)
      for (TreeWord& word : tree.words) {
        if (chance(5) == 0) word.label += ":sub";
        if (round % 4 == 3) {  // the Penn Treebank's tags alone
          word.xpos = word.upos == "PUNCT" ? (chance(2) ? "." : "``") : "NN";
          word.upos = "_";
        }
      }
    parsed = gold;
    for (DependencyTree& tree : parsed)
      for (TreeWord& word : tree.words) {
        if (chance(4) == 0) word.head = chance(static_cast<uint32_t>(tree.words.size()) + 1);
        if (chance(6) == 0)
          word.label = chance(2) ? "dep" : word.label.substr(0, word.label.find(':')) + ":else";
        if (chance(3) == 0) word.upos = "X";  // the tags of the parse are not asked
      }
    // As a file may have them: tokens of several words and empty nodes are not words of the tree.
    const std::string gold_text = "# text\n1-2\tab\t_\t_\t_\t_\t_\t_\t_\t_\n" + conllu_text(gold),
                      parsed_text = conllu_text(parsed);
    const auto all = conll_scores(gold_text, parsed_text, [](const EvaluatedWord&) { return false; });
    const auto words = conll_scores(gold_text, parsed_text, [](const EvaluatedWord& w) {
      if (w.upos != "_") return w.upos == "PUNCT";
      return w.xpos == "``" || w.xpos == "''" || w.xpos == ":" || w.xpos == "," || w.xpos == ".";
    });
    const Attachment ours = attachment(gold, parsed), without = attachment(gold, parsed, false);
    CHECK(ours.unlabelled() == Approx(all.first).epsilon(1e-12));
    CHECK(ours.labelled() == Approx(all.second).epsilon(1e-12));
    CHECK(without.unlabelled() == Approx(words.first).epsilon(1e-12));
    CHECK(without.labelled() == Approx(words.second).epsilon(1e-12));
    CHECK(all.first > all.second);
    differ += all.first != words.first;
  }
  CHECK(differ == 20);
}

}  // namespace normscope::test::attachment_tests
