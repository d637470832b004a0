// Parse features are what the parser reads of a state: the 48 features of Chen and Manning (2014, section 3.1) as
// rows of one table. Its answers, the transitions, are classes.
//
// The 18 words are s1, s2, s3, b1, b2, b3 (stack and buffer from the top); then, of s1 and of s2, the outermost left
// and right child, the children inside them, the outermost left child of the outermost left child and the same on the
// right. Then come the 18 tags of these words and the 12 labels of the children. Words, tags and labels have disjoint
// rows of one table, which is the same as three tables of one width. A word that occurs once in the training trees
// counts as unknown, so that the unknown word is trained. Called by the parsing task and by the parser.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "addons/systems/training/arc_standard.h"
#include "addons/systems/training/conllu.h"

namespace normscope {

inline constexpr int32_t kParseWords = 18, kParseLabels = 12;
inline constexpr int32_t kParseFeatures = 2 * kParseWords + kParseLabels;
using ParseFeatures = std::array<int32_t, kParseFeatures>;

/// A sentence in the rows of the table; place 0 is the root.
struct EncodedSentence {
  std::vector<int32_t> words, tags;
};

/// The tag that is read: UPOS, or XPOS where UPOS is _ (the Penn Treebank's).
const std::string& tag_of(const TreeWord& word);

class ParseVocabulary {
 public:
  static constexpr size_t kMostLabels = 500;

  /// Throws Error where the trees have more than kMostLabels labels, or none.
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

}  // namespace normscope
