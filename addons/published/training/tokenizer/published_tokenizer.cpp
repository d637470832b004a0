// See published_tokenizer.h.
#include "addons/published/training/tokenizer/published_tokenizer.h"

#include <algorithm>
#include <filesystem>
#include <unordered_map>

#include "addons/published/training/gguf.h"
#include "addons/published/training/input_kinds.h"
#include "addons/published/training/tokenizer/added_tokens.h"
#include "addons/published/training/tokenizer/component.h"
#include "addons/published/training/tokenizer/model/word_model.h"
#include "addons/published/training/tokenizer/unicode.h"
#include "engine/core/error.h"
#include "training/io/input_file.h"
#include "training/io/input_value.h"

namespace normscope::tokenizer {

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

bool has_tokenizer(const std::string& folder) {
  if (published::is_gguf_file(folder)) return published::GgufFile::map(folder).has_tokens();
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

PublishedTokenizer PublishedTokenizer::load(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
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
  // Words come again and again: each is encoded once.
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
