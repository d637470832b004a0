// Parses sentences greedily with a trained model. In every state it takes the allowed transition
// with the largest logit, so that every sentence of n words has a tree after 2n transitions. It parses many sentences
// at a time, a row each, and no sentence affects another. It has its own program over the run's Store and changes no
// bit of it. Called by the scores of ParsingTask, by normscope parse and by tests.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "addons/systems/training/arc_standard.h"
#include "addons/systems/training/conllu.h"
#include "engine/model/model_config.h"
#include "engine/tape/program.h"
#include "training/data/task.h"

namespace normscope {

/// Sentences, and how far a parser has come with them. It outlives the parser: each portion may make one.
struct Parsing {
  struct Row {  ///< a sentence that is being parsed
    size_t place;
    EncodedSentence sentence;
    ParseState state;
  };
  std::vector<DependencyTree> trees;  ///< finished trees have the parser's heads and labels
  std::vector<Row> rows{};
  size_t next = 0, done = 0;  ///< the first sentence that is not begun; how many are finished
  bool complete() const { return done == trees.size(); }
};

class DependencyParser {
 public:
  /// The vocabulary of the training trees must outlive the parser. Throws Error where the model is not a parser.
  DependencyParser(Store& store, const ModelConfig& model, const ParseVocabulary& vocabulary);

  /// The sentences with the parser's heads and labels; it reads forms and tags, and no head.
  /// `progress` gets the number done and says whether to go on; sentences that are left keep their heads.
  std::vector<DependencyTree> parse(std::span<const DependencyTree> sentences,
                                    const std::function<bool(size_t)>& progress = {});
  /// Continues `parsing` as parse() does, by at least one transition of each sentence in its rows.
  void go_on(Parsing& parsing, const std::function<bool(size_t)>& progress);

 private:
  struct Logits {
    std::string name;
    Program program;
  };
  static Logits logits_of(Store& store, const ModelConfig& model);
  /// The allowed transition with the largest logit, and an allowed one even where logits are NaN.
  int32_t best(const ParseState& state, std::span<const float> logits) const;

  const ParseVocabulary* vocabulary_;
  Logits logits_;
};

// Attachment scores are the share of words with the right head (UAS), and with the right head and relation (LAS).
//
// They are counted as the CoNLL 2018 shared task's evaluation counts for CoNLL-U with given words: every word counts,
// punctuation too, and only the part of a relation before its colon (nmod of nmod:poss). Without punctuation it is
// the usual count on the Penn Treebank. Called by normscope train, by normscope parse and by tests.

struct Attachment {
  int64_t words = 0;           ///< words that count
  int64_t heads = 0;           ///< with the right head
  int64_t labelled_heads = 0;  ///< with the right head and relation
  double unlabelled() const;   ///< UAS, 0 to 100; NaN without a word
  double labelled() const;     ///< LAS
};

/// Holds where UPOS is PUNCT; without UPOS, where XPOS is one of the Penn Treebank's five: `` '' : , .
bool is_punctuation(const TreeWord& word);

/// Scores all sentences together. `gold` says what is punctuation. Throws Error where the two differ in
/// their sentences or words.
Attachment attachment(std::span<const DependencyTree> gold, std::span<const DependencyTree> parsed,
                      bool punctuation = true);

/// "UAS 91.20  LAS 88.05"
std::string to_string(const Attachment& attachment);

}  // namespace normscope
