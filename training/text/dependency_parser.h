// Parses sentences greedily with a trained parser: in every state the transition with the largest logit among those that
// are allowed, so that every sentence of n words gets a tree after 2n of them. Many sentences at a time, a row each; what
// one becomes does not depend on the others. It has its own program over the run's Store and changes no bit of it.
// Called by normscope train, reproduce and the Lab for their validation, by normscope parse and by tests.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/model/model_config.h"
#include "engine/tape/program.h"
#include "training/data/task.h"
#include "training/data/treebank/attachment.h"
#include "training/data/treebank/parse_features.h"

namespace normscope {

/// Sentences, and how far a parser has come with them: the parser may be made anew between two portions.
struct Parsing {
  struct Row {  ///< a sentence that is being parsed
    size_t place;
    EncodedSentence sentence;
    ParseState state;
  };
  std::vector<DependencyTree> trees;  ///< those that are done have heads and labels of the parser's
  std::vector<Row> rows{};
  size_t next = 0, done = 0;
  bool complete() const { return done == trees.size(); }
};

class DependencyParser {
 public:
  /// `vocabulary` is that of the training trees and outlives the parser. Throws Error where the model is none.
  DependencyParser(Store& store, const ModelConfig& model, const ParseVocabulary& vocabulary);

  /// The same sentences with heads and labels of the parser's; forms and tags are read, and no head. `progress` is told
  /// how many are done and says whether to go on: what is left then keeps what it had.
  std::vector<DependencyTree> parse(std::span<const DependencyTree> sentences,
                                    const std::function<bool(size_t)>& progress = {});
  /// The same, from where `parsing` is: one transition of many sentences at least.
  void go_on(Parsing& parsing, const std::function<bool(size_t)>& progress);

 private:
  struct Logits {
    std::string name;
    Program program;
  };
  static Logits logits_of(Store& store, const ModelConfig& model);
  /// The allowed transition with the largest logit; the first allowed one where none is a number.
  int32_t best(const ParseState& state, std::span<const float> logits) const;

  const ParseVocabulary* vocabulary_;
  Logits logits_;
};

/// The score of the task's validation trees as the model parses them; none where they are no trees.
std::optional<Attachment> attachment_of(Store& store, const ModelConfig& model, const Task& task);
/// In portions: begins where `parsing` has no sentence yet, goes on where it stopped, and there is no score until it is
/// complete. The weights must be the same each time. `progress` as in DependencyParser::parse().
std::optional<Attachment> attachment_of(Store& store, const ModelConfig& model, const Task& task,
                                        Parsing& parsing, const std::function<bool(size_t)>& progress);

}  // namespace normscope
