#include "addons/published/training/tokenizer/published_tokenizer.h"

#include <algorithm>
#include <filesystem>
#include <unordered_map>

#include "addons/published/training/gguf.h"
#include "addons/published/training/input_kinds.h"
#include "addons/published/training/model_folder.h"
#include "addons/published/training/tokenizer/component.h"
#include "addons/published/training/tokenizer/unicode.h"
#include "addons/published/training/tokenizer/word_model.h"
#include "engine/core/error.h"
#include "engine/io/input_file.h"
#include "training/io/input_value.h"

namespace normscope::tokenizer {

/// Tokens that are found in a text before anything else is done to it: "added_tokens" of tokenizer.json.
struct AddedToken {
  std::string text;
  std::string sought;  ///< the text to find and to decode to: normalised if the token is
  int32_t id = 0;
  bool single_word = false;  ///< only between characters that belong to no word
  bool takes_left = false;   ///< with the white characters before it
  bool takes_right = false;  ///< and with those after it
  bool normalized = false;   ///< is searched in the normalised text
  bool special = false;      ///< may be left out of a decoded text
};

namespace {

/// The beginning of the character that ends at `end`.
size_t last_character_at(std::string_view text, size_t end) {
  do --end;
  while (end > 0 && (static_cast<uint8_t>(text[end]) & 0xc0) == 0x80);
  return end;
}

/// Whether the character before `end`, or at `at`, belongs to a word.
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

/// The value and the end of the longest text of the tree that begins at `at`.
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
  token.text = value.at("content").text(kMaxWord);
  token.id = value.at("id").whole(0, kMaxTokens - 1);
  token.single_word = flag("single_word");
  token.takes_left = flag("lstrip");
  token.takes_right = flag("rstrip");
  token.special = flag("special");
  token.normalized = value.at("normalized").flag();
  return token;
}

}  // namespace

class AddedTokens {
 public:
  AddedTokens() = default;
  /// Throws Error for a token that the model's vocabulary has under another number.
  AddedTokens(const InputValue& list, const TokenTable& tokens, const Normalizer& normalize);

  /// Cuts a text into pieces: added tokens, and the texts between them.
  std::vector<Piece> cut(const std::string& text, const Normalizer& normalize) const {
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

  const AddedToken* find(int32_t id) const;  ///< null where none has this number
  const AddedToken* find(std::string_view text) const;

  /// One more than the largest number.
  int32_t end() const {
    int32_t end = 0;
    for (const AddedToken& token : all_) end = std::max(end, token.id + 1);
    return end;
  }

 private:
  void cut(std::vector<Piece>& pieces, Piece piece, const ByteTree& tree) const {
    const std::string_view text = piece.text;
    size_t done = 0;
    const auto put_words = [&](size_t end) {
      if (end > done)
        pieces.push_back({std::string(text.substr(done, end - done)), piece.first && done == 0});
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

  std::vector<AddedToken> all_;
  std::unordered_map<int32_t, size_t> by_id_;
  ByteTree exact_, normalized_;
};

AddedTokens::AddedTokens(const InputValue& list, const TokenTable& tokens, const Normalizer& normalize) {
  if (list.is_null()) return;
  for (const InputValue& value : list.list(0, kMaxAdded)) {
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

struct PublishedTokenizer::Parts {
  Normalizer normalize;
  PreTokenizer cut;
  std::unique_ptr<const WordModel> model;
  Decoder decode;
  Surroundings around;
  AddedTokens added;

  const std::string* text_of(int32_t id) const {
    const AddedToken* token = added.find(id);
    return token ? &token->sought : model->tokens().text_of(id);
  }
};

bool has_tokenizer(const std::string& place) {
  if (published::is_gguf_file(place)) return published::GgufFile::map(place).has_tokens();
  const std::string folder = published::folder_around(place);
  for (const char* name : {"tokenizer.json", "vocab.json", "vocab.txt"}) {
    std::error_code none;
    if (std::filesystem::exists(std::filesystem::path(folder) / name, none)) return true;
  }
  return false;
}

PublishedTokenizer PublishedTokenizer::parse(std::string_view json, const std::string& name) {
  const Message where("tokenizer {}", name);
  if (const std::string why = unicode_unavailable(); !why.empty()) fail(where, "{}", why);
  const InputValue root = InputValue::parse(json, where);
  const auto made = [&](const char* key, auto read, auto none) {
    const auto value = root.find(key);
    return value ? read(*value) : none;
  };
  auto parts = std::make_shared<Parts>();
  parts->normalize = made("normalizer", read_normalizer, Normalizer([](std::string&) {}));
  parts->cut = made("pre_tokenizer", read_pre_tokenizer, PreTokenizer([](std::vector<Piece>&) {}));
  parts->model = read_model(root.at("model"));
  parts->decode = read_decoder(root.at("decoder"));
  parts->around = made("post_processor", read_surroundings, Surroundings{});
  parts->added = AddedTokens(root.at("added_tokens"), parts->model->tokens(), parts->normalize);
  return PublishedTokenizer(std::move(parts));
}

PublishedTokenizer PublishedTokenizer::load(const std::string& place) {
  namespace fs = std::filesystem;
  std::error_code error;
  const std::string path = published::folder_around(place);
  if (published::is_gguf_file(path)) return parse(published::GgufFile::map(path).tokenizer(), path);
  if (!fs::is_directory(path, error)) return parse(read_input_file(path, input::kTokenizerJson), path);
  const std::string file = (fs::path(path) / "tokenizer.json").string();
  if (const auto json = read_input_file_if_there(file, input::kTokenizerJson)) return parse(*json, file);
  return parse(from_older_files(path), path);
}

std::vector<int32_t> PublishedTokenizer::encode(std::string_view text, Special around) const {
  std::vector<Piece> pieces = parts_->added.cut(well_formed(text), parts_->normalize);
  parts_->cut(pieces);
  std::vector<int32_t> ids;
  const bool puts = around == Special::Kept;
  if (puts) ids = parts_->around.before;
  // Words repeat: each is encoded once.
  std::unordered_map<std::string_view, std::vector<int32_t>> known;
  for (const Piece& piece : pieces) {
    if (piece.token >= 0) {
      ids.push_back(piece.token);
      continue;
    }
    if (piece.text.empty()) continue;
    const auto [found, fresh] = known.try_emplace(piece.text);
    if (fresh) parts_->model->encode(piece.text, found->second);
    ids.insert(ids.end(), found->second.begin(), found->second.end());
  }
  if (puts) ids.insert(ids.end(), parts_->around.behind.begin(), parts_->around.behind.end());
  return ids;
}

std::string PublishedTokenizer::decode(std::span<const int32_t> ids, Special special) const {
  std::vector<std::string> tokens;
  for (int32_t id : ids) {
    const std::string* text = parts_->text_of(id);
    const AddedToken* added = parts_->added.find(id);
    const bool leaves = special == Special::LeftOut && added && added->special;
    if (text && !leaves) tokens.push_back(*text);
  }
  parts_->decode(tokens);
  std::string text;
  for (const std::string& token : tokens) text += token;
  return text;
}

std::vector<int32_t> PublishedTokenizer::types(std::span<const int32_t> ids, int32_t kinds) const {
  const auto separator = id_of("[SEP]");
  if (kinds < 2 || !separator) return {};
  std::vector<int32_t> types;
  int32_t type = 0;
  for (const int32_t id : ids) {
    types.push_back(type);
    if (id == *separator) type = std::min(type + 1, kinds - 1);
  }
  if (types.empty() || types.back() == 0) types.clear();
  return types;
}

std::optional<int32_t> PublishedTokenizer::id_of(std::string_view token) const {
  if (const AddedToken* added = parts_->added.find(token)) return added->id;
  return parts_->model->tokens().find(token);
}

std::optional<std::string> PublishedTokenizer::token_of(int32_t id) const {
  const std::string* text = parts_->text_of(id);
  return text ? std::optional(*text) : std::nullopt;
}

int32_t PublishedTokenizer::end() const {
  return std::max(parts_->model->tokens().end(), parts_->added.end());
}

}  // namespace normscope::tokenizer
