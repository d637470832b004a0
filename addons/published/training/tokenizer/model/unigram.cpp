// SentencePiece's Unigram model. See word_model.h.
#include <algorithm>
#include <optional>
#include <string>

#include "engine/core/error.h"
#include "addons/published/training/tokenizer/model/word_model.h"
#include "addons/published/training/tokenizer/unicode.h"

namespace normscope::tokenizer {
namespace {

constexpr double kUnknownPenalty = 10;  // below the least probable piece, in nats
constexpr size_t kMostPieceText = 10'000;

class Unigram final : public WordModel {
 public:
  Unigram(TokenTable tokens, std::vector<double> scores, std::optional<int32_t> unknown, bool bytes)
      : WordModel(std::move(tokens)), scores_(std::move(scores)), unknown_(unknown), bytes_(bytes) {
    for (int32_t id = 0; id < tokens_.end(); ++id) {
      const std::string& text = *tokens_.text_of(id);
      if (!text.empty()) tree_.put(text, id);
    }
    unknown_score_ = *std::ranges::min_element(scores_) - kUnknownPenalty;
  }
  void encode(std::string_view word, std::vector<int32_t>& ids) const override;

 private:
  static constexpr size_t kNowhere = SIZE_MAX;
  /// The best way to a place between two characters.
  struct Node {
    double score = 0;
    size_t begin = kNowhere;  // of its last piece
    int32_t id = 0;
  };
  std::vector<Node> best_paths(std::string_view word) const;
  void put(std::string_view piece, std::vector<int32_t>& ids) const;
  int32_t unknown() const {
    if (!unknown_) fail("tokenizer", "a character is no piece, and the model has no unk_id");
    return *unknown_;
  }

  std::vector<double> scores_;
  std::optional<int32_t> unknown_;
  bool bytes_;
  ByteTree tree_;
  double unknown_score_;
};

std::vector<Unigram::Node> Unigram::best_paths(std::string_view word) const {
  std::vector<Node> nodes(word.size() + 1);
  for (size_t at = 0, behind = 0; at < word.size(); at = behind) {
    take_character(word, behind);
    const double here = nodes[at].score;
    const auto offer = [&](size_t end, double score, int32_t id) {
      Node& node = nodes[end];
      if (node.begin == kNowhere || score > node.score) node = {score, at, id};
    };
    bool single = false;  // whether this character is a piece
    int32_t place = ByteTree::kRoot;
    for (size_t end = at; end < word.size();) {
      place = tree_.step(place, word[end++]);
      if (place == ByteTree::kNone) break;
      const int32_t id = tree_.value(place);
      if (id == ByteTree::kNone) continue;
      offer(end, here + scores_[static_cast<size_t>(id)], id);
      single = single || end == behind;
    }
    if (!single) offer(behind, here + unknown_score_, unknown());
  }
  return nodes;
}

void Unigram::put(std::string_view piece, std::vector<int32_t>& ids) const {
  if (const auto id = tokens_.find(piece))
    ids.push_back(*id);
  else if (!(bytes_ && byte_tokens(piece, ids)))
    ids.push_back(unknown());
}

// Unknown characters in a row are one piece.
void Unigram::encode(std::string_view word, std::vector<int32_t>& ids) const {
  const std::vector<Node> nodes = best_paths(word);
  std::vector<std::string_view> pieces;  // from the last to the first
  bool joins = false;
  for (size_t end = word.size(), begin; end > 0; end = begin) {
    begin = nodes[end].begin;
    const bool unknown = unknown_ && nodes[end].id == *unknown_;
    if (unknown && joins)
      pieces.back() = word.substr(begin, end - begin + pieces.back().size());
    else
      pieces.push_back(word.substr(begin, end - begin));
    joins = unknown;
  }
  for (size_t i = pieces.size(); i-- > 0;) put(pieces[i], ids);
}

}  // namespace

std::unique_ptr<const WordModel> read_unigram(const InputValue& value) {
  TokenTable tokens;
  std::vector<double> scores;
  for (const InputValue& row : value.at("vocab").list(1, static_cast<size_t>(kMostTokens))) {
    const auto pair = row.list(2, 2);
    tokens.put(pair[0].text(kMostPieceText), tokens.end());
    scores.push_back(pair[1].number(-1e9, 1e9));
  }
  std::optional<int32_t> unknown;
  if (const auto id = value.find("unk_id"); id && !id->is_null()) unknown = id->whole(0, tokens.end() - 1);
  const auto bytes = value.find("byte_fallback");
  return std::make_unique<Unigram>(std::move(tokens), std::move(scores), unknown, bytes && bytes->flag());
}

}  // namespace normscope::tokenizer
