#include "addons/published/training/tokenizer/word_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <queue>
#include <utility>

#include "addons/published/training/tokenizer/component.h"
#include "addons/published/training/tokenizer/unicode.h"
#include "engine/core/error.h"

namespace normscope::tokenizer {

bool WordModel::byte_tokens(std::string_view bytes, std::vector<int32_t>& ids) const {
  const size_t before = ids.size();
  for (char byte : bytes) {
    const auto id = tokens_.find(fmt::format("<0x{:02X}>", static_cast<uint8_t>(byte)));
    if (!id) {
      ids.resize(before);
      return false;
    }
    ids.push_back(*id);
  }
  return true;
}

TokenTable TokenTable::read(const InputValue& object) {
  TokenTable table;
  for (const auto& [text, number] : object.members(static_cast<size_t>(kMaxTokens))) {
    const auto id = number.whole(0, kMaxTokens - 1);
    if (const std::string* other = table.text_of(id))
      number.refuse(Message("another number, as {} has this one", shown_text(*other)));
    table.put(text, id);
  }
  return table;
}

void TokenTable::put(const std::string& text, int32_t id) {
  ids_[text] = id;
  if (id >= end()) texts_.resize(static_cast<size_t>(id) + 1);
  texts_[static_cast<size_t>(id)] = text;
}

std::optional<int32_t> TokenTable::find(std::string_view text) const {
  const auto found = ids_.find(text);
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

const std::string* TokenTable::text_of(int32_t id) const {
  if (id < 0 || id >= end() || !texts_[static_cast<size_t>(id)]) return nullptr;
  return &*texts_[static_cast<size_t>(id)];
}

namespace {
uint64_t step_key(int32_t node, char byte) {
  return static_cast<uint64_t>(node) << 8 | static_cast<uint8_t>(byte);
}

// Byte-pair encoding.

constexpr size_t kMaxMerges = 4'000'000, kMaxMergeText = 10'000;

struct Merge {
  int32_t rank, made;
};

uint64_t pair_of(int32_t left, int32_t right) {
  return static_cast<uint64_t>(left) << 32 | static_cast<uint32_t>(right);
}

struct BpeOptions {
  std::optional<std::string> unknown;  ///< the text of the token
  bool fuse_unknown = false, bytes = false, ignore_merges = false;
};

using Merges = std::unordered_map<uint64_t, Merge>;

class Bpe final : public WordModel {
 public:
  Bpe(TokenTable tokens, BpeOptions options, Merges merges)
      : WordModel(std::move(tokens)), options_(std::move(options)), merges_(std::move(merges)) {
    if (options_.unknown) unknown_ = tokens_.find(*options_.unknown);
  }

  void encode(std::string_view word, std::vector<int32_t>& ids) const override {
    if (options_.ignore_merges)
      if (const auto id = tokens_.find(word)) {
        ids.push_back(*id);
        return;
      }
    std::vector<int32_t> made = characters(word);
    merge(made);
    ids.insert(ids.end(), made.begin(), made.end());
  }

 private:
  // A character that is not a token becomes its bytes, else the unknown token (consecutive ones may be joined);
  // without an unknown token it is left out. An unknown token comes after byte tokens that follow it, as in the
  // library that made the files.
  std::vector<int32_t> characters(std::string_view word) const {
    std::vector<int32_t> ids;
    bool waits = false;
    const auto flush = [&] {
      if (waits) ids.push_back(unknown());
      waits = false;
    };
    for (size_t at = 0; at < word.size();) {
      const size_t begin = at;
      take_character(word, at);
      const std::string_view character = word.substr(begin, at - begin);
      if (const auto id = tokens_.find(character)) {
        flush();
        ids.push_back(*id);
      } else if (!(options_.bytes && byte_tokens(character, ids)) && options_.unknown) {
        if (!options_.fuse_unknown) flush();
        waits = true;
      }
    }
    flush();
    return ids;
  }

  // The pair of the lowest rank is merged first, of equal ones the leftmost. Outdated entries of the queue are
  // skipped.
  void merge(std::vector<int32_t>& ids) const {
    struct Entry {
      int32_t rank;
      size_t at;
      int32_t made;
      bool operator<(const Entry& other) const {
        return std::pair(rank, at) > std::pair(other.rank, other.at);
      }
    };
    constexpr int32_t kGone = -1;
    const size_t end = ids.size();
    std::vector<size_t> next(end), last(end);
    std::priority_queue<Entry> queue;
    const auto offer = [&](size_t left, size_t right) {
      if (const Merge* found = merge_of(ids[left], ids[right])) queue.push({found->rank, left, found->made});
    };
    for (size_t i = 0; i < end; ++i) {
      next[i] = i + 1;
      last[i] = i - 1;  // of the first one: beyond every index
      if (i > 0) offer(i - 1, i);
    }
    while (!queue.empty()) {
      const Entry top = queue.top();
      queue.pop();
      const size_t left = top.at;
      if (ids[left] == kGone || next[left] == end) continue;
      const size_t right = next[left];
      const Merge* found = merge_of(ids[left], ids[right]);
      if (!found || found->made != top.made) continue;
      ids[left] = top.made;
      ids[right] = kGone;
      next[left] = next[right];
      if (next[left] < end) last[next[left]] = left;
      if (last[left] < end) offer(last[left], left);
      if (next[left] < end) offer(left, next[left]);
    }
    std::erase(ids, kGone);
  }

  int32_t unknown() const {
    if (!unknown_) fail("tokenizer", "unk_token {} is not in the vocabulary", shown_text(*options_.unknown));
    return *unknown_;
  }

  const Merge* merge_of(int32_t left, int32_t right) const {
    const auto found = merges_.find(pair_of(left, right));
    return found == merges_.end() ? nullptr : &found->second;
  }

  BpeOptions options_;
  std::optional<int32_t> unknown_;
  Merges merges_;
};

/// Takes "a b" and ["a", "b"]: the second can hold blanks.
std::pair<std::string, std::string> read_pair(const InputValue& value) {
  if (value.is_list()) {
    const auto pair = value.list(2, 2);
    return {pair[0].text(kMaxMergeText), pair[1].text(kMaxMergeText)};
  }
  const std::string text = value.text(kMaxMergeText);
  const size_t blank = text.find(' ');
  if (blank == text.npos || text.find(' ', blank + 1) != text.npos)
    value.refuse("two tokens with a blank between");
  return {text.substr(0, blank), text.substr(blank + 1)};
}

Merges read_merges(const InputValue& value, const TokenTable& tokens) {
  Merges merges;
  int32_t rank = 0;
  for (const InputValue& row : value.list(0, kMaxMerges)) {
    const auto [left, right] = read_pair(row);
    const auto number = [&](const std::string& text) {
      const auto id = tokens.find(text);
      if (!id) row.refuse({"tokens of the vocabulary, which has no {}", shown_text(text)});
      return *id;
    };
    merges[pair_of(number(left), number(right))] = {rank++, number(left + right)};
  }
  return merges;
}

std::unique_ptr<const WordModel> read_bpe(const InputValue& value) {
  const auto flag = [&](const char* key) {
    const auto found = value.find(key);
    return found && !found->is_null() && found->flag();
  };
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"})
    if (const auto found = value.find(key); found && !found->is_null() && !found->is(""))
      found->refuse("null or \"\": others are not known");
  if (const auto dropout = value.find("dropout");
      dropout && !dropout->is_null() && dropout->number(0, 1) != 0)
    dropout->refuse("null or 0: nothing is left out at random here");
  BpeOptions options;
  if (const auto unknown = value.find("unk_token"); unknown && !unknown->is_null())
    options.unknown = unknown->text(kMaxMergeText);
  options.fuse_unknown = flag("fuse_unk");
  options.bytes = flag("byte_fallback");
  options.ignore_merges = flag("ignore_merges");
  TokenTable tokens = TokenTable::read(value.at("vocab"));
  Merges merges = read_merges(value.at("merges"), tokens);
  return std::make_unique<Bpe>(std::move(tokens), std::move(options), std::move(merges));
}

// SentencePiece's Unigram model.

constexpr double kUnknownPenalty = 10;  // below the least probable piece, in nats
constexpr size_t kMaxPieceText = 10'000;

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

  // Consecutive unknown characters are one piece.
  void encode(std::string_view word, std::vector<int32_t>& ids) const override {
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

 private:
  static constexpr size_t kNowhere = SIZE_MAX;
  /// The best path to a position between two characters.
  struct Node {
    double score = 0;
    size_t begin = kNowhere;  // of its last piece
    int32_t id = 0;
  };

  std::vector<Unigram::Node> best_paths(std::string_view word) const {
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

  void put(std::string_view piece, std::vector<int32_t>& ids) const {
    if (const auto id = tokens_.find(piece))
      ids.push_back(*id);
    else if (!(bytes_ && byte_tokens(piece, ids)))
      ids.push_back(unknown());
  }

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

std::unique_ptr<const WordModel> read_unigram(const InputValue& value) {
  TokenTable tokens;
  std::vector<double> scores;
  for (const InputValue& row : value.at("vocab").list(1, static_cast<size_t>(kMaxTokens))) {
    const auto pair = row.list(2, 2);
    tokens.put(pair[0].text(kMaxPieceText), tokens.end());
    scores.push_back(pair[1].number(-1e9, 1e9));
  }
  std::optional<int32_t> unknown;
  if (const auto id = value.find("unk_id"); id && !id->is_null()) unknown = id->whole(0, tokens.end() - 1);
  const auto bytes = value.find("byte_fallback");
  return std::make_unique<Unigram>(std::move(tokens), std::move(scores), unknown, bytes && bytes->flag());
}

// BERT's WordPiece.

class WordPiece final : public WordModel {
 public:
  WordPiece(TokenTable tokens, int32_t unknown, std::string inside, size_t most)
      : WordModel(std::move(tokens)), unknown_(unknown), inside_(std::move(inside)), most_(most) {}
  void encode(std::string_view word, std::vector<int32_t>& ids) const override;

 private:
  int32_t unknown_;
  std::string inside_;  // what pieces that begin no word begin with
  size_t most_;         // characters of a word
};

// A word is unknown as a whole if one part of it is not a piece.
void WordPiece::encode(std::string_view word, std::vector<int32_t>& ids) const {
  std::vector<size_t> ends;  // of its characters
  for (size_t at = 0; at < word.size() && ends.size() <= most_;) {
    take_character(word, at);
    ends.push_back(at);
  }
  const size_t before = ids.size();
  bool known = ends.size() <= most_;
  for (size_t begin = 0, first = 0; known && begin < word.size();) {
    known = false;
    for (size_t i = ends.size(); i-- > first && !known;) {
      std::string piece = begin > 0 ? inside_ : std::string();
      const auto id = tokens_.find(piece.append(word, begin, ends[i] - begin));
      if (!id) continue;
      ids.push_back(*id);
      begin = ends[i];
      first = i + 1;
      known = true;
    }
  }
  if (known) return;
  ids.resize(before);
  ids.push_back(unknown_);
}

std::unique_ptr<const WordModel> read_word_piece(const InputValue& value) {
  TokenTable tokens = TokenTable::read(value.at("vocab"));
  const InputValue unknown = value.at("unk_token");
  const auto id = tokens.find(unknown.text(kMaxWord));
  if (!id) unknown.refuse("a token of the vocabulary");
  std::string inside = value.at("continuing_subword_prefix").text(kMaxWord);
  const auto most = static_cast<size_t>(value.at("max_input_chars_per_word").whole(1, 1000));
  return std::make_unique<WordPiece>(std::move(tokens), *id, std::move(inside), most);
}

}  // namespace

void ByteTree::put(std::string_view text, int32_t value) {
  int32_t node = kRoot;
  for (char byte : text) {
    const auto [found, made] = steps_.try_emplace(step_key(node, byte), static_cast<int32_t>(values_.size()));
    if (made) values_.push_back(kNone);
    node = found->second;
  }
  values_[static_cast<size_t>(node)] = value;
}

int32_t ByteTree::step(int32_t node, char byte) const {
  const auto found = steps_.find(step_key(node, byte));
  return found == steps_.end() ? kNone : found->second;
}

std::unique_ptr<const WordModel> read_model(const InputValue& value) {
  using Model = std::unique_ptr<const WordModel>;
  constexpr ComponentReader<Model> kModels[] = {
      {"BPE", read_bpe}, {"Unigram", read_unigram}, {"WordPiece", read_word_piece}};
  if (value.find("type")) return read_component(value, kModels);
  // Older files have no type: a key that only one model has decides.
  if (value.find("merges")) return read_bpe(value);
  return value.at("vocab").is_list() ? read_unigram(value) : read_word_piece(value);
}

}  // namespace normscope::tokenizer
