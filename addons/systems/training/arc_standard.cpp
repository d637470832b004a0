// See arc_standard.h.
#include "addons/systems/training/arc_standard.h"

#include "engine/core/error.h"

namespace normscope {

ParseState::ParseState(int32_t words)
    : words_(words),
      stack_{0},
      heads_(static_cast<size_t>(words) + 1, kNothing),
      labels_(heads_.size(), kNothing),
      left_(heads_.size()),
      right_(heads_.size()) {
  if (words < 1) fail("parse", "a sentence of {} words: expected at least one", words);
}

bool ParseState::can(Move move) const {
  switch (move) {
    case Move::Shift:
      return next_ <= words_;
    case Move::Left:
      return stack_.size() > 2;
    case Move::Right:
      return stack_.size() > 2 || (stack_.size() == 2 && next_ > words_);
  }
  return false;
}

void ParseState::apply(Move move, int32_t label) {
  if (!can(move))
    fail("parse", "move {} is not possible with {} on the stack and {} to read: expected another",
         static_cast<int>(move), stack_.size(), words_ - next_ + 1);
  if (move == Move::Shift) {
    stack_.push_back(next_++);
    return;
  }
  const int32_t top = stack_.back(), below = stack_[stack_.size() - 2];
  stack_.pop_back();
  if (move == Move::Right) return attach(top, below, label);
  stack_.back() = top;
  attach(below, top, label);
}

// Adds children of one side from the inside out: the newest is the outermost.
void ParseState::attach(int32_t child, int32_t head, int32_t label) {
  heads_[static_cast<size_t>(child)] = head;
  labels_[static_cast<size_t>(child)] = label;
  Outermost& side = (child < head ? left_ : right_)[static_cast<size_t>(head)];
  side.child[1] = side.child[0];
  side.child[0] = child;
}

int32_t ParseState::stack(size_t below_top) const {
  return below_top < stack_.size() ? stack_[stack_.size() - 1 - below_top] : kNothing;
}

int32_t ParseState::buffer(size_t ahead) const {
  const auto left = static_cast<size_t>(words_ - next_ + 1);
  return ahead < left ? next_ + static_cast<int32_t>(ahead) : kNothing;
}

int32_t ParseState::child(const std::vector<Outermost>& side, int32_t word, size_t inwards) {
  return word < 0 ? kNothing : side[static_cast<size_t>(word)].child[inwards];
}

std::optional<std::vector<Move>> static_oracle(std::span<const int32_t> heads) {
  ParseState state(static_cast<int32_t>(heads.size()));
  const auto head_of = [&](int32_t word) { return word > 0 ? heads[static_cast<size_t>(word) - 1] : -1; };
  std::vector<int32_t> missing(heads.size() + 1, 0);  // children that are still to be attached
  for (const int32_t head : heads) ++missing[static_cast<size_t>(head)];
  const auto complete = [&](int32_t word) { return missing[static_cast<size_t>(word)] == 0; };
  std::vector<Move> moves;
  while (!state.finished()) {
    const int32_t s1 = state.stack(0), s2 = state.stack(1);
    Move move = Move::Shift;
    if (s2 > 0 && head_of(s2) == s1 && complete(s2))
      move = Move::Left;
    else if (s2 >= 0 && head_of(s1) == s2 && complete(s1))
      move = Move::Right;
    if (!state.can(move)) return std::nullopt;
    if (move != Move::Shift) --missing[static_cast<size_t>(move == Move::Left ? s1 : s2)];
    state.apply(move);
    moves.push_back(move);
  }
  return moves;
}

}  // namespace normscope
