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

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

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

/// Lists the moves that build a tree, each at the first state where it loses nothing: Left as soon as
/// s2 is complete, Right as soon as s1 is, else Shift. Nothing where the tree is not projective, as no moves build it.
std::optional<std::vector<Move>> static_oracle(std::span<const int32_t> heads);

}  // namespace normscope
