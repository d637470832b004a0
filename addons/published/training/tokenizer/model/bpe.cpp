// Byte-pair encoding. See word_model.h.
#include <algorithm>
#include <queue>
#include <string>
#include <unordered_map>
#include <utility>

#include "addons/published/training/tokenizer/model/word_model.h"
#include "addons/published/training/tokenizer/unicode.h"
#include "engine/core/error.h"

namespace normscope::tokenizer {
namespace {

constexpr size_t kMostMerges = 4'000'000, kMostMergeText = 10'000;

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
  void encode(std::string_view word, std::vector<int32_t>& ids) const override;

 private:
  std::vector<int32_t> characters(std::string_view word) const;
  void merge(std::vector<int32_t>& ids) const;
  int32_t unknown() const;
  const Merge* merge_of(int32_t left, int32_t right) const {
    const auto found = merges_.find(pair_of(left, right));
    return found == merges_.end() ? nullptr : &found->second;
  }

  BpeOptions options_;
  std::optional<int32_t> unknown_;
  Merges merges_;
};

int32_t Bpe::unknown() const {
  if (!unknown_) fail("tokenizer", "unk_token {} is not in the vocabulary", shown_text(*options_.unknown));
  return *unknown_;
}

// A character that is not a token becomes its bytes, else the unknown token, of which several in a row may be one; without
// one it is left out. Waiting unknown tokens come behind bytes that follow them, as in the library that made the files.
std::vector<int32_t> Bpe::characters(std::string_view word) const {
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

// The pair of the lowest rank comes first, and of those the leftmost. An entry of the queue that no longer says what is
// there is passed over.
void Bpe::merge(std::vector<int32_t>& ids) const {
  struct Entry {
    int32_t rank;
    size_t at;
    int32_t made;
    bool operator<(const Entry& other) const { return std::pair(rank, at) > std::pair(other.rank, other.at); }
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

void Bpe::encode(std::string_view word, std::vector<int32_t>& ids) const {
  if (options_.ignore_merges)
    if (const auto id = tokens_.find(word)) {
      ids.push_back(*id);
      return;
    }
  std::vector<int32_t> made = characters(word);
  merge(made);
  ids.insert(ids.end(), made.begin(), made.end());
}

/// Takes "a b" and ["a", "b"]: the second can hold blanks.
std::pair<std::string, std::string> read_pair(const InputValue& value) {
  if (value.is_list()) {
    const auto pair = value.list(2, 2);
    return {pair[0].text(kMostMergeText), pair[1].text(kMostMergeText)};
  }
  const std::string text = value.text(kMostMergeText);
  const size_t blank = text.find(' ');
  if (blank == text.npos || text.find(' ', blank + 1) != text.npos)
    value.refuse("two tokens with a blank between");
  return {text.substr(0, blank), text.substr(blank + 1)};
}

Merges read_merges(const InputValue& value, const TokenTable& tokens) {
  Merges merges;
  int32_t rank = 0;
  for (const InputValue& row : value.list(0, kMostMerges)) {
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

}  // namespace

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
    options.unknown = unknown->text(kMostMergeText);
  options.fuse_unknown = flag("fuse_unk");
  options.bytes = flag("byte_fallback");
  options.ignore_merges = flag("ignore_merges");
  TokenTable tokens = TokenTable::read(value.at("vocab"));
  Merges merges = read_merges(value.at("merges"), tokens);
  return std::make_unique<Bpe>(std::move(tokens), std::move(options), std::move(merges));
}

}  // namespace normscope::tokenizer
