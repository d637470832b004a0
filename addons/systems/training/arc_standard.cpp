#include "addons/systems/training/arc_standard.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

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

namespace {

constexpr size_t kNear = 3;          // of stack and buffer
constexpr int32_t kOftenEnough = 2;  // occurrences that make a word known

/// The words that the features are about, in their order.
std::array<int32_t, kParseWords> words_read(const ParseState& state) {
  std::array<int32_t, kParseWords> words{};
  size_t at = 0;
  for (size_t i = 0; i < kNear; ++i) words[at++] = state.stack(i);
  for (size_t i = 0; i < kNear; ++i) words[at++] = state.buffer(i);
  for (size_t i = 0; i < 2; ++i) {
    const int32_t word = state.stack(i), left = state.left_child(word, 0), right = state.right_child(word, 0);
    words[at++] = left;
    words[at++] = right;
    words[at++] = state.left_child(word, 1);
    words[at++] = state.right_child(word, 1);
    words[at++] = state.left_child(left, 0);
    words[at++] = state.right_child(right, 0);
  }
  return words;
}

}  // namespace

const std::string& tag_of(const TreeWord& word) { return word.upos == "_" ? word.xpos : word.upos; }

int32_t ParseVocabulary::add(std::string name) {
  names_.push_back(std::move(name));
  return size() - 1;
}

ParseVocabulary::ParseVocabulary(std::span<const DependencyTree> training, const std::string& name) {
  std::map<std::string, int32_t> counts;
  std::map<std::string, Label> labels;
  for (const DependencyTree& tree : training)
    for (const TreeWord& word : tree.words) {
      ++counts[word.form];
      tags_.emplace(tag_of(word), 0);
      Label& label = labels[word.label];
      (word.head == 0 ? label.of_root : label.of_word) = true;
    }
  no_word_ = add("-");
  unknown_word_ = add("?");
  root_word_ = add("ROOT");
  for (const auto& [form, count] : counts)
    if (count >= kOftenEnough) words_.emplace(form, add(form));
  no_tag_ = add("-");
  unknown_tag_ = add("?");
  root_tag_ = add("ROOT");
  for (auto& [tag, row] : tags_) row = add(tag);
  no_label_ = add("-");
  first_label_ = size();
  for (auto& [text, label] : labels) {
    label.name = text;
    add(text);
    labels_.push_back(label);
  }
  if (labels_.empty() || labels_.size() > kMostLabels)
    fail({"data {}", name}, "{} different labels in the training trees: expected 1 to {}", labels_.size(),
         kMostLabels);
  // Sentences of one word teach no label of a word; longer ones must be parsed all the same.
  if (std::ranges::none_of(labels_, &Label::of_word))
    for (Label& label : labels_) label.of_word = true;
}

EncodedSentence ParseVocabulary::encode(const DependencyTree& tree) const {
  EncodedSentence out{{root_word_}, {root_tag_}};
  for (const TreeWord& word : tree.words) {
    const auto form = words_.find(word.form);
    const auto tag = tags_.find(tag_of(word));
    out.words.push_back(form == words_.end() ? unknown_word_ : form->second);
    out.tags.push_back(tag == tags_.end() ? unknown_tag_ : tag->second);
  }
  return out;
}

int32_t ParseVocabulary::find_label(const std::string& name) const {
  const auto at = std::ranges::lower_bound(labels_, name, {}, &Label::name);
  return at != labels_.end() && at->name == name ? static_cast<int32_t>(at - labels_.begin()) : -1;
}

std::string ParseVocabulary::transition_name(int32_t transition) const {
  if (transition < 0 || transition >= transitions()) return "?";
  if (transition == 0) return "shift";
  return fmt::format("{} {}", move_of(transition) == Move::Left ? "left" : "right",
                     label(label_of(transition)));
}

bool ParseVocabulary::allowed(const ParseState& state, int32_t transition) const {
  const Move move = move_of(transition);
  if (!state.can(move) || move == Move::Shift) return state.can(move);
  const Label& label = labels_[static_cast<size_t>(label_of(transition))];
  return move == Move::Right && state.stack(1) == 0 ? label.of_root : label.of_word;
}

ParseFeatures ParseVocabulary::features(const ParseState& state, const EncodedSentence& sentence) const {
  const std::array<int32_t, kParseWords> words = words_read(state);
  ParseFeatures out{};
  for (size_t i = 0; i < words.size(); ++i) {
    const bool there = words[i] >= 0;
    const size_t place = there ? static_cast<size_t>(words[i]) : 0;
    out[i] = there ? sentence.words[place] : no_word_;
    out[kParseWords + i] = there ? sentence.tags[place] : no_tag_;
    if (i < 2 * kNear) continue;  // words of stack and buffer have no label yet
    const int32_t label = there ? state.label(words[i]) : -1;
    out[2 * kParseWords + i - 2 * kNear] = label < 0 ? no_label_ : first_label_ + label;
  }
  return out;
}

}  // namespace normscope
