// See added_tokens.h.
#include "addons/published/training/tokenizer/added_tokens.h"

#include <algorithm>

#include "addons/published/training/tokenizer/unicode.h"

namespace normscope::tokenizer {
namespace {

constexpr size_t kMostAdded = 200'000;

/// Where the character that ends at `end` begins.
size_t last_character_at(std::string_view text, size_t end) {
  do --end;
  while (end > 0 && (static_cast<uint8_t>(text[end]) & 0xc0) == 0x80);
  return end;
}

/// Whether a character of a word stands there.
bool word_ends(std::string_view text, size_t end) {
  if (end == 0) return false;
  size_t at = last_character_at(text, end);
  return is_word_character(take_character(text, at));
}
bool word_begins(std::string_view text, size_t at) {
  return at < text.size() && is_word_character(take_character(text, at));
}

size_t white_begin(std::string_view text, size_t end) {
  while (end > 0) {
    const size_t begin = last_character_at(text, end);
    size_t at = begin;
    if (!is_white(take_character(text, at))) break;
    end = begin;
  }
  return end;
}

size_t white_end_behind(std::string_view text, size_t at) {
  while (at < text.size()) {
    size_t behind = at;
    if (!is_white(take_character(text, behind))) break;
    at = behind;
  }
  return at;
}

/// The value of the longest text of the tree that begins at `at`, and where it ends.
int32_t longest_at(const ByteTree& tree, std::string_view text, size_t at, size_t& end) {
  int32_t found = ByteTree::kNone;
  for (int32_t node = ByteTree::kRoot; at < text.size();) {
    node = tree.step(node, text[at++]);
    if (node == ByteTree::kNone) break;
    if (tree.value(node) == ByteTree::kNone) continue;
    found = tree.value(node);
    end = at;
  }
  return found;
}

AddedToken read_added(const InputValue& value) {
  const auto flag = [&](const char* key) {
    const auto found = value.find(key);
    return found && found->flag();
  };
  AddedToken token;
  token.text = value.at("content").text(kMostWord);
  token.id = value.at("id").whole(0, kMostTokens - 1);
  token.single_word = flag("single_word");
  token.takes_left = flag("lstrip");
  token.takes_right = flag("rstrip");
  token.special = flag("special");
  token.normalized = value.at("normalized").flag();
  return token;
}

}  // namespace

AddedTokens::AddedTokens(const InputValue& list, const TokenTable& tokens, const Normalizer& normalize) {
  if (list.is_null()) return;
  for (const InputValue& value : list.list(0, kMostAdded)) {
    AddedToken token = read_added(value);
    if (const auto id = tokens.find(token.text); id && *id != token.id)
      value.at("id").refuse(Message("{}, as the vocabulary has this token", *id));
    if (token.text.empty()) continue;
    token.sought = token.text;
    if (token.normalized) normalize(token.sought);
    const auto index = static_cast<int32_t>(all_.size());
    if (!token.sought.empty()) (token.normalized ? normalized_ : exact_).put(token.sought, index);
    by_id_[token.id] = all_.size();
    all_.push_back(std::move(token));
  }
}

const AddedToken* AddedTokens::find(int32_t id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &all_[found->second];
}

const AddedToken* AddedTokens::find(std::string_view text) const {
  const auto found = std::ranges::find(all_, text, &AddedToken::text);
  return found == all_.end() ? nullptr : &*found;
}

int32_t AddedTokens::end() const {
  int32_t end = 0;
  for (const AddedToken& token : all_) end = std::max(end, token.id + 1);
  return end;
}

void AddedTokens::cut(std::vector<Piece>& pieces, Piece piece, const ByteTree& tree) const {
  const std::string_view text = piece.text;
  size_t done = 0;
  const auto put_words = [&](size_t end) {
    if (end > done) pieces.push_back({std::string(text.substr(done, end - done)), piece.first && done == 0});
  };
  for (size_t at = 0, end = 0; at < text.size(); at = end) {
    const int32_t found = longest_at(tree, text, at, end);
    if (found == ByteTree::kNone) {
      end = at + 1;
      continue;
    }
    const AddedToken& token = all_[static_cast<size_t>(found)];
    if (token.single_word && (word_ends(text, at) || word_begins(text, end))) continue;
    put_words(token.takes_left ? std::max(white_begin(text, at), done) : at);
    pieces.push_back({{}, false, token.id});
    done = token.takes_right ? white_end_behind(text, end) : end;
  }
  put_words(text.size());
}

std::vector<Piece> AddedTokens::cut(const std::string& text, const Normalizer& normalize) const {
  std::vector<Piece> exact, pieces;
  cut(exact, {text, true}, exact_);
  for (Piece& piece : exact) {
    if (piece.token >= 0) {
      pieces.push_back(std::move(piece));
      continue;
    }
    normalize(piece.text);
    require_short(piece.text);
    cut(pieces, std::move(piece), normalized_);
  }
  return pieces;
}

}  // namespace normscope::tokenizer
