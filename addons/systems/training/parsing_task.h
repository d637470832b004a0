// Dependency parsing by transitions: a row is the 48 features of a state, its target the oracle's
// next transition.
//
// Training rows are drawn at random from all states of the oracle on the training trees; validation rows come in
// their order. Trees that are not projective have no such states: both splits leave them out and count them, and they
// are scored like the others when validation() is parsed (text/dependency_parser.h). A validation label that no
// training tree has is not a class: its rows count for nothing in the loss, and its words as wrong in the labelled score.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "addons/systems/training/arc_standard.h"
#include "training/data/task.h"

namespace normscope {

/// What a run learns from with data.name "treebank".
struct TreebankData {
  std::string path;         ///< CoNLL-U; empty: the made-up trees
  bool punctuation = true;  ///< whether it counts in attachment scores
  bool operator==(const TreebankData&) const = default;
};

class ParsingTask final : public Task {
 public:
  /// Validation: `valid`; without it, the last tenth of `train`. Throws Error where either has no projective tree.
  /// `punctuation`: whether it counts in scores.
  ParsingTask(std::vector<DependencyTree> train, std::vector<DependencyTree> valid, std::string name,
              bool punctuation = true);

  std::unique_ptr<Scoring> scoring() const override;
  std::string note() const override;
  int32_t vocabulary() const override { return vocabulary_.size(); }
  TaskForm form() const override { return TaskForm::Classify; }
  int32_t classes() const override { return vocabulary_.transitions(); }
  std::string class_name(int32_t transition) const override {
    return vocabulary_.transition_name(transition);
  }
  BatchShape shape(uint64_t seed, uint64_t step, Split split, int32_t B, int32_t T) const override;
  void fill(uint64_t seed, uint64_t step, Split split, int32_t B, int32_t T,
            const BatchView& to) const override;
  int32_t validation_batches(int32_t B, int32_t T) const override;
  void require_context(int32_t T) const override;
  /// Shows the words of stack and buffer: "… open the | door . -".
  std::string decode(std::span<const int32_t> tokens) const override;

  const ParseVocabulary& parse_vocabulary() const { return vocabulary_; }
  const std::vector<DependencyTree>& validation() const { return validation_; }
  bool punctuation() const { return punctuation_; }
  size_t transitions(Split split) const { return states_of(split).targets.size(); }
  size_t trees(Split split) const { return states_of(split).trees; }
  size_t left_out(Split split) const { return states_of(split).left_out; }  ///< trees that are not projective

 private:
  /// The oracle's states, a row each.
  struct States {
    std::vector<ParseFeatures> features;
    std::vector<int32_t> targets;  // -1: a label that is not a class
    size_t trees = 0, left_out = 0;
  };
  const States& states_of(Split split) const { return split == Split::Train ? train_ : valid_; }
  States states_in(std::span<const DependencyTree> trees) const;
  void add_states(const DependencyTree& tree, States& to) const;

  std::string name_;
  std::vector<DependencyTree> validation_;
  ParseVocabulary vocabulary_;
  bool punctuation_;
  States train_, valid_;
};

}  // namespace normscope
