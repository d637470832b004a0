// Dependency parsing by transitions: the transition system, the features of a state, the parser, and its task.
//
// Follows the arc-standard transition system (Nivre 2004) as Chen and Manning (2014) use it;
// static_oracle is its static oracle.
//
// A state is a stack of words over the root, the words that are not read yet, and the arcs so far; s1 is the top of
// the stack, s2 the word below.
//   Shift: the next word goes onto the stack.
//   Left:  s2 becomes a child of s1 and leaves the stack.
//   Right: s1 becomes a child of s2 and leaves the stack.
// A sentence of n words takes 2n transitions. The root takes only the last child that is left to attach (a tree of
// CoNLL-U has one root), so that any choice of possible moves ends in a tree. Called by the parsing task, which
// learns from the oracle, and by the parser.
#pragma once

#include "addons/systems/training/conllu.h"
#include "engine/model/model_config.h"
#include "engine/tape/program.h"
#include "training/data/task.h"

namespace normscope {

enum class Move : uint8_t { Shift, Left, Right };

class ParseState {
 public:
  static constexpr int32_t kNothing = -1;

  explicit ParseState(int32_t words);

  bool finished() const { return next_ > words_ && stack_.size() == 1; }
  /// Whether the move is possible; every unfinished state has a possible move.
  bool can(Move move) const;
  /// Throws Error for an impossible move. `label` belongs to the new arc; Shift has none.
  void apply(Move move, int32_t label = kNothing);

  /// A word is its number from 1, the root is 0, and kNothing stands for a missing word.
  int32_t stack(size_t below_top) const;  ///< 0: s1
  int32_t buffer(size_t ahead) const;     ///< 0: the word that Shift would read
  /// The outermost child on that side (0), or the child inside it (1).
  int32_t left_child(int32_t word, size_t inwards) const { return child(left_, word, inwards); }
  int32_t right_child(int32_t word, size_t inwards) const { return child(right_, word, inwards); }
  int32_t head(int32_t word) const { return heads_[static_cast<size_t>(word)]; }
  int32_t label(int32_t word) const { return labels_[static_cast<size_t>(word)]; }

 private:
  struct Outermost {
    int32_t child[2] = {kNothing, kNothing};
  };
  static int32_t child(const std::vector<Outermost>& side, int32_t word, size_t inwards);
  void attach(int32_t child, int32_t head, int32_t label);

  int32_t words_, next_ = 1;
  std::vector<int32_t> stack_, heads_, labels_;  // heads and labels by word; the root has none
  std::vector<Outermost> left_, right_;
};

/// Lists the moves that build a tree, each at the first state where no arc of the tree is lost: Left as soon as s2 is
/// complete, Right as soon as s1 is, else Shift. Nothing where the tree is not projective, as no moves build it.
std::optional<std::vector<Move>> static_oracle(std::span<const int32_t> heads);

// The parser's input, from a state: the 48 features of Chen and Manning (2014, section 3.1) as
// rows of one table. Its answers, the transitions, are classes.
//
// The 18 words are s1, s2, s3, b1, b2, b3 (stack and buffer from the top); then, of s1 and of s2, the outermost left
// and right child, the children inside them, the outermost left child of the outermost left child and the same on the
// right. Then come the 18 tags of these words and the 12 labels of the children. Words, tags and labels have disjoint
// rows of one table, which is the same as three tables of one width. A word that occurs once in the training trees
// counts as unknown, so that the unknown word is trained. Called by the parsing task and by the parser.

inline constexpr int32_t kParseWords = 18, kParseLabels = 12;
inline constexpr int32_t kParseFeatures = 2 * kParseWords + kParseLabels;
using ParseFeatures = std::array<int32_t, kParseFeatures>;

/// A sentence in the rows of the table; place 0 is the root.
struct EncodedSentence {
  std::vector<int32_t> words, tags;
};

/// The tag of a word: UPOS, or XPOS where UPOS is _ (the Penn Treebank's).
const std::string& tag_of(const TreeWord& word);

class ParseVocabulary {
 public:
  static constexpr size_t kMaxLabels = 500;

  /// Throws Error where the trees have more than kMaxLabels labels, or none.
  ParseVocabulary(std::span<const DependencyTree> training, const std::string& name);

  int32_t size() const { return static_cast<int32_t>(names_.size()); }  ///< rows of the table
  const std::string& name(int32_t row) const { return names_[static_cast<size_t>(row)]; }
  EncodedSentence encode(const DependencyTree& tree) const;

  int32_t labels() const { return static_cast<int32_t>(labels_.size()); }
  const std::string& label(int32_t label) const { return labels_[static_cast<size_t>(label)].name; }
  int32_t find_label(const std::string& name) const;  ///< -1: not in the training trees

  /// Classes: 0 Shift, then Left and Right of each label in turn.
  int32_t transitions() const { return 1 + 2 * labels(); }
  static int32_t transition(Move move, int32_t label) {
    return move == Move::Shift ? 0 : 1 + 2 * label + (move == Move::Right);
  }
  static Move move_of(int32_t transition) {
    return transition == 0 ? Move::Shift : transition % 2 == 1 ? Move::Left : Move::Right;
  }
  static int32_t label_of(int32_t transition) { return transition == 0 ? -1 : (transition - 1) / 2; }
  std::string transition_name(int32_t transition) const;  ///< "shift", "left nsubj", "right obj"
  /// Whether the move is possible and its label was seen in training with such a head: the root, or a
  /// word. Every unfinished state has an allowed transition.
  bool allowed(const ParseState& state, int32_t transition) const;

  ParseFeatures features(const ParseState& state, const EncodedSentence& sentence) const;

 private:
  struct Label {
    std::string name;
    bool of_root = false, of_word = false;
  };
  int32_t add(std::string name);

  std::vector<std::string> names_;  // by row
  std::map<std::string, int32_t> words_, tags_;
  std::vector<Label> labels_;  // in alphabetical order
  int32_t no_word_, unknown_word_, root_word_, no_tag_, unknown_tag_, root_tag_, no_label_, first_label_;
};

// Parses sentences greedily with a trained model. In every state it takes the allowed transition
// with the largest logit, so that every sentence of n words has a tree after 2n transitions. It parses many sentences
// at a time, a row each, and no sentence affects another. It has its own program over the run's Store and changes no
// bit of it. Called by the scores of ParsingTask, by normscope parse and by tests.

/// The progress of parsing sentences. It outlives a parser, so that each portion of work may use a new one.
struct Parsing {
  struct Row {  ///< a sentence that is being parsed
    size_t place;
    EncodedSentence sentence;
    ParseState state;
  };
  std::vector<DependencyTree> trees;  ///< finished trees have the parser's heads and labels
  std::vector<Row> rows{};
  size_t next = 0, done = 0;  ///< the first sentence not begun; number of finished ones
  bool complete() const { return done == trees.size(); }
};

class DependencyParser {
 public:
  /// The vocabulary of the training trees must outlive the parser. Throws Error where the model is not a parser.
  DependencyParser(Store& store, const ModelConfig& model, const ParseVocabulary& vocabulary);

  /// Returns the sentences with the parser's heads and labels; it reads forms and tags only.
  /// `progress` gets the number of parsed sentences and says whether to go on; the others keep their heads.
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
  int64_t words = 0;           ///< words that are scored
  int64_t heads = 0;           ///< with the right head
  int64_t labelled_heads = 0;  ///< with the right head and relation
  double unlabelled() const;   ///< UAS, 0 to 100; NaN without a word
  double labelled() const;     ///< LAS
};

/// True where UPOS is PUNCT; without UPOS, where XPOS is one of the Penn Treebank's five: `` '' : , .
bool is_punctuation(const TreeWord& word);

/// Scores all sentences together. `gold` says what is punctuation. Throws Error where the two differ in
/// their sentences or words.
Attachment attachment(std::span<const DependencyTree> gold, std::span<const DependencyTree> parsed,
                      bool punctuation = true);

/// "UAS 91.20  LAS 88.05"
std::string to_string(const Attachment& attachment);

// Dependency parsing by transitions: a row is the 48 features of a state, its target the oracle's next transition.
//
// Training rows are drawn at random from all states of the oracle on the training trees; validation rows come in their
// order. Trees that are not projective have no such states: both splits leave them out and count them, and they are
// scored like the others when validation() is parsed. A validation label that no training tree has is not a class: its
// rows count for nothing in the loss, and its words as wrong in the labelled score.

/// The data of a run with data.name "treebank".
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
