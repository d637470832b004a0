#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "addons/published/training/input_kinds.h"
#include "addons/published/training/tokenizer/component.h"
#include "addons/published/training/tokenizer/unicode.h"
#include "addons/published/training/tokenizer/word_model.h"
#include "engine/core/error.h"
#include "engine/io/input_file.h"
#include "training/io/input_value.h"
#include "training/io/text.h"

namespace normscope::tokenizer {

// The files next to an older vocabulary: tokenizer_config.json, special_tokens_map.json and added_tokens.json.
//
// Promises: every key is read, or known to change no token number, or refused by its name. Tokens have the order in
// which the library transformers adds them to a vocabulary, and the numbers that they get there.

struct OlderFiles {
  std::filesystem::path folder;

  std::string name(const char* file) const { return (folder / file).string(); }
  Message where(const char* file) const { return {"tokenizer {}", name(file)}; }

  std::optional<std::string> read(const char* file) const {
    return read_input_file_if_there(name(file), input::kTokenizerJson);
  }

  InputValue object(const char* file) const;  ///< an empty one where the file is not there
};

namespace {

using Json = nlohmann::json;

constexpr const char *kConfigFile = "tokenizer_config.json", *kMapFile = "special_tokens_map.json",
                     *kAddedFile = "added_tokens.json", *kDecoder = "added_tokens_decoder";
constexpr size_t kMaxKeys = 1000;

constexpr std::string_view kRoles[] = {"bos_token", "eos_token", "unk_token", "sep_token",
                                       "pad_token", "cls_token", "mask_token"};
constexpr std::string_view kLists[] = {"extra_special_tokens", "additional_special_tokens"};
constexpr std::string_view kRead =
    "tokenizer_class do_lower_case strip_accents tokenize_chinese_chars add_prefix_space add_bos_token "
    "add_eos_token split_special_tokens added_tokens_decoder";
// Keys about truncation, padding or decoding, and keys that no longer have an effect.
constexpr std::string_view kWithoutEffect =
    "backend chat_template clean_up_tokenization_spaces do_basic_tokenize errors from_slow full_tokenizer_file "
    "is_local local_files_only max_len max_length model_input_names model_max_length name_or_path never_split "
    "pad_to_multiple_of pad_token_type_id padding padding_side processor_class special_tokens_map_file stride "
    "tokenizer_file trim_offsets truncation truncation_side truncation_strategy use_fast vocab_size";

bool among(const auto& names, std::string_view name) {
  return std::ranges::find(names, name) != std::end(names);
}

std::optional<bool> maybe_flag(const InputValue& object, const char* key) {
  const auto found = object.find(key);
  return found && !found->is_null() ? std::optional(found->flag()) : std::nullopt;
}

/// Knows special tokens, and the names in `others`.
void check_keys(const InputValue& object, std::initializer_list<std::string_view> others) {
  for (const auto& [key, value] : object.members(kMaxKeys)) {
    const auto has = [&key = key](std::string_view names) { return among(split(names, ' '), key); };
    if (!value.is_null() && !among(kRoles, key) && !among(kLists, key) && std::ranges::none_of(others, has))
      value.refuse("no such key, as nothing here knows what it does");
  }
}

std::vector<std::string> lines_in(const std::string& text) {
  std::vector<std::string> lines;
  for (const std::string_view line : split(text, '\n'))
    lines.emplace_back(line.substr(0, line.size() - (line.ends_with('\r') ? 1 : 0)));
  if (text.empty() || text.ends_with('\n')) lines.pop_back();
  return lines;
}

class OlderOptions {
 public:
  /// The default special tokens of a class, by role: "cls_token" is "[CLS]".
  using Standard = std::map<std::string_view, std::string>;

  /// Throws Error for an unknown key, and for a token whose number in a file differs from the one it gets.
  OlderOptions(const OlderFiles& files, const nlohmann::json& vocabulary);
  /// The index of tokenizer_class, which may end with "Fast". Throws Error for one that is not there.
  std::optional<size_t> kind(std::span<const std::string_view> classes) const {
    const auto name = config_.find("tokenizer_class");
    if (!name || name->is_null()) return std::nullopt;
    for (size_t i = 0; i < classes.size(); ++i)
      if (name->is(std::string(classes[i]) + "Fast")) return i;
    return name->choice(classes);
  }

  std::optional<bool> maybe(const char* key) const { return maybe_flag(config_, key); }
  bool flag(const char* key, bool otherwise) const { return maybe(key).value_or(otherwise); }

  /// The "added_tokens" of a tokenizer.json.
  Json add(const Standard& standard) {
    put_numbered();
    for (const std::string_view role : kRoles) {
      const auto value = find(role);
      const auto usual = standard.find(role);
      if (value ? value->is_null() : usual == standard.end()) continue;
      Token token = value ? token_of(*value, true) : Token{.text = usual->second};
      roles_[role] = token.text;
      put(std::move(token));
    }
    put_lists();
    auto behind = static_cast<int32_t>(vocabulary_.size());
    Json added = Json::array();
    for (Token& token : tokens_) {
      token.id = in_vocabulary(token.text).value_or(behind);
      behind = std::max(behind, token.id + 1);
      added.push_back({{"id", token.id},
                       {"content", token.text},
                       {"lstrip", token.lstrip},
                       {"rstrip", token.rstrip},
                       {"single_word", token.single_word},
                       {"normalized", token.normalized.value_or(!token.special)},
                       {"special", token.special}});
    }
    return added;
  }

  /// The special token of a role; nothing: there is none. To be called after add().
  std::optional<std::string> text_of(std::string_view role) const {
    const auto found = roles_.find(role);
    return found == roles_.end() ? std::nullopt : std::optional(found->second);
  }

  /// The same with its number. Throws Error where there is none, or it is in no file.
  std::pair<std::string, int32_t> require(std::string_view role) const {
    const std::string text = text_of(role).value_or("");
    const auto at = index_.find(text);
    if (at == index_.end() || !(tokens_[at->second].numbered || vocabulary_.contains(text)))
      fail({"tokenizer {}", files_.folder.string()},
           "the vocabulary has no {} ({}): expected it, as it stands around each text", shown_text(text),
           role);
    return {text, tokens_[at->second].id};
  }

 private:
  struct Token {
    std::string text;
    bool special = true, lstrip = false, rstrip = false, single_word = false;
    std::optional<bool> normalized{};
    bool numbered = false;  // by a file
    int32_t id = 0;
  };

  static Token token_of(const InputValue& value, bool special) {
    if (value.is_text()) return {.text = value.text(kMaxWord), .special = special};
    const auto flag = [&](const char* key) { return maybe_flag(value, key).value_or(false); };
    return {.text = value.at("content").text(kMaxWord),
            .special = special || flag("special"),
            .lstrip = flag("lstrip"),
            .rstrip = flag("rstrip"),
            .single_word = flag("single_word"),
            .normalized = maybe_flag(value, "normalized")};
  }

  /// Looks first into special_tokens_map.json, which the library ignores if there is an added_tokens_decoder.
  std::optional<InputValue> find(std::string_view key) const {
    const auto mapped = config_.find(kDecoder) ? std::nullopt : map_.find(key);
    return mapped ? mapped : config_.find(key);
  }

  /// Nothing also for a value that is no token's number: TokenTable::read() refuses that later.
  std::optional<int32_t> in_vocabulary(const std::string& token) const {
    const auto found = vocabulary_.find(token);
    if (found == vocabulary_.end() || !found->is_number_integer()) return std::nullopt;
    const auto id = found->get<int64_t>();
    if (id < 0 || id >= kMaxTokens) return std::nullopt;
    return static_cast<int32_t>(id);
  }

  /// Adds a token; it replaces an earlier one of the same text, unless a file gives that a number.
  void put(Token token) {
    if (token.text.empty()) return;
    const auto [found, fresh] = index_.emplace(token.text, tokens_.size());
    if (fresh) {
      tokens_.push_back(std::move(token));
      return;
    }
    Token& same = tokens_[found->second];
    if (same.numbered)
      same.special |= token.special;
    else
      same = std::move(token);
  }

  /// Reads {"708": {"content": "[X]"}} of added_tokens_decoder, or else {"[X]": 708} of a file of its own.
  void put_numbered() {
    std::map<int32_t, std::pair<Token, InputValue>> listed;
    if (const auto decoder = config_.find(kDecoder); decoder && !decoder->is_null()) {
      for (const auto& [key, value] : decoder->members(kMaxAdded)) {
        int32_t id = 0;
        const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), id);
        if (error != std::errc{} || *end || id < 0 || id >= kMaxTokens)
          value.refuse(Message("a number from 0 to {} as its name", kMaxTokens - 1));
        listed.insert({id, {token_of(value, false), value}});
      }
    } else {
      for (const auto& [text, value] : files_.object(kAddedFile).members(kMaxAdded))
        listed.insert({value.whole(0, kMaxTokens - 1), {{.text = text, .special = false}, value}});
    }
    auto behind = static_cast<int32_t>(vocabulary_.size());
    for (auto& [id, entry] : listed) {
      auto& [token, value] = entry;
      const auto known = in_vocabulary(token.text);
      const int32_t gets = known ? *known : behind++;
      if (gets != id) value.refuse(Message("its number {}, which it gets in this vocabulary", gets));
      token.numbered = true;
      put(std::move(token));
    }
  }

  void put_lists() {
    for (const std::string_view key : kLists) {
      const auto list = find(key);
      if (!list || list->is_null()) continue;
      if (list->is_object())
        for (const auto& [name, value] : list->members(kMaxAdded)) put(token_of(value, true));
      else
        for (const InputValue& value : list->list(0, kMaxAdded)) put(token_of(value, true));
      return;
    }
  }

  OlderFiles files_;
  const nlohmann::json& vocabulary_;
  InputValue config_, map_;
  std::vector<Token> tokens_;
  std::unordered_map<std::string, size_t> index_;  // of the tokens, by their texts
  std::map<std::string_view, std::string> roles_;
};

/// A post-processor that puts two tokens around a text.
Json around(const OlderOptions& options) {
  const auto [first, before] = options.require("cls_token");
  const auto [last, behind] = options.require("sep_token");
  return {{"type", "BertProcessing"}, {"cls", {first, before}}, {"sep", {last, behind}}};
}

Json from_vocab_txt(const OlderFiles& files, const std::string& text) {
  constexpr std::string_view kClasses[] = {"BertTokenizer", "DistilBertTokenizer", "ElectraTokenizer"};
  Json vocabulary = Json::object();
  int32_t id = 0;
  for (const std::string& line : lines_in(well_formed(text))) vocabulary[line] = id++;
  OlderOptions options(files, vocabulary);
  options.kind(kClasses);
  const Json added = options.add({{"unk_token", "[UNK]"},
                                  {"sep_token", "[SEP]"},
                                  {"pad_token", "[PAD]"},
                                  {"cls_token", "[CLS]"},
                                  {"mask_token", "[MASK]"}});
  const auto accents = options.maybe("strip_accents");
  return {{"added_tokens", added},
          {"normalizer",
           {{"type", "BertNormalizer"},
            {"clean_text", true},
            {"handle_chinese_chars", options.flag("tokenize_chinese_chars", true)},
            {"strip_accents", accents ? Json(*accents) : Json()},
            {"lowercase", options.flag("do_lower_case", true)}}},
          {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
          {"post_processor", around(options)},
          {"decoder", {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}}},
          {"model",
           {{"type", "WordPiece"},
            {"unk_token", options.text_of("unk_token").value_or("")},
            {"continuing_subword_prefix", "##"},
            {"max_input_chars_per_word", 100},
            {"vocab", vocabulary}}}};
}

/// A template with the tokens that add_bos_token and add_eos_token ask for.
Json ends(const OlderOptions& options) {
  Json parts = Json::array(), special = Json::object();
  const auto put = [&](const char* flag, const char* role) {
    if (!options.flag(flag, false) || !options.text_of(role)) return;
    const auto [text, id] = options.require(role);
    parts.push_back({{"SpecialToken", {{"id", text}}}});
    special[text] = {{"ids", {id}}};
  };
  put("add_bos_token", "bos_token");
  parts.push_back({{"Sequence", {{"id", "A"}}}});
  put("add_eos_token", "eos_token");
  return {{"type", "TemplateProcessing"}, {"single", parts}, {"special_tokens", special}};
}

/// Without a tokenizer_class the type of the model decides, as in the library.
bool is_roberta(const OlderFiles& files, const OlderOptions& options) {
  constexpr std::string_view kClasses[] = {"GPT2Tokenizer", "RobertaTokenizer"},
                             kModels[] = {"gpt2", "opt", "roberta"};
  if (const auto kind = options.kind(kClasses)) return *kind == 1;
  const auto model = files.object("config.json").find("model_type");
  return model && !model->is_null() && model->choice(kModels) == 2;
}

Json from_vocab_json(const OlderFiles& files, const std::string& vocab, const std::string& merges) {
  const InputValue value = InputValue::parse(vocab, files.where("vocab.json"));
  const Json vocabulary = Json::parse(value.object_text(input::kTokenizerJson.limit));
  OlderOptions options(files, vocabulary);
  const bool roberta = is_roberta(files, options);
  Json pairs = Json::array();
  for (std::string& line : lines_in(well_formed(merges)))
    if (!line.empty() && !line.starts_with("#version")) pairs.push_back(std::move(line));
  const std::string end = "<|endoftext|>";
  const Json added = options.add(
      roberta ? OlderOptions::Standard{{"bos_token", "<s>"},
                                       {"eos_token", "</s>"},
                                       {"unk_token", "<unk>"},
                                       {"sep_token", "</s>"},
                                       {"pad_token", "<pad>"},
                                       {"cls_token", "<s>"},
                                       {"mask_token", "<mask>"}}
              : OlderOptions::Standard{{"unk_token", end}, {"bos_token", end}, {"eos_token", end}});
  return {{"added_tokens", added},
          {"pre_tokenizer",
           {{"type", "ByteLevel"}, {"add_prefix_space", options.flag("add_prefix_space", false)}}},
          {"post_processor", roberta ? around(options) : ends(options)},
          {"decoder", {{"type", "ByteLevel"}}},
          {"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", pairs}}}};
}

}  // namespace

InputValue OlderFiles::object(const char* file) const {
  return InputValue::parse(read(file).value_or("{}"), where(file));
}

OlderOptions::OlderOptions(const OlderFiles& files, const Json& vocabulary)
    : files_(files),
      vocabulary_(vocabulary),
      config_(files.object(kConfigFile)),
      map_(files.object(kMapFile)) {
  check_keys(config_, {kRead, kWithoutEffect});
  check_keys(map_, {});
  if (flag("split_special_tokens", false)) config_.at("split_special_tokens").refuse("false");
}

std::string from_older_files(const std::string& folder) {
  const OlderFiles files{folder};
  if (const auto text = files.read("vocab.txt")) return from_vocab_txt(files, *text).dump();
  const auto vocab = files.read("vocab.json"), merges = files.read("merges.txt");
  if (!vocab || !merges)
    fail({"tokenizer {}", folder},
         "has no tokenizer: expected tokenizer.json, vocab.json with merges.txt, or vocab.txt");
  return from_vocab_json(files, *vocab, *merges).dump();
}

}  // namespace normscope::tokenizer
